//! Every row and every example of contract 4.14.5.

use rstest::rstest;

use super::ComponentStatus::{Degraded, MajorOutage, Operational, PartialOutage, UnderMaintenance, Unknown};
use super::*;
use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{PauseReason, ServicePause, StatusOverride};
use crate::model::translated_text::TranslatedText;

const SHOP: ServiceKey = 10;
const TILL: ServiceKey = 20;

fn service(key: ServiceKey, check_type: CheckType) -> ServiceOutline {
    ServiceOutline {
        key,
        id: Id::random(),
        organisation: 1,
        name: "shop".into(),
        check_type,
        target: None,
        settings: None,
        pause: None,
        status_override: None,
        created_at: Timestamp::from_ms(0),
    }
}

fn component(key: ComponentKey, parent: Option<ComponentKey>, service: Option<ServiceKey>) -> Component {
    let new = Component::new(1, TranslatedText::single("en", "x"), Timestamp::from_ms(key));
    Component { key, parent, service, ..new }
}

fn group(key: ComponentKey, parent: Option<ComponentKey>) -> Component {
    Component { is_group: true, ..component(key, parent, None) }
}

fn hidden(component: Component) -> Component {
    Component { is_visible: false, ..component }
}

/// The state of the service `SHOP`, which one component shows.
struct Scene {
    stated: Option<OverrideStatus>,
    paused: bool,
    maintained: bool,
    incidents: Vec<OpenIncident>,
    verdict: Verdict,
    check_type: CheckType,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            stated: None,
            paused: false,
            maintained: false,
            incidents: Vec::new(),
            verdict: Verdict::Up,
            check_type: CheckType::Http,
        }
    }
}

impl Scene {
    fn facts(&self) -> ComponentInputs {
        let at = Timestamp::from_ms(0);
        let stated = |status| StatusOverride { status, reason: "because".into(), at, by: "ops".into() };
        let shop = ServiceOutline {
            status_override: self.stated.map(stated),
            pause: self.paused.then_some(ServicePause { reason: PauseReason::Manual, at }),
            ..service(SHOP, self.check_type)
        };
        ComponentInputs {
            services: vec![shop, service(TILL, CheckType::Manual)],
            maintained: self.maintained.then_some(SHOP).into_iter().collect(),
            incidents: self.incidents.clone(),
        }
    }

    fn all(&self, components: &[Component]) -> HashMap<ComponentKey, DerivedStatus> {
        statuses(components, &self.facts(), &HashMap::from([(SHOP, self.verdict)]))
    }

    fn status(&self) -> ComponentStatus {
        let seen = self.all(&[component(1, None, Some(SHOP))])[&1];
        assert_eq!(seen.effective, Some(seen.status), "a visible component has one status");
        seen.status
    }
}

fn incident(pages: ChosenPages, claim: Option<ComponentStatus>) -> OpenIncident {
    OpenIncident { pages, affected: vec![(SHOP, claim)] }
}

const NO_PAGES: ChosenPages = ChosenPages::None;

/// Row 6 of the table for components, with the mapping of measured statuses.
#[rstest]
#[case(Verdict::Up, false, Operational)]
#[case(Verdict::Degraded, false, Degraded)]
#[case(Verdict::Down, false, MajorOutage)]
#[case(Verdict::Unknown, false, Unknown)]
#[case(Verdict::Up, true, Unknown)]
fn without_override_or_incident_the_measurement_counts(
    #[case] verdict: Verdict,
    #[case] paused: bool,
    #[case] status: ComponentStatus,
) {
    assert_eq!(Scene { verdict, paused, ..Scene::default() }.status(), status);
}

/// Row 3: an override counts before pause, maintenance and incident.
#[rstest]
#[case(OverrideStatus::Up, Operational)]
#[case(OverrideStatus::Down, MajorOutage)]
#[case(OverrideStatus::Degraded, Degraded)]
#[case(OverrideStatus::Maintenance, UnderMaintenance)]
fn an_override_wins(#[case] stated: OverrideStatus, #[case] status: ComponentStatus) {
    let incidents = vec![incident(NO_PAGES, Some(PartialOutage))];
    let scene = Scene { stated: Some(stated), paused: true, maintained: true, incidents, ..Scene::default() };
    assert_eq!(scene.status(), status);
}

