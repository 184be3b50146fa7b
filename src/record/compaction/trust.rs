//! Whether the wall clock can be believed when it says that something is old enough to be dropped.
//!
//! A clock that is set ahead makes everything look old, and what is dropped does not come back when the clock is set right. So
//! nothing ends by age for a day after the clock has run away from the time that has passed.

use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;

/// So much further than the time that has passed is a jump.
const JUMP_MS: i64 = 3_600_000;
/// How long a clock that has jumped is not believed.
const DOUBT: Duration = Duration::from_secs(86_400);

/// What is known of the clock.
#[derive(Debug, Default)]
pub(super) struct Trust {
    last: Option<(Timestamp, Instant)>,
    doubted_until: Option<Instant>,
}

impl Trust {
    /// Whether the clock, which says `now` at `at`, is to be believed.
    pub(super) fn look(&mut self, now: Timestamp, at: Instant) -> bool {
        if let Some((before, looked)) = self.last.replace((now, at)) {
            let passed_ms = i64::try_from(at.duration_since(looked).as_millis()).unwrap_or(i64::MAX);
            if now.ms_since(before).saturating_sub(passed_ms) > JUMP_MS {
                tracing::warn!(%before, %now, "the clock was set ahead: nothing of the history ends for a day");
                self.doubted_until = Some(at + DOUBT);
            }
        }
        self.doubted_until.is_none_or(|until| at >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_ahead_is_doubted_for_a_day() {
        let start = Instant::now();
        let mut trust = Trust::default();
        let mut look = |wall_s: i64, passed_s: u64| {
            trust.look(Timestamp::from_ms(wall_s * 1_000), start + Duration::from_secs(passed_s))
        };
        assert!(look(1_000_000, 0), "nothing is known yet");
        assert!(look(1_000_010, 10));
        assert!(look(1_003_600, 20), "an hour more or less is how clocks are set");
        assert!(look(500_000, 30), "set back");
        assert!(look(1_500_000, 1_000_030), "after a long pass");
        assert!(!look(33_000_000, 1_000_040), "a year ahead");
        assert!(!look(1_500_020, 1_000_050), "and back again");
        assert!(!look(1_586_430, 1_086_430));
        assert!(look(1_586_450, 1_086_450), "a day later");
    }
}
