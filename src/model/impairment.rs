//! The rule by which a location detects that it has lost its own network.
//!
//! A location probes its reference targets, which are hosts that have nothing to do with any service. A reference that
//! has answered within `PROOF_MS` is proven. When no proven reference answers any longer, the location is impaired, and
//! its failing checks are no data until a reference answers again. The silence of a reference that has never answered
//! means nothing, so a gateway that ignores pings impairs no location.
//!
//! Times are milliseconds of a steady clock with an arbitrary origin. Pure: nothing is probed or awaited here.

/// Time in milliseconds for which a reference is proven after its last answer.
pub const PROOF_MS: u64 = 6 * 3_600_000;
/// A failure that was an answer, such as a refusal, is believed at once if the references were probed at most this many
/// milliseconds before.
pub const FRESH_MS: u64 = 1_000;

/// The reference targets of one location, and whether the location is impaired.
#[derive(Clone, Debug)]
pub struct ImpairmentDetector<K> {
    references: Vec<ReferenceState<K>>,
    /// Start of the newest probe of the references; `None` before the first probe.
    checked_ms: Option<u64>,
    standing: ImpairmentState,
    /// Time at which the last impairment ended; `None` = no impairment has ended yet.
    recovered_ms: Option<u64>,
}

#[derive(Clone, Debug)]
struct ReferenceState<K> {
    key: K,
    answered_ms: Option<u64>,
    /// True if the reference was in the list set last; a former reference is kept while it is proven.
    is_current: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImpairmentState {
    Well,
    Impaired {
        /// True if a check of another host was up during the impairment, so the references may be wrong.
        is_doubted: bool,
    },
}

/// The result of probing one reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAnswer {
    /// The reference answered in time.
    Answered,
    /// The reference did not answer in time, or there is no route to it.
    Silent,
    /// The reference could not be probed, because this host lacked a resource that has nothing to do with the network.
    Unasked,
}

/// A change of the state of the location after a probe of its references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpairmentChange {
    /// No proven reference answers any longer.
    Impaired,
    /// A reference answers again, or the references turned out to be wrong.
    Recovered,
}

/// An attempt of a check that was not up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Start of the attempt, in milliseconds.
    pub started_ms: u64,
    /// End of the attempt, in milliseconds.
    pub failed_ms: u64,
    /// True if a dead network has the same symptoms: silence, no route, a broken connection.
    pub may_be_the_network: bool,
}

/// Attribution of a failed check: to its target, or to the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureJudgement {
    /// The failure counts against the target.
    Believed,
    /// The failure does not count, because the location was impaired at some time during the check.
    Impaired,
    /// Undecided until the references have been probed again.
    LookFirst,
}

impl<K: Clone + PartialEq> Default for ImpairmentDetector<K> {
    fn default() -> Self {
        Self { references: Vec::new(), checked_ms: None, standing: ImpairmentState::Well, recovered_ms: None }
    }
}

impl<K: Clone + PartialEq> ImpairmentDetector<K> {
    /// Sets the references to probe from now on. A former reference that is proven is still probed until one of the new
    /// references answers, because a host that has lost its cable has also lost its gateway from the routes.
    pub fn set_references(&mut self, current: &[K], now_ms: u64) {
        self.references.retain_mut(|known| {
            known.is_current = current.contains(&known.key);
            known.is_current || known.is_proven(now_ms)
        });
        for key in current {
            if self.references.iter().all(|known| known.key != *key) {
                self.references.push(ReferenceState {
                    key: key.clone(),
                    answered_ms: None,
                    is_current: true,
                });
            }
        }
    }

    /// Returns the references to probe, including former ones that are kept.
    #[must_use]
    pub fn references_to_ask(&self) -> Vec<K> {
        self.references.iter().map(|known| known.key.clone()).collect()
    }

    /// Returns true if the location has lost its network.
    #[must_use]
    pub const fn is_impaired(&self) -> bool {
        matches!(self.standing, ImpairmentState::Impaired { .. })
    }

    /// Returns true if a reference is proven at `now_ms`.
    #[must_use]
    pub fn has_proof(&self, now_ms: u64) -> bool {
        self.references.iter().any(|known| known.is_proven(now_ms))
    }

    /// Returns the start of the newest probe of the references; `None` before the first probe.
    #[must_use]
    pub const fn checked_ms(&self) -> Option<u64> {
        self.checked_ms
    }

    /// Records a probe of the references and returns the change that follows. One answer proves that the network works;
    /// references missing in `answers` were not waited for.
    pub fn note_reference_check(
        &mut self,
        began_ms: u64,
        now_ms: u64,
        answers: &[(K, ReferenceAnswer)],
    ) -> Option<ImpairmentChange> {
        self.checked_ms = self.checked_ms.max(Some(began_ms));
        let is_answered = self.note_answers(now_ms, answers);
        let is_lost = !is_answered && self.is_silent(now_ms, answers);
        match self.standing {
            ImpairmentState::Well if is_lost => {
                self.standing = ImpairmentState::Impaired { is_doubted: false };
                Some(ImpairmentChange::Impaired)
            }
            ImpairmentState::Impaired { is_doubted }
                if is_answered || (is_doubted && !self.has_proof(now_ms)) =>
            {
                self.standing = ImpairmentState::Well;
                self.recovered_ms = Some(now_ms);
                Some(ImpairmentChange::Recovered)
            }
            _ => None,
        }
    }