/// The examples of contract 4.14.5.
#[test]
fn the_examples_hold() {
    let down = || Scene { verdict: Verdict::Down, ..Scene::default() };
    let published = |claim| vec![incident(NO_PAGES, claim)];
    assert_eq!(down().status(), MajorOutage);
    assert_eq!(Scene { incidents: published(Some(Degraded)), ..down() }.status(), MajorOutage);
    assert_eq!(Scene { incidents: published(Some(Degraded)), ..Scene::default() }.status(), Degraded);
    assert_eq!(Scene { incidents: published(None), ..Scene::default() }.status(), Operational);
    assert_eq!(Scene { incidents: vec![], ..down() }.status(), MajorOutage);
    let maintained = Scene { maintained: true, incidents: published(Some(MajorOutage)), ..down() };
    assert_eq!(maintained.status(), UnderMaintenance);
    let manual = |stated| Scene {
        stated,
        verdict: Verdict::Unknown,
        check_type: CheckType::Manual,
        ..Scene::default()
    };
    assert_eq!(manual(None).status(), Operational);
    assert_eq!(manual(Some(OverrideStatus::Down)).status(), MajorOutage);
    assert_eq!(Scene { maintained: true, paused: true, ..Scene::default() }.status(), UnderMaintenance);
}

/// Row 5: the worst claim counts.
#[rstest]
#[case(vec![Degraded, MajorOutage, PartialOutage], MajorOutage)]
#[case(vec![Degraded, PartialOutage], PartialOutage)]
#[case(vec![Degraded, Degraded], Degraded)]
fn the_worst_incident_counts(#[case] claims: Vec<ComponentStatus>, #[case] status: ComponentStatus) {
    let mut incidents: Vec<_> = claims.into_iter().map(|claim| incident(NO_PAGES, Some(claim))).collect();
    incidents.push(incident(NO_PAGES, None));
    assert_eq!(Scene { incidents, ..Scene::default() }.status(), status);
}

/// Row 5: an incident never makes a component appear better than it was measured. An unmeasured service has the
/// status that its incidents claim.
#[rstest]
#[case(Verdict::Down, Degraded, MajorOutage)]
#[case(Verdict::Down, PartialOutage, MajorOutage)]
#[case(Verdict::Degraded, Degraded, Degraded)]
#[case(Verdict::Degraded, PartialOutage, PartialOutage)]
#[case(Verdict::Up, Degraded, Degraded)]
#[case(Verdict::Unknown, Degraded, Degraded)]
fn the_worse_of_incident_and_measurement_counts(
    #[case] verdict: Verdict,
    #[case] claim: ComponentStatus,
    #[case] status: ComponentStatus,
) {
    let incidents = vec![incident(NO_PAGES, Some(claim))];
    assert_eq!(Scene { verdict, incidents, ..Scene::default() }.status(), status);
}

/// Contract 4.9: the severity replaces a missing impact.
#[rstest]
#[case(Some(Impact::Degraded), Severity::Critical, Degraded)]
#[case(Some(Impact::PartialOutage), Severity::Minor, PartialOutage)]
#[case(Some(Impact::MajorOutage), Severity::Minor, MajorOutage)]
#[case(None, Severity::Minor, Degraded)]
#[case(None, Severity::Major, PartialOutage)]
#[case(None, Severity::Critical, MajorOutage)]
fn an_incident_sets_the_status_of_its_impact(
    #[case] impact: Option<Impact>,
    #[case] severity: Severity,
    #[case] status: ComponentStatus,
) {
    assert_eq!(ComponentStatus::claimed(impact, severity), status);
}

