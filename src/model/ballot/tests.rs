//! Ballots: a table of the reasons why a location has no vote, and a comparison with the engine.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::model::check::{CheckFailure, ErrorCode, Measurement, PhaseTimings};
use crate::model::quorum::Quorum;
use crate::model::service::ProbeRole;
use crate::model::status_rules::StatusRules;
use crate::model::watch::{PlannedLocation, RoundKeeper, WatchMemory, WatchPlan, WatchState};

const NOW: Timestamp = Timestamp::from_ms(10_000_000);
const TIME: BallotTime = BallotTime { now: NOW, interval_ms: 60_000 };

fn check(code: &str, status: CheckStatus, age_ms: i64) -> StoredCheck {
    let failure = CheckFailure::new(ErrorCode::ConnectRefused, "refused");
    let measurement = Measurement {
        status,
        response_time: None,
        timings: PhaseTimings::default(),
        status_code: None,
        failure: (status != CheckStatus::Up).then(|| Box::new(failure)),
    };
    let checked_at = NOW.plus_ms(-age_ms);
    StoredCheck { checked_at, probe: code.into(), scheduled_at: checked_at, attempt: 1, measurement }
}

fn outlook(code: &str) -> LocationOutlook {
    LocationOutlook {
        code: code.into(),
        name: code.to_uppercase(),
        exclusion: None,
        is_offline: false,
        recovered_at: None,
        blind_since: None,
    }
}

fn impaired() -> LocationOutlook {
    let exclusion = Some(VoteExclusion::Impaired(LocalFault::NoPorts));
    LocationOutlook { exclusion, ..outlook("fra") }
}

const EXCLUDED: VoteAbsence = VoteAbsence::Excluded(VoteExclusion::Impaired(LocalFault::NoPorts));

/// Cases: the state of Frankfurt; the age of its check, which is down; whether Oslo has a vote; why Frankfurt has none.
#[rstest]
#[case::fresh(outlook("fra"), Some(1_000), true, None)]
#[case::just_fresh(outlook("fra"), Some(300_000), true, None)]
#[case::stale(outlook("fra"), Some(300_001), true, Some(VoteAbsence::Stale))]
#[case::not_checked(outlook("fra"), None, true, Some(VoteAbsence::NotChecked))]
#[case::offline_but_fresh(LocationOutlook { is_offline: true, ..outlook("fra") }, Some(1_000), true, None)]
#[case::offline(
    LocationOutlook { is_offline: true, ..outlook("fra") }, Some(300_001), true, Some(VoteAbsence::Offline)
)]
#[case::never_online(
    LocationOutlook { is_offline: true, ..outlook("fra") }, None, true, Some(VoteAbsence::Offline)
)]
#[case::impaired(impaired(), Some(1_000), true, Some(EXCLUDED))]
#[case::impaired_and_stale(impaired(), Some(300_001), true, Some(EXCLUDED))]
#[case::impaired_but_the_only_vote(impaired(), Some(1_000), false, None)]
#[case::suspect(
    LocationOutlook { exclusion: Some(VoteExclusion::Suspect), ..outlook("fra") },
    Some(1_000), true, Some(VoteAbsence::Excluded(VoteExclusion::Suspect))
)]
#[case::before_its_network_returned(
    LocationOutlook { recovered_at: Some(NOW.plus_ms(-500)), ..outlook("fra") },
    Some(501), true, Some(VoteAbsence::Outdated)
)]
#[case::after_its_network_returned(
    LocationOutlook { recovered_at: Some(NOW.plus_ms(-500)), ..outlook("fra") }, Some(500), true, None
)]
#[case::before_it_was_blind(
    LocationOutlook { blind_since: Some(NOW.plus_ms(-500)), ..outlook("fra") },
    Some(500), false, Some(VoteAbsence::Outdated)
)]
#[case::after_it_was_blind(
    LocationOutlook { blind_since: Some(NOW.plus_ms(-500)), ..outlook("fra") }, Some(499), false, None
)]
fn a_location_without_a_vote_has_a_reason(
    #[case] frankfurt: LocationOutlook,
    #[case] age_ms: Option<i64>,
    #[case] has_other: bool,
    #[case] expected: Option<VoteAbsence>,
) {
    let other = has_other.then(|| check("oslo", CheckStatus::Up, 2_000));
    let own = age_ms.map(|age_ms| check("fra", CheckStatus::Down, age_ms));
    let checks: Vec<StoredCheck> = [own, other].into_iter().flatten().collect();
    let found = ballots(&[frankfurt, outlook("oslo")], &checks, TIME);
    assert_eq!(found[0].absence(), expected);
    assert_eq!(found[0].cast(), expected.is_none().then_some(CheckStatus::Down));
    assert_eq!((found[0].location.as_str(), found.len()), ("FRA", 2));
}

