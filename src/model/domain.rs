//! A custom host name of a status page (contract 4.15): the times of its checks, and the effect of a check.
//!
//! An inconclusive check never changes the status of a domain: trouble of this installation must not fail it.

use crate::clock::guard::JudgedTime;
use crate::clock::{DAY_MS, Timestamp};
use crate::id::Id;
use crate::model::word_enum::words;

pub mod claims;

/// Number of characters of the value of a TXT record.
pub const TXT_VALUE_LENGTH: usize = 40;

const MINUTE_MS: i64 = 60_000;
/// Times of the first checks of a pending domain, in minutes after it was attached; later checks are hourly.
const FIRST_CHECKS_MINUTES: [i64; 5] = [1, 2, 5, 10, 30];
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// The longest time between two checks, in milliseconds. A check that is further away was planned before the clock
/// was set back.
pub const LONGEST_PAUSE_MS: i64 = DAY_MS;
/// The time, in milliseconds, after which a pending domain without right records fails, and an active domain whose
/// records have become wrong.
const PATIENCE_MS: i64 = 7 * DAY_MS;
/// Shortest time between two checks requested by a client, in milliseconds.
const COOLDOWN_MS: i64 = 10_000;

const TXT_ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

words! {
    /// The state of a domain.
    pub enum DomainStatus {
        /// The records have not been right yet.
        PendingVerification,
        /// Both records are right: the page is served under this name.
        Active,
        /// The records were wrong for too long, or the name belongs to another organisation. Checks no longer change this.
        Failed,
    }
}

words! {
    /// A fault of a domain's records.
    pub enum DomainProblem {
        /// The host name does not resolve.
        NoRecords,
        /// The host name resolves to another target.
        WrongTarget,
        /// The TXT record is absent or different.
        OwnershipMissing,
        /// DNSSEC validation fails.
        Dnssec,
        /// The records were not right within a week after the domain was attached.
        VerificationTimeout,
        /// The records of an active domain were wrong for a week.
        StaleTimeout,
        /// Another organisation has proven the name.
        ClaimedElsewhere,
    }
}

/// The result of a check of a domain's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainRecordsState {
    /// Both records are right.
    Right,
    /// The records are wrong; this is the first fault found.
    Wrong(DomainProblem),
    /// The check was inconclusive, which is not the domain's fault.
    Nothing,
}

