//! What the conditions of a check say about one answer, for people who try a check.
//!
//! Checks on schedule do not ask for it, so that it costs them nothing.

use std::sync::OnceLock;

use crate::probe::condition::{Condition, ConditionReport};
use crate::probe::fact::FactSource;

/// The conditions of a running check, and the place for what each of them says, if it is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckConditions<'a> {
    /// The conditions, in their order.
    pub(crate) all: &'a [Condition],
    /// Receives the reports as soon as the target has answered.
    pub(crate) reports: Option<&'a OnceLock<Vec<ConditionReport>>>,
}

impl CheckConditions<'_> {
    /// Stores the reports, if they are wanted.
    pub(crate) fn report(self, facts: &impl FactSource) {
        if let Some(reports) = self.reports {
            reports.get_or_init(|| self.all.iter().map(|condition| condition.report(facts)).collect());
        }
    }
}
