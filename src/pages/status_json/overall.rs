//! The overall status of a page, in the words that clients of the format know.

use serde::Serialize;

use crate::model::component::status::ComponentStatus;
use crate::pages::snapshot::PageSnapshot;

/// Indicator and description of the status of a whole page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct OverallStatus {
    /// Severity of the status: `none`, `minor`, `major`, `critical` or `maintenance`.
    pub(super) indicator: &'static str,
    pub(super) description: &'static str,
}

impl OverallStatus {
    /// Returns the overall status of a page. Groups are not counted in addition to their members.
    pub(super) fn of(page: &PageSnapshot) -> Self {
        let visible = page.components.iter().filter(|one| !one.component.is_group);
        Self::of_components(&visible.filter_map(|one| one.status).collect::<Vec<_>>())
    }

    /// Returns the overall status, which is the worst of these. "All" is only claimed when the status of every component is
    /// known (contract 7 no. 47).
    fn of_components(components: &[ComponentStatus]) -> Self {
        let count = |status: ComponentStatus| components.iter().filter(|other| **other == status).count();
        let all = components.len();
        let some = |status: ComponentStatus| count(status) > 0;
        let (indicator, description) = if some(ComponentStatus::MajorOutage) {
            match count(ComponentStatus::MajorOutage) {
                down if down == all => ("critical", "Major System Outage"),
                _ => ("major", "Partial System Outage"),
            }
        } else if some(ComponentStatus::PartialOutage) {
            match (count(ComponentStatus::PartialOutage), all) {
                (1, 2..) => ("minor", "Minor Service Outage"),
                _ => ("major", "Partial System Outage"),
            }
        } else if some(ComponentStatus::Degraded) {
            match count(ComponentStatus::Degraded) {
                degraded if degraded == all => ("minor", "Degraded System Service"),
                _ => ("minor", "Partially Degraded Service"),
            }
        } else if some(ComponentStatus::UnderMaintenance) {
            ("maintenance", "Service Under Maintenance")
        } else if !some(ComponentStatus::Operational) {
            ("none", "Status Unknown")
        } else if some(ComponentStatus::Unknown) {
            ("none", "The status of some systems is unknown")
        } else {
            ("none", "All Systems Operational")
        };
        Self { indicator, description }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::component::status::ComponentStatus::{
        Degraded, MajorOutage, Operational, PartialOutage, UnderMaintenance, Unknown,
    };

    #[rstest]
    #[case(&[], "none: Status Unknown")]
    #[case(&[Unknown], "none: Status Unknown")]
    #[case(&[Operational, Operational], "none: All Systems Operational")]
    #[case(&[Operational, Unknown], "none: The status of some systems is unknown")]
    #[case(&[Operational, UnderMaintenance], "maintenance: Service Under Maintenance")]
    #[case(&[Operational, Degraded, UnderMaintenance], "minor: Partially Degraded Service")]
    #[case(&[Degraded, Degraded], "minor: Degraded System Service")]
    #[case(&[PartialOutage], "major: Partial System Outage")]
    #[case(&[PartialOutage, Operational], "minor: Minor Service Outage")]
    #[case(&[PartialOutage, PartialOutage, Operational], "major: Partial System Outage")]
    #[case(&[MajorOutage, Operational], "major: Partial System Outage")]
    #[case(&[MajorOutage, MajorOutage], "critical: Major System Outage")]
    fn the_worst_component_decides(#[case] components: &[ComponentStatus], #[case] expected: &str) {
        let OverallStatus { indicator, description } = OverallStatus::of_components(components);
        assert_eq!(format!("{indicator}: {description}"), expected);
    }
}
