//! The wait before a dead actor or task starts again: it doubles, has a random spread, and resets after a calm
//! time.

use std::time::Duration;

use tokio::time::Instant;

/// The first wait, without its random spread.
pub const FIRST: Duration = Duration::from_millis(100);
/// The wait doubles at most this many times.
const DOUBLINGS: u32 = 6;
/// An actor that lives this long starts with the shortest wait again.
const CALM: Duration = Duration::from_secs(600);

/// The waits of one actor.
#[derive(Debug, Default)]
pub struct Backoff {
    deaths: u32,
    last: Option<Instant>,
}

impl Backoff {
    /// Returns the wait after a death at this moment: from 100 to 113 ms for the first death.
    pub fn next_wait(&mut self) -> Duration {
        let mut byte = [0];
        // Without randomness all waits are equally long.
        let _ = getrandom::fill(&mut byte);
        self.after(Instant::now(), byte[0])
    }

    fn after(&mut self, now: Instant, chance: u8) -> Duration {
        let was_calm = self.last.is_none_or(|last| now.duration_since(last) > CALM);
        self.deaths = if was_calm { 0 } else { self.deaths.saturating_add(1) };
        self.last = Some(now);
        let wait = FIRST * (1 << self.deaths.min(DOUBLINGS));
        wait + wait * u32::from(chance) / 2_048
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_limit_and_resets_after_a_calm_time() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..9 {
            waits.push(backoff.after(now, 0).as_millis());
            now += Duration::from_secs(1);
        }
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200, 6_400, 6_400, 6_400]);
        now += CALM;
        assert_eq!(backoff.after(now, 255).as_millis(), 112, "the spread is at most an eighth");
    }
}