/// A host name attached to a status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomDomain {
    /// Database key.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the page.
    pub statuspage: i64,
    /// The host name in lower case, such as `status.example.com`.
    pub hostname: String,
    /// State according to the checks so far.
    pub status: DomainStatus,
    /// The value that the TXT record must have.
    pub txt_value: String,
    /// The time since which the domain is active; `None` in other states.
    pub verified_at: Option<Timestamp>,
    /// The fault of its records; `None` before the first check and while active.
    pub problem: Option<DomainProblem>,
    /// The time of the next check; `None` = never.
    pub next_check_at: Option<Timestamp>,
    /// The time since which an active domain's records are wrong; `None` while they are right.
    pub wrong_since: Option<Timestamp>,
    /// The time at which a client last requested a check; `None` = never.
    pub asked_at: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl CustomDomain {
    /// A domain that has just been attached; its `key` is assigned by the database.
    #[must_use]
    pub fn attached(statuspage: i64, hostname: String, now: Timestamp) -> Self {
        Self {
            key: 0,
            id: Id::random(),
            statuspage,
            hostname,
            status: DomainStatus::PendingVerification,
            txt_value: txt_value(),
            verified_at: None,
            problem: None,
            next_check_at: Some(next_pending_check(now, now)),
            wrong_since: None,
            asked_at: None,
            created_at: now,
        }
    }

    /// Returns the domain after a check, without regard to other claims of its name (see `claims`).
    #[must_use]
    pub fn after_check(&self, records_state: DomainRecordsState, time: JudgedTime) -> Self {
        match self.status {
            DomainStatus::PendingVerification => self.after_pending_check(records_state, time),
            DomainStatus::Active => self.after_active_check(records_state, time),
            DomainStatus::Failed => self.clone(),
        }
    }

    fn after_pending_check(&self, records_state: DomainRecordsState, time: JudgedTime) -> Self {
        let now = time.at;
        let next_check_at = Some(next_pending_check(self.created_at, now));
        match records_state {
            DomainRecordsState::Right => Self {
                status: DomainStatus::Active,
                verified_at: Some(now),
                problem: None,
                next_check_at: Some(now.plus_ms(DAY_MS)),
                ..self.clone()
            },
            DomainRecordsState::Wrong(_) if is_over(self.created_at, time) => {
                self.failed(DomainProblem::VerificationTimeout)
            }
            DomainRecordsState::Wrong(problem) => {
                Self { problem: Some(problem), next_check_at, ..self.clone() }
            }
            // A domain that was never checked conclusively is shown as not resolving; an earlier problem stays.
            DomainRecordsState::Nothing => {
                let problem = self.problem.or(Some(DomainProblem::NoRecords));
                Self { problem, next_check_at, ..self.clone() }
            }
        }
    }

    fn after_active_check(&self, records_state: DomainRecordsState, time: JudgedTime) -> Self {
        let now = time.at;
        let tomorrow = now.plus_ms(DAY_MS);
        match records_state {
            DomainRecordsState::Right => {
                Self { wrong_since: None, next_check_at: Some(tomorrow), ..self.clone() }
            }
            DomainRecordsState::Wrong(_) => {
                // A time in the future was stored before the clock was set back.
                let since = self.wrong_since.unwrap_or(time.best).min(time.best);
                if is_over(since, time) {
                    return self.failed(DomainProblem::StaleTimeout);
                }
                let deadline = since.plus_ms(PATIENCE_MS);
                let next_check_at = Some(if deadline > now { tomorrow.min(deadline) } else { tomorrow });
                Self { wrong_since: Some(since), next_check_at, ..self.clone() }
            }
            DomainRecordsState::Nothing => Self { next_check_at: Some(now.plus_ms(HOUR_MS)), ..self.clone() },
        }
    }

    fn failed(&self, problem: DomainProblem) -> Self {
        Self {
            status: DomainStatus::Failed,
            verified_at: None,
            problem: Some(problem),
            next_check_at: None,
            wrong_since: None,
            ..self.clone()
        }
    }

    /// Whole seconds until a client may request a check again; `None` = now.
    #[must_use]
    pub fn cooldown_seconds(&self, now: Timestamp) -> Option<u64> {
        let since_ms = now.ms_since(self.asked_at?);
        let left_ms = u64::try_from(COOLDOWN_MS - since_ms).ok().filter(|left| *left > 0)?;
        // A clock that was set back must not lock the domain.
        (since_ms >= 0).then(|| left_ms.div_ceil(1_000))
    }
}

/// Returns true if `now` is trusted and at least a week after `since`.
const fn is_over(since: Timestamp, now: JudgedTime) -> bool {
    now.is_trusted && now.at.ms_since(since) >= PATIENCE_MS
}

/// The time of the next check of a domain that waits for its records.
fn next_pending_check(created_at: Timestamp, now: Timestamp) -> Timestamp {
    // A domain that was attached before the clock was set back counts as new.
    let created_at = created_at.min(now);
    let deadline = created_at.plus_ms(PATIENCE_MS);
    let mut first = FIRST_CHECKS_MINUTES.into_iter().map(|minutes| created_at.plus_ms(minutes * MINUTE_MS));
    let next = first.find(|at| *at > now).unwrap_or_else(|| {
        let hours_from = created_at.plus_ms(FIRST_CHECKS_MINUTES[FIRST_CHECKS_MINUTES.len() - 1] * MINUTE_MS);
        let past_hours = now.ms_since(hours_from) / HOUR_MS;
        hours_from.plus_ms((past_hours + 1) * HOUR_MS)
    });
    if deadline > now { next.min(deadline) } else { next }
}

/// Draws 40 random letters and digits.
fn txt_value() -> String {
    std::iter::repeat_with(|| Id::random().stable_hash())
        .flat_map(u64::to_le_bytes)
        .filter_map(|byte| TXT_ALPHABET.get(usize::from(byte & 63)))
        .take(TXT_VALUE_LENGTH)
        .map(|letter| char::from(*letter))
        .collect()
}

#[cfg(test)]
mod tests;