/// Contract 4.10.2: the chosen pages show an incident, else those with a visible component of an affected service.
#[test]
fn an_incident_counts_only_on_pages_that_show_it() {
    let scene = |pages| Scene { incidents: vec![incident(pages, Some(PartialOutage))], ..Scene::default() };
    assert_eq!(scene(ChosenPages::This).status(), PartialOutage);
    assert_eq!(scene(ChosenPages::Others).status(), Operational);
    let hidden_shop = [hidden(component(1, None, Some(SHOP)))];
    let seen = |pages, components: &[Component]| scene(pages).all(components)[&1];
    let unseen = |status| DerivedStatus { status, effective: None };
    assert_eq!(seen(NO_PAGES, &hidden_shop), unseen(Operational), "no visible component shows it");
    assert_eq!(seen(ChosenPages::This, &hidden_shop), unseen(PartialOutage));
    let both = [hidden(component(1, None, Some(SHOP))), component(2, None, Some(SHOP))];
    assert_eq!(seen(NO_PAGES, &both), unseen(PartialOutage));
    // The till was affected as well and has recovered. It is visible, so the page shows the incident.
    let with_till = [hidden(component(1, None, Some(SHOP))), component(2, None, Some(TILL))];
    let mut scene = scene(NO_PAGES);
    scene.incidents[0].affected.push((TILL, None));
    assert_eq!(scene.all(&with_till)[&1], unseen(PartialOutage));
    assert_eq!(scene.all(&with_till)[&2].effective, Some(Operational));
}

/// Rows 1 and 2 of the table for components.
#[test]
fn hidden_components_have_no_effective_status_and_unlinked_ones_are_operational() {
    let components = [
        component(1, None, None),
        hidden(component(2, None, None)),
        hidden(group(3, None)),
        component(4, Some(3), Some(SHOP)),
        group(5, Some(3)),
        Component { has_lost_service: true, ..component(6, None, None) },
    ];
    let seen = Scene { verdict: Verdict::Down, ..Scene::default() }.all(&components);
    assert_eq!(
        seen[&6],
        DerivedStatus { status: Unknown, effective: Some(Unknown) },
        "its service was deleted"
    );
    assert_eq!(seen[&1], DerivedStatus { status: Operational, effective: Some(Operational) });
    assert_eq!(seen[&2], DerivedStatus { status: Operational, effective: None });
    assert_eq!(seen[&3], DerivedStatus { status: PartialOutage, effective: None });
    assert_eq!(seen[&4], DerivedStatus { status: MajorOutage, effective: None });
    assert_eq!(seen[&5], DerivedStatus { status: Unknown, effective: None });
}

/// The table for groups, and its examples.
#[rstest]
#[case(&[], Unknown)]
#[case(&[MajorOutage, MajorOutage], MajorOutage)]
#[case(&[MajorOutage, Operational, Operational], PartialOutage)]
#[case(&[MajorOutage, Unknown], PartialOutage)]
#[case(&[PartialOutage], PartialOutage)]
#[case(&[PartialOutage, UnderMaintenance], PartialOutage)]
#[case(&[Degraded, UnderMaintenance, Operational], Degraded)]
#[case(&[UnderMaintenance, Operational, Unknown], UnderMaintenance)]
#[case(&[Operational, Unknown], Operational)]
#[case(&[Unknown, Unknown], Unknown)]
fn a_group_sums_up_its_children(#[case] inside: &[ComponentStatus], #[case] status: ComponentStatus) {
    assert_eq!(roll_up(inside.iter().copied()), status);
}

/// Inner groups are derived first; hidden children do not count for the effective status.
#[test]
fn groups_are_derived_from_the_inside_out() {
    let components = [
        group(1, None),
        group(2, Some(1)),
        component(3, Some(2), Some(SHOP)),
        component(4, Some(1), None),
        group(5, None),
        hidden(component(6, Some(5), Some(SHOP))),
        group(7, Some(5)),
    ];
    let seen = Scene { verdict: Verdict::Down, ..Scene::default() }.all(&components);
    assert_eq!(seen[&2].effective, Some(MajorOutage));
    assert_eq!(seen[&1].effective, Some(PartialOutage));
    assert_eq!(seen[&7].effective, Some(Unknown));
    assert_eq!(seen[&5], DerivedStatus { status: PartialOutage, effective: Some(Unknown) });
}
