//! Tests of claims: who may attach a name, and the effect of one proof on the other claims.

use rstest::rstest;

use super::*;

const START: Timestamp = Timestamp::from_ms(1_000_000);
const NOW: Timestamp = START.plus_ms(60_000);
const OURS: i64 = 1;
const THEIRS: i64 = 2;

const PENDING: DomainStatus = DomainStatus::PendingVerification;
const ACTIVE: DomainStatus = DomainStatus::Active;
const FAILED: DomainStatus = DomainStatus::Failed;

/// A claim by this organisation, with this key and status; a failed claim was not verified in time.
fn claim((organisation, key, status): (i64, i64, DomainStatus)) -> HostnameClaim {
    let domain =
        CustomDomain { key, ..CustomDomain::attached(organisation, "status.example.com".into(), START) };
    let domain = match status {
        PENDING => domain,
        ACTIVE => domain.after_check(DomainRecordsState::Right, JudgedTime::trusted(START)),
        FAILED => domain.failed(DomainProblem::VerificationTimeout),
    };
    HostnameClaim { organisation, domain }
}

/// The rules of `POST` in contract 4.15. Columns: organisation and status of each claim, result for `OURS`.
#[rstest]
#[case(&[], true)]
#[case(&[(OURS, PENDING)], false)]
#[case(&[(OURS, ACTIVE)], false)]
#[case(&[(OURS, FAILED)], true)]
#[case(&[(THEIRS, PENDING)], true)]
#[case(&[(THEIRS, ACTIVE)], false)]
#[case(&[(THEIRS, FAILED)], true)]
#[case(&[(OURS, FAILED), (THEIRS, PENDING)], true)]
#[case(&[(OURS, FAILED), (THEIRS, ACTIVE)], false)]
#[case(&[(THEIRS, PENDING), (OURS, PENDING)], false)]
fn only_proven_and_own_claims_make_a_name_unavailable(
    #[case] claims: &[(i64, DomainStatus)],
    #[case] expected: bool,
) {
    let claims =
        claims.iter().zip(1..).map(|((organisation, status), key)| claim((*organisation, key, *status)));
    assert_eq!(may_attach(OURS, &claims.collect::<Vec<_>>()), expected);
}

const RIGHT: DomainRecordsState = DomainRecordsState::Right;
const WRONG: DomainRecordsState = DomainRecordsState::Wrong(DomainProblem::OwnershipMissing);
const TIMEOUT: Option<DomainProblem> = Some(DomainProblem::VerificationTimeout);
const MISSING: Option<DomainProblem> = Some(DomainProblem::OwnershipMissing);
const ELSEWHERE: Option<DomainProblem> = Some(DomainProblem::ClaimedElsewhere);

/// Columns: status of the checked claim, statuses of the other claims, the records found; afterwards status and
/// problem of the checked claim and of the others.
#[rstest]
#[case::proven(PENDING, &[PENDING, FAILED, PENDING], RIGHT, (ACTIVE, None), &[(FAILED, ELSEWHERE), (FAILED, TIMEOUT), (FAILED, ELSEWHERE)])]
#[case::alone(PENDING, &[], RIGHT, (ACTIVE, None), &[])]
#[case::not_proven(PENDING, &[PENDING], WRONG, (PENDING, MISSING), &[(PENDING, None)])]
#[case::too_late(PENDING, &[ACTIVE, PENDING], RIGHT, (FAILED, ELSEWHERE), &[(ACTIVE, None), (PENDING, None)])]
#[case::hopeless(PENDING, &[ACTIVE], WRONG, (FAILED, ELSEWHERE), &[(ACTIVE, None)])]
#[case::unseen(PENDING, &[ACTIVE], DomainRecordsState::Nothing, (FAILED, ELSEWHERE), &[(ACTIVE, None)])]
#[case::still_right(ACTIVE, &[PENDING], RIGHT, (ACTIVE, None), &[(PENDING, None)])]
#[case::final_(FAILED, &[PENDING], RIGHT, (FAILED, TIMEOUT), &[(PENDING, None)])]
fn a_proof_ends_the_other_claims(
    #[case] status: DomainStatus,
    #[case] others: &[DomainStatus],
    #[case] records_state: DomainRecordsState,
    #[case] after: (DomainStatus, Option<DomainProblem>),
    #[case] others_after: &[(DomainStatus, Option<DomainProblem>)],
) {
    let others: Vec<_> = others.iter().zip(2..).map(|(status, key)| claim((key, key, *status))).collect();
    let claims: Vec<_> = [claim((OURS, 1, status))].into_iter().chain(others.clone()).collect();
    let check = DomainRecordsCheck {
        reason: DomainCheckReason::Requested(NOW),
        records_state,
        at: JudgedTime::trusted(NOW),
    };
    let outcome = apply_domain_check(claims, 1, check).unwrap();
    let short = |domain: &CustomDomain| (domain.status, domain.problem);
    assert_eq!((short(&outcome.domain), outcome.domain.asked_at), (after, Some(NOW)));
    let found = others.iter().map(|other| {
        let ended = outcome.ended.iter().find(|ended| ended.key == other.domain.key);
        short(ended.unwrap_or(&other.domain))
    });
    assert_eq!(found.collect::<Vec<_>>(), others_after);
    assert!(outcome.ended.iter().all(|ended| ended.next_check_at.is_none()), "no more looks");
}

#[test]
fn an_outdated_domain_check_is_ignored() {
    let claimed = claim((OURS, 1, PENDING));
    let check = |reason| DomainRecordsCheck { reason, records_state: RIGHT, at: JudgedTime::trusted(NOW) };
    let outcome = |key, check| apply_domain_check(vec![claimed.clone()], key, check);
    assert_eq!(outcome(1, check(DomainCheckReason::Due(Some(START)))), None);
    assert_eq!(outcome(7, check(DomainCheckReason::Requested(NOW))), None, "it was deleted");
    let counted = outcome(1, check(DomainCheckReason::Due(claimed.domain.next_check_at))).unwrap();
    assert_eq!((counted.domain.status, counted.domain.asked_at), (ACTIVE, None));
}
