//! Checks that outages wait for: of the services that they depend on or, when these are back, of the service itself.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::clock::Timestamp;
use crate::engine::aggregator::ServiceSnapshot;
use crate::incidents::parents::{RECHECK_POLL_MS, RequestedChecks};
use crate::model::outage::Outage;
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::service_outline::ServiceOutline;
use crate::model::verdict::Verdict;
use crate::service_router::ServiceRouter;
use crate::store::services::outlines;
use crate::store::{MainError, dependencies, outages};

/// Milliseconds after which a missing check is requested again.
const ASK_AGAIN_MS: i64 = 2_000;
/// Milliseconds after which the end of a wait counts as missed; a running program notices it much sooner.
const MISSED_MS: i64 = 5_000;

/// The state of the checks that outages wait for.
#[derive(Debug, Default)]
pub(super) struct AwaitedChecks {
    /// Services whose wait ends early, because the checks are conclusive.
    pub(super) cleared: HashSet<ServiceKey>,
    /// Services whose wait ended while this program was not running, without a requested check.
    pub(super) missed: HashSet<ServiceKey>,
    /// Services whose requested check is missing: they were busy with an earlier one, or have not received the request.
    pub(super) to_ask: RequestedChecks,
}

/// Reads the state of the checks that these services wait for, without locks.
pub(super) async fn read_awaited_checks(
    router: &ServiceRouter,
    services: &[ServiceKey],
    now: Timestamp,
) -> Result<AwaitedChecks, MainError> {
    let main = router.databases.main.reader();
    let mut held = outages::of_services(main, services).await?;
    held.retain(|outage| outage.is_unreported() && outage.held_until.is_some());
    if held.is_empty() {
        return Ok(AwaitedChecks::default());
    }
    let keys: Vec<ServiceKey> = held.iter().map(|outage| outage.service).collect();
    let graph = dependencies::find_neighbours(main, &keys).await?;
    let parents = keys.iter().flat_map(|child| graph.parents_of(*child));
    let all: BTreeSet<ServiceKey> = parents.chain(keys.iter().copied()).collect();
    let all = outlines::by_keys(main, &all.into_iter().collect::<Vec<_>>()).await?;
    let addresses: Vec<ServiceAddress> = all.iter().map(ServiceOutline::address).collect();
    let snapshots = router.snapshots_at_once(&addresses).await.into_iter().map(Option::unwrap_or_default);
    let roster = &router.compiler.roster;
    let seen = all.iter().zip(snapshots).map(|(service, snapshot)| {
        let is_within_reach = service
            .settings
            .as_ref()
            .is_some_and(|settings| roster.is_any_within_reach(settings.assigned_probes.as_deref(), now));
        (service.key, ObservedService::new(service, is_within_reach, snapshot))
    });
    let seen: HashMap<ServiceKey, ObservedService> = seen.collect();
    let (mut awaited, mut to_ask) = (AwaitedChecks::default(), BTreeMap::new());
    for outage in held {
        let asked: Vec<&ObservedService> = match outage.is_unreachable() {
            true => seen.get(&outage.service).into_iter().collect(),
            false => graph.parents_of(outage.service).filter_map(|parent| seen.get(&parent)).collect(),
        };
        let wait = WaitingOutage { outage: &outage, asked, now };
        if wait.is_over_early() {
            awaited.cleared.insert(outage.service);
        } else if wait.was_missed() {
            awaited.missed.insert(outage.service);
        }
        to_ask.extend(wait.to_ask_again().map(|address| (address.key, address)));
    }
    Ok(AwaitedChecks { to_ask: RequestedChecks(to_ask.into_values().collect()), ..awaited })
}

/// A service with its current state.
struct ObservedService {
    address: ServiceAddress,
    /// True if the service can be checked on request.
    can_check: bool,
    /// True if the service should be checked but is not: it is paused, not configured, or all its locations are offline.
    is_blind: bool,
    snapshot: ServiceSnapshot,
}

