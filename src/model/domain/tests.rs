//! Tests of custom domains: the times of their checks, the changes of their state, and the rate of requested checks.

use rstest::rstest;

use super::*;

const START: Timestamp = Timestamp::from_ms(1_000_000);

fn after_minutes(minutes: i64) -> Timestamp {
    START.plus_ms(minutes * MINUTE_MS)
}

fn pending() -> CustomDomain {
    CustomDomain::attached(1, "status.example.com".into(), START)
}

fn active() -> CustomDomain {
    pending().after_check(DomainRecordsState::Right, JudgedTime::trusted(after_minutes(1)))
}

const WRONG: DomainRecordsState = DomainRecordsState::Wrong(DomainProblem::WrongTarget);

/// Contract 4.15: checks after 1, 2, 5, 10, 30 minutes, then hourly. Columns: minute of a check, minute of the next.
#[rstest]
#[case(0, 1)]
#[case(1, 2)]
#[case(2, 5)]
#[case(3, 5)]
#[case(5, 10)]
#[case(10, 30)]
#[case(30, 90)]
#[case(89, 90)]
#[case(90, 150)]
#[case(10_050, 10_080)]
#[case(10_080, 10_110)]
fn a_pending_domain_is_checked_less_and_less_often(#[case] now: i64, #[case] next: i64) {
    let checked = pending().after_check(DomainRecordsState::Nothing, JudgedTime::trusted(after_minutes(now)));
    assert_eq!(checked.next_check_at, Some(after_minutes(next)));
    assert_eq!(pending().next_check_at, Some(after_minutes(1)));
}

#[test]
fn both_records_activate_a_domain_and_keep_it_active() {
    let active = active();
    assert_eq!(
        (active.status, active.verified_at, active.problem),
        (DomainStatus::Active, Some(after_minutes(1)), None)
    );
    assert_eq!(active.next_check_at, Some(after_minutes(1).plus_ms(DAY_MS)));
    let later = active.after_check(DomainRecordsState::Right, JudgedTime::trusted(after_minutes(1_441)));
    assert_eq!(later.verified_at, Some(after_minutes(1)), "it keeps the time of the first success");
    assert_eq!(later.next_check_at, Some(after_minutes(1_441).plus_ms(DAY_MS)));
}

#[test]
fn a_pending_domain_has_its_problem() {
    let wrong = pending().after_check(WRONG, JudgedTime::trusted(after_minutes(1)));
    assert_eq!(
        (wrong.status, wrong.problem),
        (DomainStatus::PendingVerification, Some(DomainProblem::WrongTarget))
    );
    let unseen = wrong.after_check(DomainRecordsState::Nothing, JudgedTime::trusted(after_minutes(2)));
    assert_eq!(unseen.problem, Some(DomainProblem::WrongTarget), "what was known stays");
    let never_seen =
        pending().after_check(DomainRecordsState::Nothing, JudgedTime::trusted(after_minutes(1)));
    assert_eq!(never_seen.problem, Some(DomainProblem::NoRecords));
}

/// Contract 4.15: a pending domain fails after a week, but only by a conclusive check.
#[rstest]
#[case(WRONG, 7 * 1_440 - 1, DomainStatus::PendingVerification)]
#[case(WRONG, 7 * 1_440, DomainStatus::Failed)]
#[case(DomainRecordsState::Nothing, 30 * 1_440, DomainStatus::PendingVerification)]
#[case(DomainRecordsState::Right, 30 * 1_440, DomainStatus::Active)]
fn a_pending_domain_fails_after_a_week(
    #[case] records_state: DomainRecordsState,
    #[case] minutes: i64,
    #[case] status: DomainStatus,
) {
    let checked = pending().after_check(records_state, JudgedTime::trusted(after_minutes(minutes)));
    assert_eq!(checked.status, status);
    if status == DomainStatus::Failed {
        assert_eq!(
            (checked.problem, checked.next_check_at),
            (Some(DomainProblem::VerificationTimeout), None)
        );
        assert_eq!(
            checked.after_check(DomainRecordsState::Right, JudgedTime::trusted(after_minutes(minutes + 1))),
            checked,
            "failed is final"
        );
    }
}

#[test]
fn an_active_domain_fails_after_a_week_of_wrong_records() {
    let days = |days: i64| after_minutes(1).plus_ms(days * DAY_MS);
    let wrong = active().after_check(WRONG, JudgedTime::trusted(days(1)));
    assert_eq!((wrong.status, wrong.problem, wrong.wrong_since), (DomainStatus::Active, None, Some(days(1))));
    let healed = wrong.after_check(DomainRecordsState::Right, JudgedTime::trusted(days(2)));
    assert_eq!((healed.wrong_since, healed.next_check_at), (None, Some(days(3))));
    let still = wrong.after_check(WRONG, JudgedTime::trusted(days(7)));
    assert_eq!((still.status, still.next_check_at), (DomainStatus::Active, Some(days(8))));
    let blind = still.after_check(DomainRecordsState::Nothing, JudgedTime::trusted(days(8)));
    assert_eq!((blind.status, blind.wrong_since), (DomainStatus::Active, Some(days(1))));
    let failed = still.after_check(WRONG, JudgedTime::trusted(days(8)));
    assert_eq!((failed.status, failed.problem), (DomainStatus::Failed, Some(DomainProblem::StaleTimeout)));
    assert_eq!((failed.verified_at, failed.next_check_at), (None, None));
}

/// Contract 4.15: a request less than 10 s after the previous one is refused with `Retry-After` 1 to 10.
#[rstest]
#[case(None, None)]
#[case(Some(0), Some(10))]
#[case(Some(1), Some(10))]
#[case(Some(9_000), Some(1))]
#[case(Some(9_999), Some(1))]
#[case(Some(10_000), None)]
#[case(Some(-5_000), None)]
fn clients_may_request_a_check_every_ten_seconds(#[case] ms_ago: Option<i64>, #[case] seconds: Option<u64>) {
    let asked_at = ms_ago.map(|ms| START.plus_ms(-ms));
    assert_eq!(CustomDomain { asked_at, ..pending() }.cooldown_seconds(START), seconds);
}

#[test]
fn every_domain_has_its_own_verification_value() {
    let value = pending().txt_value;
    assert!(
        value.len() == TXT_VALUE_LENGTH && value.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        "{value}"
    );
    assert_ne!(value, pending().txt_value);
}