    /// Records that a check of another host was up. If the location is impaired, its references may then be wrong: the
    /// impairment ends with the first probe at which no reference is proven any longer.
    pub const fn note_up(&mut self) {
        if self.is_impaired() {
            self.standing = ImpairmentState::Impaired { is_doubted: true };
        }
    }

    /// Decides whether a failure counts against the target.
    #[must_use]
    pub fn judge(&self, failed: FailedAttempt) -> FailureJudgement {
        let FailedAttempt { started_ms, failed_ms, may_be_the_network } = failed;
        if self.is_impaired() || self.recovered_ms.is_some_and(|at| at >= started_ms) {
            return FailureJudgement::Impaired;
        }
        let since_ms = if may_be_the_network { failed_ms } else { failed_ms.saturating_sub(FRESH_MS) };
        if !self.has_proof(failed_ms) || self.checked_ms.is_some_and(|at| at >= since_ms) {
            return FailureJudgement::Believed;
        }
        FailureJudgement::LookFirst
    }

    /// Records the references that answered; returns true if any did.
    fn note_answers(&mut self, now_ms: u64, answers: &[(K, ReferenceAnswer)]) -> bool {
        let has_answered = |key: &K| answers.contains(&(key.clone(), ReferenceAnswer::Answered));
        let (mut is_answered, mut by_current) = (false, false);
        for known in self.references.iter_mut().filter(|known| has_answered(&known.key)) {
            known.answered_ms = Some(now_ms);
            is_answered = true;
            by_current |= known.is_current;
        }
        if by_current {
            self.references.retain(|known| known.is_current);
        }
        is_answered
    }

    /// Returns true if at least one reference is proven, and every proven reference was probed without an answer.
    fn is_silent(&self, now_ms: u64, answers: &[(K, ReferenceAnswer)]) -> bool {
        let is_silent =
            |known: &ReferenceState<K>| answers.contains(&(known.key.clone(), ReferenceAnswer::Silent));
        self.has_proof(now_ms)
            && self.references.iter().filter(|known| known.is_proven(now_ms)).all(is_silent)
    }
}

