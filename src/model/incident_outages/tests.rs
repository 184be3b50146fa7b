//! Tests of edits by members and automatic changes of one incident: contract 4.9 holds for any actions in any order.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::id::Id;
use crate::model::announcement::AnnouncementAuthor;
use crate::model::automation::EditedFields;
use crate::model::incident::{Acknowledgement, Impact, IncidentKind, IncidentTimelineEntry};
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;

fn at(second: i64) -> Timestamp {
    Timestamp::from_ms(second * 1_000)
}

fn opened(automation: Option<AutomationState>) -> WholeIncident {
    let incident = Incident {
        key: 1,
        id: Id::random(),
        organisation: 1,
        title: TranslatedText::single("en", "Shop is down"),
        kind: IncidentKind::Standard,
        status: IncidentStatus::Investigating,
        severity: Severity::Minor,
        is_published: false,
        started_at: at(0),
        resolved_at: None,
        sla_counts_as_downtime: false,
        created_by: None,
        acknowledgement: None,
        created_at: at(0),
        updated_at: at(0),
    };
    let updates = Vec::new();
    WholeIncident {
        incident,
        services: Vec::new(),
        others: 0,
        statuspages: Vec::new(),
        unread_updates: TimelineSize::default(),
        internal_updates: Vec::new(),
        updates,
        automation,
    }
}

fn service(key: ServiceKey) -> NamedService {
    NamedService { key, id: Id::random(), name: format!("service {key}") }
}

fn outage(key: ServiceKey, kind: OutageKind, second: i64) -> ServiceOutage {
    ServiceOutage { service: service(key), kind, began_at: at(second), severity: Severity::Major }
}

fn entry(status: IncidentStatus, second: i64) -> IncidentTimelineEntry {
    let message = TranslatedText::single("en", "text");
    IncidentTimelineEntry {
        id: Id::random(),
        status,
        message,
        notify_subscribers: true,
        created_at: at(second),
    }
}

#[rstest]
#[case::first(&[], OutageKind::Down, ImpactChange::Joined, Impact::MajorOutage)]
#[case::again(&[OutageKind::Down], OutageKind::Down, ImpactChange::Nothing, Impact::MajorOutage)]
#[case::worse(&[OutageKind::Degraded], OutageKind::Down, ImpactChange::Worsened, Impact::MajorOutage)]
#[case::better(&[OutageKind::Down], OutageKind::Degraded, ImpactChange::Nothing, Impact::MajorOutage)]
fn an_outage_changes_the_impact_only_when_it_is_worse(
    #[case] before: &[OutageKind],
    #[case] kind: OutageKind,
    #[case] expected: ImpactChange,
    #[case] impact: Impact,
) {
    let mut incident = opened(Some(AutomationState::default()));
    for kind in before {
        incident.apply_outage(&outage(5, *kind, 1));
    }
    assert_eq!(incident.apply_outage(&outage(5, kind, 2)), expected);
    assert_eq!((incident.services[0].impact, incident.services.len()), (Some(impact), 1));
}

#[test]
fn a_relapse_is_reported() {
    let mut incident = opened(Some(AutomationState::default()));
    incident.apply_outage(&outage(5, OutageKind::Down, 1));
    incident.recover(5, at(2));
    assert_eq!(incident.unrecovered().count(), 0);
    assert_eq!(incident.apply_outage(&outage(5, OutageKind::Down, 3)), ImpactChange::Relapsed);
    assert_eq!(incident.unrecovered().count(), 1);
}

/// The severity rises to that of the outage, unless a member has set it.
#[rstest]
#[case(EditedFields::default(), Severity::Major)]
#[case(EditedFields { severity: true, ..EditedFields::default() }, Severity::Minor)]
fn a_severity_set_by_a_person_stays(#[case] edited: EditedFields, #[case] severity: Severity) {
    let mut incident = opened(Some(AutomationState { edited, ..AutomationState::default() }));
    incident.apply_outage(&outage(5, OutageKind::Down, 1));
    assert_eq!(incident.incident.severity, severity);
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Report(ServiceKey, OutageKind),
    Recover(ServiceKey),
    Settle,
    Watch,
    Title,
    Severity(Severity),
    State(IncidentStatus),
    Post(IncidentStatus),
    Resolve,
    MoveEnd,
    Acknowledge,
    Affect(ServiceKey),
    Delete(ServiceKey),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let kind = prop::sample::select(OutageKind::ALL.to_vec());
    let status = prop::sample::select(IncidentStatus::ALL.to_vec());
    let act = prop_oneof![
        4 => (1_i64..4, kind).prop_map(|(service, kind)| Act::Report(service, kind)),
        4 => (1_i64..4).prop_map(Act::Recover),
        3 => Just(Act::Settle),
        1 => Just(Act::Watch),
        1 => Just(Act::Title),
        1 => prop::sample::select(Severity::ALL.to_vec()).prop_map(Act::Severity),
        1 => status.clone().prop_map(Act::State),
        1 => status.prop_map(Act::Post),
        1 => Just(Act::Resolve),
        1 => Just(Act::MoveEnd),
        1 => Just(Act::Acknowledge),
        1 => (1_i64..4).prop_map(Act::Affect),
        1 => (1_i64..4).prop_map(Act::Delete),
    ];
    prop::collection::vec(act, 1..40)
}

