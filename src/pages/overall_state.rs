//! The status of a whole page, which follows from its components.

use crate::model::component::status::ComponentStatus;
use crate::pages::page_texts::PageTexts;
use crate::pages::snapshot::PageSnapshot;

/// The status of a whole page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverallState {
    pub(super) status: ComponentStatus,
    /// Name of the sentence about it.
    sentence: &'static str,
}

impl OverallState {
    /// Returns the worst of these statuses of components; "all well" only if that is known of every component (contract 7
    /// no. 47).
    pub(super) fn of(components: &[ComponentStatus]) -> Self {
        let any = |status: ComponentStatus| components.contains(&status);
        let headings = [
            (ComponentStatus::MajorOutage, "overall-major-outage"),
            (ComponentStatus::PartialOutage, "overall-partial-outage"),
            (ComponentStatus::Degraded, "overall-degraded"),
            (ComponentStatus::UnderMaintenance, "overall-maintenance"),
        ];
        let worst = headings.into_iter().find(|(status, _)| any(*status));
        let (status, sentence) = worst.unwrap_or_else(|| {
            match (any(ComponentStatus::Operational), any(ComponentStatus::Unknown)) {
                (true, false) => (ComponentStatus::Operational, "overall-operational"),
                (true, true) => (ComponentStatus::Unknown, "overall-some-unknown"),
                (false, _) => (ComponentStatus::Unknown, "overall-unknown"),
            }
        });
        Self { status, sentence }
    }

    /// Returns the status of a page. Groups add nothing to their members.
    pub(super) fn of_page(snapshot: &PageSnapshot) -> Self {
        let members = snapshot.components.iter().filter(|one| !one.component.is_group);
        Self::of(&members.filter_map(|one| one.status).collect::<Vec<_>>())
    }

    /// Returns the sentence about the status.
    pub(super) fn sentence(self, words: &PageTexts) -> String {
        words.text(self.sentence)
    }
}
