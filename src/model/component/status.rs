//! The status of a component as visitors see it (contract 4.14.5): derived on every read, never stored.
//!
//! [`statuses`] is a pure function of a page's components, of [`ComponentInputs`] and of the services' verdicts. The
//! `status` of the API follows the same rules as if everything were visible.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use crate::model::announcement::ChosenPages;
use crate::model::component::tree::ComponentTree;
use crate::model::component::{Component, ComponentKey};
use crate::model::incident::{Impact, Severity};
use crate::model::service::{OverrideStatus, ServiceKey, ServiceStatus};
use crate::model::service_outline::ServiceOutline;
use crate::model::verdict::Verdict;
use crate::model::word_enum::words;

words! {
    /// The status of a component or a group.
    pub enum ComponentStatus {
        /// Works, as far as is known.
        Operational,
        /// Works, but badly.
        Degraded,
        /// Works in part.
        PartialOutage,
        /// Does not work.
        MajorOutage,
        /// Covered by a maintenance in progress, or set to this status by a member.
        UnderMaintenance,
        /// Not measured, so the status cannot be given.
        Unknown,
    }
}

impl ComponentStatus {
    /// Returns the status that an incident claims for a service: from its impact on the service, or from the severity
    /// of the incident if no impact is stored (contract 4.9).
    #[must_use]
    pub fn claimed(impact: Option<Impact>, severity: Severity) -> Self {
        match impact.unwrap_or_else(|| severity.impact()) {
            Impact::MajorOutage => Self::MajorOutage,
            Impact::PartialOutage => Self::PartialOutage,
            Impact::Degraded => Self::Degraded,
        }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::MajorOutage => 3,
            Self::PartialOutage => 2,
            Self::Degraded => 1,
            _ => 0,
        }
    }
}

impl From<ServiceStatus> for ComponentStatus {
    fn from(status: ServiceStatus) -> Self {
        match status {
            ServiceStatus::Up | ServiceStatus::Operational => Self::Operational,
            ServiceStatus::Degraded => Self::Degraded,
            ServiceStatus::Down => Self::MajorOutage,
            ServiceStatus::Maintenance => Self::UnderMaintenance,
            ServiceStatus::Unknown | ServiceStatus::Paused => Self::Unknown,
        }
    }
}

/// The inputs of the statuses of a page's components, apart from the measurements.
#[derive(Clone, Debug, Default)]
pub struct ComponentInputs {
    /// The services that components of the page show.
    pub services: Vec<ServiceOutline>,
    /// The services that a maintenance in progress covers.
    pub maintained: HashSet<ServiceKey>,
    /// Open, published incidents of kind `standard` or `agent_liveness` that affect one of the services.
    pub incidents: Vec<OpenIncident>,
}

/// An open incident as far as it concerns one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenIncident {
    /// The chosen pages of the incident, from the point of view of this page.
    pub pages: ChosenPages,
    /// The affected services that the page shows, each with the status claimed for it; `None` = it has recovered.
    pub affected: Vec<(ServiceKey, Option<ComponentStatus>)>,
}

/// The two statuses of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedStatus {
    /// The status as if everything were visible.
    pub status: ComponentStatus,
    /// The status that visitors see; `None` when they do not see the component.
    pub effective: Option<ComponentStatus>,
}

/// Returns the statuses of all components of a page. A service without a verdict counts as unmeasured.
#[must_use]
pub fn statuses(
    components: &[Component],
    facts: &ComponentInputs,
    verdicts: &HashMap<ServiceKey, Verdict>,
) -> HashMap<ComponentKey, DerivedStatus> {
    let tree = ComponentTree::of(components);
    let claims = claims(facts, &visible_services(&tree));
    let of_services = facts.services.iter().map(|service| {
        let verdict = verdicts.get(&service.key).copied().unwrap_or_default();
        let in_maintenance = facts.maintained.contains(&service.key);
        let shown = PageServiceFacts {
            stated: service.status_override.as_ref().map(|stated| stated.status),
            in_maintenance,
            claim: claims.get(&service.key).copied(),
            effective: ServiceStatus::effective(service.status_facts(), verdict, in_maintenance),
        };
        (service.key, shown.status())
    });
    let mut walk =
        StatusDerivation { tree: &tree, of_services: of_services.collect(), derived: HashMap::new() };
    for component in tree.children(None) {
        walk.derive(component, false);
    }
    walk.derived
}