/// Carries out an action of a member or an automatic change; actions that would be refused are skipped.
fn play(incident: &mut WholeIncident, act: Act, second: i64) {
    let before = incident.incident.clone();
    match act {
        Act::Report(service, kind) => {
            incident.apply_outage(&outage(service, kind, second));
        }
        Act::Recover(service) => incident.recover(service, at(second)),
        Act::Settle if incident.follows_outages() && incident.unrecovered().next().is_none() => {
            incident.resolve(entry(IncidentStatus::Resolved, second), at(second));
        }
        Act::Watch if incident.follows_outages() && incident.unrecovered().next().is_none() => {
            incident.post(entry(IncidentStatus::Monitoring, second));
        }
        Act::Settle | Act::Watch => {}
        Act::Title => {
            incident.incident.title = TranslatedText::single("en", format!("title {second}"));
            incident.note_edits(&before);
        }
        Act::Severity(severity) => {
            incident.set_severity(severity);
            incident.note_edits(&before);
        }
        Act::State(status) if status != IncidentStatus::Resolved && !before.is_resolved() => {
            incident.incident.status = status;
            incident.note_edits(&before);
        }
        Act::State(_) => {}
        Act::Post(status) => {
            incident.post(entry(status, second));
            incident.note_stated_status();
        }
        Act::Resolve if !before.is_resolved() => {
            incident.resolve(entry(IncidentStatus::Resolved, second), at(second));
            incident.note_stated_status();
        }
        Act::MoveEnd if before.is_resolved() => incident.move_end(at(second)),
        Act::Resolve | Act::MoveEnd => {}
        Act::Acknowledge => {
            let by = AnnouncementAuthor { id: Id::random(), name: "Ada".into() };
            let acknowledgement = Acknowledgement { at: at(second), by };
            incident.acknowledge(acknowledgement, TranslatedText::single("en", "seen"));
        }
        Act::Delete(key) => incident.services.retain(|row| row.service != key),
        Act::Affect(key) => {
            let services = incident.services.iter().map(|row| row.service).chain([key]);
            let services: BTreeSet<ServiceKey> = services.collect();
            incident.affect(services.into_iter().map(service), at(second));
        }
    }
}

/// Checks that entries are added at the end, in order of time, and are never removed, and that reopening the incident
/// drops the acknowledgement.
fn check_entries(after: &WholeIncident, before: &WholeIncident) {
    for (after, before) in
        [(&after.updates, &before.updates), (&after.internal_updates, &before.internal_updates)]
    {
        assert!(after.starts_with(before), "what is said stays");
        assert!(after.is_sorted_by_key(|entry| entry.created_at));
    }
    let is_reopened = before.incident.is_resolved() && !after.incident.is_resolved();
    let (now, then) = (&after.incident.acknowledgement, &before.incident.acknowledgement);
    match then {
        _ if is_reopened => assert_eq!(*now, None),
        Some(_) => assert_eq!(now, then, "the first one counts"),
        None => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    /// Contract 4.9, 4.10.1: an incident has an end exactly if it is resolved; all its services have then recovered; edits
    /// of members stay.
    #[test]
    fn the_invariants_hold_for_edits_and_automatic_changes(acts in acts()) {
        let mut incident = opened(Some(AutomationState::default()));
        let (mut title, mut severity) = (None, None);
        for (second, act) in (1..).zip(acts) {
            let before = incident.clone();
            play(&mut incident, act, second);
            match act {
                Act::Title => title = Some(incident.incident.title.clone()),
                Act::Severity(_) if before.incident.severity != incident.incident.severity => {
                    severity = Some(incident.incident.severity);
                }
                _ => {}
            }
            let Incident { status, resolved_at, started_at, .. } = incident.incident;
            prop_assert_eq!(status == IncidentStatus::Resolved, resolved_at.is_some(), "{:?}", act);
            prop_assert!(resolved_at.is_none_or(|end| end >= started_at));
            if resolved_at.is_some() {
                prop_assert_eq!(incident.unrecovered().count(), 0, "{:?}", act);
            }
            let edited = incident.automation.unwrap().edited;
            let is_the_engine = matches!(act, Act::Report(..) | Act::Recover(_) | Act::Settle | Act::Watch);
            if is_the_engine {
                prop_assert_eq!(edited, before.automation.unwrap().edited);
                prop_assert!(!edited.status || status == before.incident.status, "{:?}", act);
                prop_assert!(!before.incident.is_resolved() || incident == before, "an end is an end: {:?}", act);
            }
            prop_assert!(title.as_ref().is_none_or(|title| *title == incident.incident.title));
            prop_assert!(severity.is_none_or(|severity| severity == incident.incident.severity));
            check_entries(&incident, &before);
            let mut keys: Vec<ServiceKey> = incident.services.iter().map(|row| row.service).collect();
            keys.sort_unstable();
            keys.dedup();
            prop_assert_eq!(keys.len(), incident.services.len());
            for row in &incident.services {
                prop_assert!(row.recovered_at.is_none_or(|end| end >= row.added_at || incident.incident.is_resolved()));
                let derived = incident.incident.kind.impact(incident.incident.severity);
                prop_assert!(!row.is_derived || row.impact == derived, "{:?}: it follows the severity", act);
            }
        }
    }
}
