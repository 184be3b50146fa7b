//! Fair sharing of the worker threads among organisations: a heavy organisation delays its own requests, not those of
//! others.
//!
//! The time that requests of an organisation work on a thread is counted. Beyond a free allowance, its requests run one at a
//! time, and after each one the threads are left to other organisations for as long as that request took. This applies only
//! while other organisations send requests as well.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Thread time that an organisation may use without waiting.
const AT_WILL: Duration = Duration::from_millis(250);
/// Share of a thread's time at which the allowance is refilled.
const REFILL: f64 = 0.25;
/// Time for which an organisation counts as active after a request.
const RECENT: Duration = Duration::from_secs(10);
/// Longest time for which the threads are left to others after a request.
const REST_MAX: Duration = Duration::from_millis(200);
/// Longest time for which a request that has its turn, but waits (for its body, for example), delays other requests of its
/// organisation.
const HELD_MAX: Duration = Duration::from_secs(1);
/// Maximum number of organisations whose work is tracked; idle ones are evicted first.
const ORGANISATIONS: usize = 10_000;

/// The thread time used by all organisations.
#[derive(Debug, Default)]
pub(super) struct FairTurns(Mutex<WorkShares>);

#[derive(Debug, Default)]
struct WorkShares {
    by_organisation: HashMap<i64, Arc<OrganisationShare>>,
    /// The organisation that was active last, and when; `before` is the last other one.
    latest: Option<(i64, Instant)>,
    before: Option<(i64, Instant)>,
}

/// The thread time used by one organisation, and the lock that makes its requests run one at a time.
#[derive(Debug)]
struct OrganisationShare {
    work: Mutex<WorkBalance>,
    turns: Arc<Semaphore>,
}

#[derive(Clone, Copy, Debug)]
struct WorkBalance {
    seconds: f64,
    at: Instant,
    /// Until this time the organisation leaves the threads to others.
    rests_until: Instant,
}

/// Permission of a request to work. On drop, the time spent is added to the work of the organisation.
#[derive(Debug)]
pub(super) struct WorkPermit {
    share: Arc<OrganisationShare>,
    spent: Duration,
    /// Held while requests of the organisation run one at a time.
    permit: Option<OwnedSemaphorePermit>,
}

impl FairTurns {
    /// Waits until a request of this organisation may work. Returns at once if the organisation does little work, or if no
    /// other organisation is active.
    pub(super) async fn acquire_permit(&self, organisation: i64) -> WorkPermit {
        let (share, is_shared) = self.shares().join(organisation, Instant::now());
        let is_heavy = is_shared && share.work().now(Instant::now()) > AT_WILL.as_secs_f64();
        let mut permit = None;
        if is_heavy {
            // The semaphore is never closed.
            permit = Arc::clone(&share.turns).acquire_owned().await.ok();
            let rests_until = share.work().rests_until;
            tokio::time::sleep_until(rests_until).await;
        }
        WorkPermit { share, spent: Duration::ZERO, permit }
    }

    fn shares(&self) -> MutexGuard<'_, WorkShares> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkShares {
    /// Returns the share of an organisation that sends a request now, and whether another organisation was active within
    /// [`RECENT`].
    fn join(&mut self, organisation: i64, now: Instant) -> (Arc<OrganisationShare>, bool) {
        if self.latest.is_some_and(|(latest, _)| latest != organisation) {
            self.before = self.latest;
        }
        self.latest = Some((organisation, now));
        let is_other = |(other, at): (i64, Instant)| other != organisation && now - at < RECENT;
        let is_shared = self.before.is_some_and(is_other);
        if self.by_organisation.len() >= ORGANISATIONS {
            self.by_organisation
                .retain(|_, share| Arc::strong_count(share) > 1 || share.work().now(now) > 0.0);
        }
        let new = || Arc::new(OrganisationShare::at_rest(now));
        (Arc::clone(self.by_organisation.entry(organisation).or_insert_with(new)), is_shared)
    }
}

impl OrganisationShare {
    fn at_rest(now: Instant) -> Self {
        let work = WorkBalance { seconds: 0.0, at: now, rests_until: now };
        Self { work: Mutex::new(work), turns: Arc::new(Semaphore::new(1)) }
    }

    fn work(&self) -> MutexGuard<'_, WorkBalance> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkBalance {
    /// Seconds of counted work at this time, after the refill.
    fn now(&mut self, now: Instant) -> f64 {
        let worn_off = now.saturating_duration_since(self.at).as_secs_f64() * REFILL;
        *self = Self { seconds: (self.seconds - worn_off).max(0.0), at: now, ..*self };
        self.seconds
    }
}

