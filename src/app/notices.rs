//! Sets up notices: messages about problems that this process observes in itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::app::{Foundation, HistoryRecording};
use crate::http::v1::state::AppState;
use crate::notices::{NoticeReconciler, ProcessSymptoms};

/// Returns the sender of messages about events other than incidents.
pub(super) fn notices(
    foundation: &Foundation,
    state: &AppState,
    recording: &HistoryRecording,
) -> NoticeReconciler {
    let (recorded, clock) = (Arc::clone(&recording.recorded), Arc::clone(&state.guard));
    let (roster, backups) = (Arc::clone(&state.compiler.roster), Arc::clone(&state.backups));
    let signs = move || ProcessSymptoms {
        history_is_away: recorded.is_failing.load(Ordering::Relaxed),
        spool_is_used: recorded.spool_bytes.load(Ordering::Relaxed) > 0,
        backup_is_old: backups.is_old(),
        clock_is_doubted: clock.trusted_now().is_none(),
        blind_by: roster.all().iter().filter(|known| !known.is_remote()).find_map(|known| known.blind_by()),
    };
    NoticeReconciler {
        router: state.router.clone(),
        guard: Arc::clone(&state.guard),
        signs: Arc::new(signs),
        patience: Duration::from_secs(foundation.config.watchdog.notice_after_seconds.into()),
        falls: Arc::default(),
    }
}
