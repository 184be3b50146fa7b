//! The state of all services that somebody sees, in one sentence.

use crate::console::console_texts::ConsoleTexts;
use crate::fleet_view::summary::StatusTotals;
use crate::model::service::ServiceStatus;

/// The state of all services in one sentence.
pub(super) struct FleetSentence {
    /// Name of the text.
    name: &'static str,
    count: usize,
    /// Class of the worst status.
    pub(super) tone: &'static str,
}

impl FleetSentence {
    /// Chooses the sentence for these totals.
    pub(super) fn of(totals: StatusTotals) -> Self {
        let (down, degraded) = (totals.of(ServiceStatus::Down), totals.of(ServiceStatus::Degraded));
        let (name, count, tone) = match totals.all() {
            0 => ("overview-empty", 0, "unknown"),
            _ if down > 0 => ("overview-down", down, "major_outage"),
            _ if degraded > 0 => ("overview-degraded", degraded, "degraded"),
            _ if totals.working() == 0 => ("overview-unknown", 0, "unknown"),
            all if totals.working() < all => ("overview-rest", totals.working(), "operational"),
            _ => ("overview-up", totals.working(), "operational"),
        };
        Self { name, count, tone }
    }

    /// The sentence in a language.
    pub(super) fn sentence(&self, texts: ConsoleTexts) -> String {
        texts.counted(self.name, u64::try_from(self.count).unwrap_or(u64::MAX))
    }
}
