//! Minimum durations of troubles, so that a trouble of less than a minute opens no notice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// For each subject, the time since which its state has differed from its notice.
#[derive(Debug)]
pub(super) struct NoticeDebouncer {
    /// The time for which a trouble must last before its notice is opened.
    begins: Duration,
    /// The time for which a trouble must be over before its notice is closed.
    ends: Duration,
    since: HashMap<String, Instant>,
}

impl NoticeDebouncer {
    pub(super) fn new(begins: Duration, ends: Duration) -> Self {
        Self { begins, ends, since: HashMap::new() }
    }

    /// Returns true if a subject counts as in trouble, given its current state (`is_wrong`) and whether it has a notice
    /// (`is_notified`).
    pub(super) fn is_confirmed(
        &mut self,
        thing: &str,
        is_wrong: bool,
        is_notified: bool,
        now: Instant,
    ) -> bool {
        if is_wrong == is_notified {
            self.since.remove(thing);
            return is_notified;
        }
        let since = *self.since.entry(thing.to_owned()).or_insert(now);
        let lasts = if is_wrong { self.begins } else { self.ends };
        if now.duration_since(since) < lasts { is_notified } else { is_wrong }
    }

    /// Removes the times of all subjects with this prefix.
    pub(super) fn forget(&mut self, prefix: &str) {
        self.since.retain(|thing, _| !thing.starts_with(prefix));
    }
}

/// The time for which a trouble must be less severe before its notice becomes less severe: as long as a burning budget
/// takes to end.
const FALLS_AFTER: Duration = Duration::from_secs(600);

/// Times since which troubles have been less severe than their notices. A later rise sends notifications again.
#[derive(Debug)]
pub struct SeverityFalls(Mutex<NoticeDebouncer>);

impl Default for SeverityFalls {
    fn default() -> Self {
        Self(Mutex::new(NoticeDebouncer::new(FALLS_AFTER, Duration::ZERO)))
    }
}

impl SeverityFalls {
    /// Returns true if the severity of a notice has to be lowered. `is_less`: the current trouble is less severe than the
    /// notice.
    pub(super) fn falls(&self, thing: &str, is_less: bool, now: Instant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_confirmed(thing, is_less, false, now)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Columns: whether the subject has a notice; second and condition of each comparison; the last result.
    #[rstest]
    #[case::at_first(false, &[(0, true)], false)]
    #[case::for_a_minute(false, &[(0, true), (30, true), (60, true)], true)]
    #[case::again_and_again(false, &[(0, true), (30, false), (40, true), (70, true)], false)]
    #[case::nothing(false, &[(0, false), (60, false)], false)]
    #[case::it_lasts(true, &[(0, true), (600, true)], true)]
    #[case::for_a_moment_over(true, &[(0, false), (59, false)], true)]
    #[case::over(true, &[(0, false), (60, false)], false)]
    #[case::not_over(true, &[(0, false), (30, true), (60, false)], true)]
    fn a_condition_counts_after_a_minute(
        #[case] is_notified: bool,
        #[case] samples: &[(u64, bool)],
        #[case] expected: bool,
    ) {
        let (mut patience, begin) = (NoticeDebouncer::new(MINUTE, MINUTE), Instant::now());
        let mut counts = is_notified;
        for (second, is_wrong) in samples {
            counts =
                patience.is_confirmed("it", *is_wrong, is_notified, begin + Duration::from_secs(*second));
        }
        assert_eq!(counts, expected);
    }
}