impl<K> ReferenceState<K> {
    fn is_proven(&self, now_ms: u64) -> bool {
        self.answered_ms.is_some_and(|at| now_ms.saturating_sub(at) <= PROOF_MS)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::ReferenceAnswer::{Answered, Silent, Unasked};
    use super::*;

    /// A location with the references a and b, of which `proven` have answered at second 0.
    fn location(proven: &[&'static str]) -> ImpairmentDetector<&'static str> {
        let mut location = ImpairmentDetector::default();
        location.set_references(&["a", "b"], 0);
        let answers: Vec<_> = proven.iter().map(|key| (*key, Answered)).collect();
        assert_eq!(location.note_reference_check(0, 0, &answers), None);
        location
    }

    /// Columns: references that have answered before, the answers of a and b a minute later, and whether the location is
    /// then impaired.
    #[rstest]
    #[case::none_ever_responded(&[], Silent, Silent, false)]
    #[case::the_only_proven_one_is_silent(&["a"], Silent, Silent, true)]
    #[case::one_that_never_answered_answers_now(&["a"], Silent, Answered, false)]
    #[case::one_that_never_answered_is_silent(&["a"], Answered, Silent, false)]
    #[case::one_of_two_is_silent(&["a", "b"], Silent, Answered, false)]
    #[case::both_are_silent(&["a", "b"], Silent, Silent, true)]
    #[case::one_of_two_could_not_be_checked(&["a", "b"], Silent, Unasked, false)]
    #[case::an_unproven_one_could_not_be_checked(&["a"], Silent, Unasked, true)]
    #[case::none_could_be_checked(&["a", "b"], Unasked, Unasked, false)]
    fn a_location_is_impaired_when_no_proven_reference_responds(
        #[case] proven: &[&'static str],
        #[case] a: ReferenceAnswer,
        #[case] b: ReferenceAnswer,
        #[case] is_impaired: bool,
    ) {
        let mut location = location(proven);
        let change = location.note_reference_check(60_000, 61_000, &[("a", a), ("b", b)]);
        assert_eq!(
            (change, location.is_impaired()),
            (is_impaired.then_some(ImpairmentChange::Impaired), is_impaired)
        );
    }

    /// Columns: answers of the references a and b of an impaired location, and whether the impairment ends.
    #[rstest]
    #[case::the_proven_one(Answered, Silent, true)]
    #[case::the_other_one(Silent, Answered, true)]
    #[case::none_responds(Silent, Silent, false)]
    #[case::none_could_be_checked(Unasked, Unasked, false)]
    fn one_response_ends_the_impairment(
        #[case] a: ReferenceAnswer,
        #[case] b: ReferenceAnswer,
        #[case] is_well: bool,
    ) {
        let mut location = location(&["a"]);
        location.note_reference_check(60_000, 61_000, &[("a", Silent), ("b", Silent)]);
        let change = location.note_reference_check(62_000, 62_500, &[("a", a), ("b", b)]);
        assert_eq!(change, is_well.then_some(ImpairmentChange::Recovered));
        assert_eq!(location.is_impaired(), !is_well);
    }

    /// The references were probed at second 100, and one answered. `started_ms` and `failed_ms` are the start and end of a
    /// failed attempt of a check.
    #[rstest]
    #[case::silence_before_the_reference_check(90_000, 100_000, true, FailureJudgement::Believed)]
    #[case::silence_after_the_reference_check(99_000, 100_001, true, FailureJudgement::LookFirst)]
    #[case::a_response_shortly_after_the_reference_check(100_500, 101_000, false, FailureJudgement::Believed)]
    #[case::a_response_longer_after_the_reference_check(100_500, 101_001, false, FailureJudgement::LookFirst)]
    fn a_failure_counts_after_a_newer_reference_check(
        #[case] started_ms: u64,
        #[case] failed_ms: u64,
        #[case] may_be_the_network: bool,
        #[case] belief: FailureJudgement,
    ) {
        let mut location = location(&["a"]);
        location.note_reference_check(100_000, 100_001, &[("a", Answered)]);
        assert_eq!(location.judge(FailedAttempt { started_ms, failed_ms, may_be_the_network }), belief);
    }

    /// The location is impaired from second 60 to second 70.
    #[rstest]
    #[case::while_it_was(61_000, 62_000, FailureJudgement::Impaired)]
    #[case::until_after_it(69_000, 70_500, FailureJudgement::Impaired)]
    #[case::across_it(10_000, 70_500, FailureJudgement::Impaired)]
    #[case::after_it(70_001, 70_002, FailureJudgement::LookFirst)]
    fn a_failure_during_a_network_outage_never_counts(
        #[case] started_ms: u64,
        #[case] failed_ms: u64,
        #[case] belief: FailureJudgement,
    ) {
        let mut location = location(&["a"]);
        location.note_reference_check(60_000, 61_000, &[("a", Silent), ("b", Silent)]);
        let failed = FailedAttempt { started_ms: 1, failed_ms: 61_000, may_be_the_network: false };
        assert_eq!(location.judge(failed), FailureJudgement::Impaired);
        location.note_reference_check(69_999, 70_000, &[("a", Answered)]);
        assert_eq!(location.judge(FailedAttempt { started_ms, failed_ms, may_be_the_network: true }), belief);
    }

    #[test]
    fn without_proven_references_every_failure_counts_at_once() {
        let mut location = location(&[]);
        location.note_reference_check(1_000, 2_000, &[("a", Silent), ("b", Silent)]);
        let failed = FailedAttempt { started_ms: 90_000, failed_ms: 91_000, may_be_the_network: true };
        assert_eq!(location.judge(failed), FailureJudgement::Believed);
    }

    #[test]
    fn an_outdated_proof_does_not_count() {
        let mut location = location(&["a"]);
        let late_ms = PROOF_MS + 1;
        assert_eq!(location.note_reference_check(late_ms, late_ms, &[("a", Silent), ("b", Silent)]), None);
    }

    /// An impairment lasts even when the proof of the references has expired, unless a check of another host was up. The
    /// references are then wrong, such as a gateway that no longer answers pings.
    #[rstest]
    #[case::no_service_was_up(false, None)]
    #[case::a_service_was_up(true, Some(ImpairmentChange::Recovered))]
    fn wrong_references_do_not_impair_a_location_for_ever(
        #[case] was_up: bool,
        #[case] change: Option<ImpairmentChange>,
    ) {
        let mut location = location(&["a"]);
        let silent = [("a", Silent), ("b", Silent)];
        location.note_reference_check(60_000, 61_000, &silent);
        if was_up {
            location.note_up();
        }
        assert_eq!(location.note_reference_check(PROOF_MS, PROOF_MS, &silent), None);
        assert_eq!(location.note_reference_check(PROOF_MS + 1, PROOF_MS + 1, &silent), change);
    }

    /// The gateway disappears from the routes when the cable is unplugged; its silence still shows that the network is gone.
    #[test]
    fn a_removed_proven_reference_is_checked_until_another_one_responds() {
        let mut location = location(&["a"]);
        location.set_references(&[], 30_000);
        assert_eq!(location.references_to_ask(), ["a"]);
        assert_eq!(
            location.note_reference_check(30_000, 31_000, &[("a", Silent)]),
            Some(ImpairmentChange::Impaired)
        );
        location.set_references(&["c"], 60_000);
        assert_eq!(location.references_to_ask(), ["a", "c"]);
        let change = location.note_reference_check(60_000, 60_001, &[("a", Silent), ("c", Answered)]);
        assert_eq!((change, location.references_to_ask()), (Some(ImpairmentChange::Recovered), vec!["c"]));
    }
}