impl ObservedService {
    fn new(service: &ServiceOutline, is_within_reach: bool, snapshot: ServiceSnapshot) -> Self {
        let is_probed = service.check_type.is_probed();
        let is_on = service.is_configured() && service.pause.is_none();
        let can_check = is_probed && is_on && is_within_reach;
        let is_blind = !is_on || (is_probed && !is_within_reach);
        Self { address: service.address(), can_check, is_blind, snapshot }
    }

    fn has_checked_since(&self, since: Timestamp) -> bool {
        self.snapshot.last_check_at.is_some_and(|checked_at| checked_at > since)
    }

    /// Returns true if every location has checked after `since`, and no other verdict is expected. A check that began
    /// before the request may have finished before anything failed.
    fn is_sure_since(&self, since: Timestamp) -> bool {
        self.snapshot.sure_since.is_some_and(|checked_at| checked_at > since)
    }
}

/// An outage that waits for checks.
struct WaitingOutage<'a> {
    outage: &'a Outage,
    asked: Vec<&'a ObservedService>,
    now: Timestamp,
}

impl WaitingOutage<'_> {
    fn asked_at(&self) -> Timestamp {
        self.outage.asked_at.unwrap_or(self.outage.began_at)
    }

    fn ended_ms_ago(&self) -> Option<i64> {
        self.outage.held_until.map(|until| self.now.ms_since(until)).filter(|ms| *ms >= 0)
    }

    /// Returns true if all checks are done and the service fails by itself. The wait does not end early if the service is
    /// up again or a dependency is down, because this change may not be in the database yet. Dependencies that cannot be
    /// checked are not waited for.
    fn is_over_early(&self) -> bool {
        let is_sure = |seen: &ObservedService| seen.is_sure_since(self.asked_at());
        let is_settled = |seen: &&ObservedService| match self.outage.is_unreachable() {
            true => is_sure(seen) && seen.snapshot.verdict != Verdict::Up,
            false if seen.is_blind => true,
            false => (!seen.can_check || is_sure(seen)) && seen.snapshot.verdict != Verdict::Down,
        };
        self.ended_ms_ago().is_none() && self.asked.iter().all(is_settled)
    }

    /// Returns true if the program was not running at the end of the wait, so that requests may have been lost as well.
    fn was_missed(&self) -> bool {
        let mut able = self.asked.iter().filter(|seen| seen.can_check).peekable();
        let is_late = self.ended_ms_ago().is_some_and(|ms| ms > MISSED_MS);
        is_late && able.peek().is_some() && able.all(|seen| !seen.has_checked_since(self.asked_at()))
    }

    /// Returns the services whose check is missing, every two seconds during the wait.
    fn to_ask_again(&self) -> impl Iterator<Item = ServiceAddress> {
        let waited_ms = self.now.ms_since(self.asked_at());
        let period = |ms: i64| ms.max(0) / ASK_AGAIN_MS;
        let is_due = period(waited_ms) > period(waited_ms - RECHECK_POLL_MS) && self.ended_ms_ago().is_none();
        let silent = self
            .asked
            .iter()
            .filter(move |seen| is_due && seen.can_check && !seen.has_checked_since(self.asked_at()));
        silent.map(|seen| seen.address)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::id::Id;
    use crate::model::incident_policy::OutageKind;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp::from_ms(seconds * 1_000)
    }

    /// An outage since 90 s; the checks that it waits for were requested at 100 s, and are awaited until 110 s.
    fn outage(is_unreachable: bool) -> Outage {
        let unreachable_since = is_unreachable.then_some(at(90));
        let begun = Outage::begun(1, 5, OutageKind::Down, at(90));
        Outage { unreachable_since, ..begun.mark_recheck_requested(at(100), at(110)) }
    }

    /// A service whose newest check began at `checked_at`, and whose verdict is sure since `sure`.
    fn seen(verdict: Verdict, checked_at: i64, sure: Option<i64>) -> ObservedService {
        let (last_check_at, sure_since) = (Some(at(checked_at)), sure.map(at));
        let snapshot = ServiceSnapshot { verdict, last_check_at, sure_since, ..ServiceSnapshot::default() };
        let address = ServiceAddress { id: Id::random(), key: 7 };
        ObservedService { address, can_check: true, is_blind: false, snapshot }
    }

    /// A service that reports itself, such as a heartbeat.
    fn reporting(verdict: Verdict) -> ObservedService {
        ObservedService { can_check: false, ..seen(verdict, 99, None) }
    }

    /// A service that is paused, or whose locations are offline.
    fn blind(verdict: Verdict) -> ObservedService {
        ObservedService { is_blind: true, ..reporting(verdict) }
    }

    #[rstest]
    #[case::it_fails_still(true, seen(Verdict::Down, 101, Some(101)), true)]
    #[case::it_is_back(true, seen(Verdict::Up, 101, Some(101)), false)]
    #[case::it_must_be_checked_again(true, seen(Verdict::Down, 101, None), false)]
    #[case::it_has_not_been_checked(true, seen(Verdict::Down, 99, Some(99)), false)]
    #[case::a_location_has_not_checked(true, seen(Verdict::Down, 101, Some(99)), false)]
    #[case::the_other_works(false, seen(Verdict::Up, 101, Some(101)), true)]
    #[case::the_other_is_slow(false, seen(Verdict::Degraded, 101, Some(101)), true)]
    #[case::the_other_is_down(false, seen(Verdict::Down, 101, Some(101)), false)]
    #[case::the_other_tries_again(false, seen(Verdict::Up, 101, None), false)]
    #[case::the_other_is_unknown(false, seen(Verdict::Unknown, 101, None), false)]
    #[case::the_other_reports_itself(false, reporting(Verdict::Up), true)]
    #[case::the_other_reports_itself_and_is_late(false, reporting(Verdict::Down), false)]
    #[case::the_other_is_blind(false, blind(Verdict::Up), true)]
    #[case::the_other_was_down_when_it_went_blind(false, blind(Verdict::Down), true)]
    #[case::it_reports_itself(true, reporting(Verdict::Down), false)]
    fn a_wait_ends_early_when_a_check_is_conclusive(
        #[case] itself: bool,
        #[case] seen: ObservedService,
        #[case] is_over: bool,
    ) {
        let wait = WaitingOutage { outage: &outage(itself), asked: vec![&seen], now: at(105) };
        assert_eq!(wait.is_over_early(), is_over);
        assert!(!wait.was_missed());
    }

    #[rstest]
    #[case::in_time(114, 99, true, false)]
    #[case::nobody_noticed_in_time(116, 99, true, true)]
    #[case::it_has_been_checked(116, 101, true, false)]
    #[case::it_is_never_checked(116, 99, false, false)]
    fn a_wait_that_ended_unnoticed_was_missed(
        #[case] now: i64,
        #[case] checked_at: i64,
        #[case] can_check: bool,
        #[case] expected: bool,
    ) {
        let seen = ObservedService { can_check, ..seen(Verdict::Up, checked_at, Some(checked_at)) };
        let wait = WaitingOutage { outage: &outage(false), asked: vec![&seen], now: at(now) };
        assert_eq!(wait.was_missed(), expected);
    }

    #[test]
    fn a_wait_without_services_is_over_and_not_missed() {
        let nobody = |now| WaitingOutage { outage: &outage(false), asked: vec![], now: at(now) }.was_missed();
        assert!(!nobody(200));
        assert!(WaitingOutage { outage: &outage(false), asked: vec![], now: at(101) }.is_over_early());
    }

    /// Polled every 300 ms; the times in seconds at which the check is requested again.
    #[rstest]
    #[case::it_has_been_checked(101, &[])]
    #[case::the_check_is_missing(99, &[102, 104, 106, 108])]
    fn a_missing_check_is_requested_again_every_two_seconds(
        #[case] checked_at: i64,
        #[case] expected: &[i64],
    ) {
        let (outage, seen) = (outage(true), seen(Verdict::Down, checked_at, Some(checked_at)));
        let moments = (100_000..115_000).step_by(300).map(Timestamp::from_ms);
        let asks = moments.filter(|now| {
            let wait = WaitingOutage { outage: &outage, asked: vec![&seen], now: *now };
            wait.to_ask_again().next().is_some()
        });
        assert_eq!(asks.map(|now| now.ms() / 1_000).collect::<Vec<_>>(), expected);
    }
}
