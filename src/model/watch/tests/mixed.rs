//! A local and a remote location: the verdict does not depend on the process that a location runs in.

use super::*;

const ELSEWHERE: PlannedLocation = PlannedLocation { round: RoundKeeper::Location, ..HERE };
/// The index of the remote location.
const AWAY: usize = 1;
/// A little longer than a punctual result may take to arrive.
const ON_ITS_WAY_MS: i64 = 10_001;

/// A check of a location, followed by a message that must not count.
#[derive(Clone, Copy, Debug)]
struct CheckStep {
    wait_ms: i64,
    slot: usize,
    status: CheckStatus,
    then: Then,
}

/// A further message of the remote location.
#[derive(Clone, Copy, Debug)]
enum Then {
    Nothing,
    /// The last result again.
    Repeats,
    /// A result that is too old to be punctual.
    IsLate {
        by_ms: i64,
        status: CheckStatus,
    },
}

/// Two watches over the same locations: in one both are local, in the other one is remote.
struct Twins {
    together: WatchState,
    mixed: WatchState,
    plan: WatchPlan,
    now: Timestamp,
    last_vote: Option<LocationVote>,
}

impl Twins {
    fn begin(plan: &WatchPlan) -> Self {
        let plan = |away| WatchPlan { attempts: 1, locations: [HERE, away].into(), ..plan.clone() };
        let now = Timestamp::from_ms(START);
        let (together, _) = WatchState::begin(plan(HERE), WatchMemory::default(), now);
        let (mixed, _) = WatchState::begin(plan(ELSEWHERE), WatchMemory::default(), now);
        Self { together, mixed, plan: plan(ELSEWHERE), now, last_vote: None }
    }

    fn check(&mut self, CheckStep { wait_ms, slot, status, then }: CheckStep) {
        self.now = self.now.plus_ms(wait_ms);
        let now = self.now;
        // Effects that start or request checks are ignored; checks come as the script says.
        self.together.wake(now);
        self.mixed.wake(now);
        let attempt = CheckAttempt { slot, scheduled_at: now, attempt: 1 };
        let outcome = || CheckOutcome::Measured(measurement(status));
        self.together.finish(attempt, now, outcome(), now);
        if slot == AWAY {
            let vote = LocationVote { status, checked_at: now };
            assert!(matches!(self.mixed.take_remote_result(slot, vote, now), ArrivalOutcome::Vote(_)));
            self.last_vote = Some(vote);
        } else {
            self.mixed.finish(attempt, now, outcome(), now);
        }
        assert_eq!(self.mixed.verdict(), self.together.verdict());
        self.receive_more(then);
    }

    /// Delivers a repeated or late result, which must change neither verdict, memory nor plan.
    fn receive_more(&mut self, then: Then) {
        let vote = match then {
            Then::Nothing => return,
            Then::Repeats => self.last_vote,
            Then::IsLate { by_ms, status } => {
                let checked_at = self.now.plus_ms(-self.plan.timeout_ms - ON_ITS_WAY_MS - by_ms);
                Some(LocationVote { status, checked_at })
            }
        };
        let Some(vote) = vote else { return };
        let before = (self.mixed.verdict(), self.mixed.next_wake(), self.mixed.measured_until());
        let votes = self.mixed.memory().votes;
        let last_vote = self.mixed.take_remote_result(AWAY, vote, self.now);
        assert!(!matches!(last_vote, ArrivalOutcome::Vote(_)), "{last_vote:?}");
        assert_eq!(
            self.mixed.take_remote_result(AWAY, vote, self.now),
            ArrivalOutcome::Nothing,
            "by now it was heard before"
        );
        assert_eq!((self.mixed.verdict(), self.mixed.next_wake(), self.mixed.measured_until()), before);
        assert_eq!(self.mixed.memory().votes, votes);
    }
}

fn statuses() -> impl Strategy<Value = CheckStatus> {
    prop::sample::select(CheckStatus::ALL.to_vec())
}

fn checks() -> impl Strategy<Value = Vec<CheckStep>> {
    let wait_ms = prop_oneof![6 => 1_i64..90_000, 1 => 1_i64..2_000_000];
    let is_late = (0_i64..2_000_000, statuses()).prop_map(|(by_ms, status)| Then::IsLate { by_ms, status });
    let then = prop_oneof![2 => Just(Then::Nothing), 1 => Just(Then::Repeats), 2 => is_late];
    let check = (wait_ms, 0_usize..2, statuses(), then).prop_map(|(wait_ms, slot, status, then)| CheckStep {
        wait_ms,
        slot,
        status,
        then,
    });
    prop::collection::vec(check, 1..80)
}

proptest! {
    /// The verdict is the same as with both locations in one process, and late or repeated results change nothing.
    #[test]
    fn a_remote_location_counts_like_a_local_one(plan in plans(), checks in checks()) {
        let mut twins = Twins::begin(&plan);
        for check in checks {
            twins.check(check);
        }
    }
}

#[test]
fn a_late_result_may_be_newer_than_the_newest_vote() {
    let mut twins = Twins::begin(&every_minute(2));
    twins.check(CheckStep { wait_ms: 1, slot: AWAY, status: CheckStatus::Up, then: Then::Nothing });
    twins.now = twins.now.plus_ms(200_000);
    let vote = LocationVote { status: CheckStatus::Down, checked_at: twins.now.plus_ms(-100_000) };
    assert_eq!(twins.mixed.take_remote_result(AWAY, vote, twins.now), ArrivalOutcome::Late);
    assert_eq!(twins.mixed.verdict(), Verdict::Up);
}