#[test]
fn only_the_newest_check_of_a_location_is_its_vote() {
    let checks = [check("fra", CheckStatus::Up, 1_000), check("fra", CheckStatus::Down, 2_000)];
    assert_eq!(ballots(&[outlook("fra")], &checks, TIME)[0].cast(), Some(CheckStatus::Up));
}

#[test]
fn a_location_that_no_longer_checks_is_named_while_its_result_is_fresh() {
    let checks = [
        check("rome", CheckStatus::Up, 1_000),
        check("rome", CheckStatus::Up, 2_000),
        check("push", CheckStatus::Up, 2_000),
        check("bern", CheckStatus::Up, 300_001),
    ];
    let found = ballots(&[outlook("fra")], &checks, TIME);
    let found: Vec<_> = found.iter().map(|ballot| (ballot.location.as_str(), ballot.absence())).collect();
    assert_eq!(found, [("FRA", Some(VoteAbsence::NotChecked)), ("rome", Some(VoteAbsence::Withdrawn))]);
}

/// A location of a random situation: its newest result as (status, age), whether it is excluded, and how long ago its
/// blindness started.
type RandomLocation = (Option<(CheckStatus, i64)>, bool, Option<i64>);

fn locations() -> impl Strategy<Value = Vec<RandomLocation>> {
    let age = || prop_oneof![0..2_000_i64, 299_000..302_000_i64];
    let newest = prop::option::of((prop::sample::select(CheckStatus::ALL.to_vec()), age()));
    prop::collection::vec((newest, any::<bool>(), prop::option::of(age())), 1..6)
}

proptest! {
    /// The votes that people see give the verdict that the engine reaches.
    #[test]
    fn ballots_agree_with_the_engine(locations in locations(), quorum in 0_u8..4) {
        let quorum = [Quorum::Any, Quorum::Majority, Quorum::All, Quorum::AtLeast(2)][usize::from(quorum)];
        let planned = PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Location };
        let plan = WatchPlan {
            hash: 7,
            interval_ms: TIME.interval_ms,
            timeout_ms: 1_000,
            attempts: 1,
            backoff_ms: 0,
            backoff_max_ms: 0,
            uncertain_interval_ms: 1_000,
            rules: StatusRules { quorum, ..StatusRules::default() },
            locations: vec![planned; locations.len()].into(),
        };
        let mut memory = WatchMemory::default();
        let (mut outlooks, mut checks) = (Vec::new(), Vec::new());
        for (slot, (newest, is_suspect, blind_ms)) in locations.iter().enumerate() {
            let code = format!("l{slot}");
            outlooks.push(LocationOutlook {
                exclusion: is_suspect.then_some(VoteExclusion::Suspect),
                blind_since: blind_ms.map(|ms| NOW.plus_ms(-ms)),
                ..outlook(&code)
            });
            if let Some((status, age_ms)) = newest {
                let checked_at = NOW.plus_ms(-age_ms);
                memory.votes.push((slot, LocationVote { status: *status, checked_at }));
                checks.push(check(&code, *status, *age_ms));
            }
        }
        let (mut watch, _) = WatchState::begin(plan, memory, NOW);
        for (slot, outlook) in outlooks.iter().enumerate() {
            watch.set_aside(slot, outlooks.len() > 1 && outlook.exclusion.is_some());
            watch.set_blind_since(slot, outlook.blind_since);
        }
        watch.judge(NOW);
        let shown = ballots(&outlooks, &checks, TIME);
        prop_assert_eq!(quorum.judge(shown.iter().filter_map(LocationBallot::cast)), watch.verdict());
    }
}