/// The facts that decide the status of one service.
#[derive(Clone, Copy, Debug)]
struct PageServiceFacts {
    stated: Option<OverrideStatus>,
    in_maintenance: bool,
    claim: Option<ComponentStatus>,
    effective: ServiceStatus,
}

impl PageServiceFacts {
    /// The status by rows 3 to 6 of the table for components in contract 4.14.5. An incident never makes a component
    /// appear better than it was measured.
    fn status(&self) -> ComponentStatus {
        match (self.stated, self.in_maintenance, self.claim) {
            (Some(stated), _, _) => ServiceStatus::from(stated).into(),
            (None, true, _) => ComponentStatus::UnderMaintenance,
            (None, false, claim) => {
                let measured: ComponentStatus = self.effective.into();
                claim.filter(|claim| claim.rank() >= measured.rank()).unwrap_or(measured)
            }
        }
    }
}

/// The worst status of each service that is claimed by incidents shown on the page.
fn claims(facts: &ComponentInputs, visible: &HashSet<ServiceKey>) -> HashMap<ServiceKey, ComponentStatus> {
    let mut worst: HashMap<ServiceKey, ComponentStatus> = HashMap::new();
    let is_shown = |incident: &&OpenIncident| {
        incident.pages.shows(incident.affected.iter().any(|(service, _)| visible.contains(service)))
    };
    for (service, claim) in facts.incidents.iter().filter(is_shown).flat_map(|incident| &incident.affected) {
        if let Some(claim) = claim {
            let known = worst.entry(*service).or_insert(*claim);
            if claim.rank() > known.rank() {
                *known = *claim;
            }
        }
    }
    worst
}

/// The services of the components that visitors see.
fn visible_services(tree: &ComponentTree<'_>) -> HashSet<ServiceKey> {
    let mut services = HashSet::new();
    let mut open: Vec<&Component> = tree.children(None).to_vec();
    while let Some(component) = open.pop() {
        if component.is_visible {
            services.extend(component.service);
            open.extend(tree.children(Some(component.key)));
        }
    }
    services
}

struct StatusDerivation<'a> {
    tree: &'a ComponentTree<'a>,
    of_services: HashMap<ServiceKey, ComponentStatus>,
    derived: HashMap<ComponentKey, DerivedStatus>,
}

impl StatusDerivation<'_> {
    fn derive(&mut self, component: &Component, is_below_hidden: bool) -> DerivedStatus {
        let is_hidden = is_below_hidden || !component.is_visible;
        let status_if_seen = |status| if is_hidden { None } else { Some(status) };
        let derived = if component.is_group {
            let tree = self.tree;
            let inside = tree.children(Some(component.key)).iter();
            let inside: Vec<DerivedStatus> = inside.map(|child| self.derive(child, is_hidden)).collect();
            DerivedStatus {
                status: roll_up(inside.iter().map(|child| child.status)),
                effective: status_if_seen(roll_up(inside.iter().filter_map(|child| child.effective))),
            }
        } else {
            let shown = component.service.and_then(|service| self.of_services.get(&service));
            let alone = if component.has_lost_service {
                ComponentStatus::Unknown
            } else {
                ComponentStatus::Operational
            };
            let status = shown.copied().unwrap_or(alone);
            DerivedStatus { status, effective: status_if_seen(status) }
        };
        self.derived.insert(component.key, derived);
        derived
    }
}

/// The status of a group by rows 2 to 8 of the table for groups in contract 4.14.5.
fn roll_up(inside: impl Iterator<Item = ComponentStatus>) -> ComponentStatus {
    let inside: Vec<ComponentStatus> = inside.collect();
    let any = |status| inside.contains(&status);
    if inside.is_empty() {
        ComponentStatus::Unknown
    } else if inside.iter().all(|status| *status == ComponentStatus::MajorOutage) {
        ComponentStatus::MajorOutage
    } else if any(ComponentStatus::MajorOutage) || any(ComponentStatus::PartialOutage) {
        ComponentStatus::PartialOutage
    } else {
        let milder =
            [ComponentStatus::Degraded, ComponentStatus::UnderMaintenance, ComponentStatus::Operational];
        milder.into_iter().find(|status| any(*status)).unwrap_or(ComponentStatus::Unknown)
    }
}