impl WorkPermit {
    /// Runs the future, and counts the time that it takes on the thread.
    pub(super) async fn work<F: Future>(mut self, work: F) -> F::Output {
        let mut work = pin!(work);
        let mut held = pin!(tokio::time::sleep(HELD_MAX));
        poll_fn(|context| {
            if self.permit.is_some() && held.as_mut().poll(context).is_ready() {
                self.permit = None;
            }
            let begun = Instant::now();
            let polled = work.as_mut().poll(context);
            self.spent += begun.elapsed();
            polled
        })
        .await
    }
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut work = self.share.work();
        work.now(now);
        work.seconds += self.spent.as_secs_f64();
        if self.permit.is_some() {
            work.rests_until = now + self.spent.min(REST_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAVY: i64 = 1;
    const LIGHT: i64 = 2;

    async fn asks(turns: &FairTurns, organisation: i64, spent: Duration) {
        end(turns.acquire_permit(organisation).await, spent);
    }

    fn end(mut turn: WorkPermit, spent: Duration) {
        turn.spent = spent;
    }

    /// Returns how long a request of the organisation waits for its permit.
    async fn waited(turns: &FairTurns, organisation: i64) -> Duration {
        let begun = Instant::now();
        drop(turns.acquire_permit(organisation).await);
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_heavy_organisation_waits_while_others_send_requests() {
        let turns = FairTurns::default();
        asks(&turns, LIGHT, Duration::from_millis(1)).await;
        asks(&turns, HEAVY, Duration::from_secs(1)).await;
        let first = turns.acquire_permit(HEAVY).await;
        assert!(first.permit.is_some());
        end(first, Duration::from_millis(50));
        assert_eq!(waited(&turns, HEAVY).await, Duration::from_millis(50), "the threads rest as long");
        assert_eq!(waited(&turns, LIGHT).await, Duration::ZERO);
        asks(&turns, HEAVY, Duration::from_secs(9)).await;
        assert_eq!(waited(&turns, HEAVY).await, REST_MAX, "but not for ever");
    }

    /// The permit is also released when the client disconnects.
    #[tokio::test(start_paused = true)]
    async fn an_abandoned_permit_is_released() {
        let turns = FairTurns::default();
        asks(&turns, HEAVY, Duration::from_secs(1)).await;
        asks(&turns, LIGHT, Duration::ZERO).await;
        let never = turns.acquire_permit(HEAVY).await.work(std::future::pending::<()>());
        let given_up = tokio::time::timeout(Duration::from_millis(1), never).await;
        assert!(given_up.is_err());
        assert!(turns.acquire_permit(HEAVY).await.permit.is_some(), "the next one has its turn");
    }

    /// A slow request body does not delay other requests for long.
    #[tokio::test(start_paused = true)]
    async fn a_permit_held_too_long_is_passed_on() {
        let turns = FairTurns::default();
        asks(&turns, HEAVY, Duration::from_secs(2)).await;
        asks(&turns, LIGHT, Duration::ZERO).await;
        let slow = turns.acquire_permit(HEAVY).await.work(tokio::time::sleep(Duration::from_secs(30)));
        let (_, waited) = tokio::join!(slow, waited(&turns, HEAVY));
        assert_eq!(waited, HELD_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_organisation_does_not_wait() {
        let turns = FairTurns::default();
        for _ in 0..5 {
            asks(&turns, HEAVY, Duration::from_secs(1)).await;
            assert!(turns.acquire_permit(HEAVY).await.permit.is_none());
        }
        asks(&turns, LIGHT, Duration::ZERO).await;
        assert!(turns.acquire_permit(HEAVY).await.permit.is_some(), "now there is somebody else");
        tokio::time::sleep(RECENT).await;
        assert!(turns.acquire_permit(HEAVY).await.permit.is_none(), "that was some time ago");
    }

    #[tokio::test(start_paused = true)]
    async fn recorded_work_decays() {
        let turns = FairTurns::default();
        asks(&turns, HEAVY, Duration::from_secs(1)).await;
        for (seconds, is_heavy) in [(2, true), (2, false)] {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            asks(&turns, LIGHT, Duration::ZERO).await;
            assert_eq!(turns.acquire_permit(HEAVY).await.permit.is_some(), is_heavy);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_organisations_are_forgotten() {
        let turns = FairTurns::default();
        asks(&turns, HEAVY, Duration::from_secs(1)).await;
        for other in 0..i64::try_from(2 * ORGANISATIONS).unwrap() {
            asks(&turns, 10 + other, Duration::ZERO).await;
        }
        assert!(turns.shares().by_organisation.len() <= ORGANISATIONS);
        assert!(turns.acquire_permit(HEAVY).await.permit.is_some());
    }
}
