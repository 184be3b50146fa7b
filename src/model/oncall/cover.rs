//! Cover requests: a contact asks another contact, or all contacts of a schedule, to take over for a time.
//!
//! The first contact to accept takes over; later answers are refused with the reason. A request that all requested contacts
//! have declined is closed. An open request expires when its time is over; this status is computed and never stored.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::notification::routing::ResourceReference;
use crate::model::oncall::entry::NamedSchedule;
use crate::model::time_range::TimeRange;
use crate::model::word_enum::words;

/// Permitted number of characters of a note.
pub const NOTE_LENGTH: RangeInclusive<usize> = 1..=1_000;

words! {
    /// The status of a cover request.
    pub enum CoverStatus {
        /// No contact has accepted yet.
        Open,
        /// A contact has accepted.
        Accepted,
        /// All requested contacts have declined.
        Declined,
        /// The request was withdrawn.
        Cancelled,
        /// The time to be covered is over, and no contact has accepted.
        Expired,
    }
}

/// A cover request as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverRequest {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the request.
    pub organisation: i64,
    /// The schedule whose duty is to be covered.
    pub schedule: NamedSchedule,
    /// The contact who makes the request.
    pub contact: NamedContact,
    /// The time to be covered.
    pub range: TimeRange,
    /// A note of the requesting contact.
    pub note: Option<String>,
    /// The requested contacts, at least one.
    pub asked: Vec<CoverCandidate>,
    /// The stored status; never `expired`.
    pub outcome: CoverStatus,
    /// The contact who accepted; `None` if none has, or if that contact was deleted.
    pub accepted_by: Option<NamedContact>,
    /// The override that the acceptance created; `None` without one, or if it was deleted.
    pub placed: Option<ResourceReference>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A contact who is asked to take over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoverCandidate {
    /// Key and id of the contact.
    pub contact: ResourceReference,
    /// The time at which the contact declined; `None` if it has not.
    pub declined_at: Option<Timestamp>,
}

/// The reason why an answer to a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverError {
    /// The request is no longer open; with its status.
    Over(CoverStatus),
    /// The contact was not requested.
    NotAsked,
}

impl CoverRequest {
    /// Returns the status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> CoverStatus {
        let is_late = self.outcome == CoverStatus::Open && self.range.to <= now;
        if is_late { CoverStatus::Expired } else { self.outcome }
    }

    /// The time that a contact covers who accepts now: the rest of the requested time.
    #[must_use]
    pub fn covered(&self, now: Timestamp) -> TimeRange {
        TimeRange { from: self.range.from.max(now), to: self.range.to }
    }

    /// Accepts the request for a contact, even if the contact declined it before.
    ///
    /// # Errors
    /// If the request is no longer open, or the contact was not requested.
    pub fn accept(&self, contact: &NamedContact, now: Timestamp) -> Result<Self, CoverError> {
        self.ensure_answerable(contact.key, now)?;
        let accepted_by = Some(contact.clone());
        Ok(Self { outcome: CoverStatus::Accepted, accepted_by, updated_at: now, ..self.clone() })
    }

    /// Declines the request for a contact.
    ///
    /// # Errors
    /// If the request is no longer open, or the contact was not requested.
    pub fn decline(&self, contact: &NamedContact, now: Timestamp) -> Result<Self, CoverError> {
        self.ensure_answerable(contact.key, now)?;
        let mut declined = Self { updated_at: now, ..self.clone() };
        for asked in declined.asked.iter_mut().filter(|asked| asked.contact.key == contact.key) {
            asked.declined_at.get_or_insert(now);
        }
        if declined.asked.iter().all(|asked| asked.declined_at.is_some()) {
            declined.outcome = CoverStatus::Declined;
        }
        Ok(declined)
    }

    /// Withdraws the request.
    ///
    /// # Errors
    ///
    /// If the request is no longer open.
    pub fn cancel(&self, now: Timestamp) -> Result<Self, CoverError> {
        self.open(now)?;
        Ok(Self { outcome: CoverStatus::Cancelled, updated_at: now, ..self.clone() })
    }

    fn open(&self, now: Timestamp) -> Result<(), CoverError> {
        match self.status(now) {
            CoverStatus::Open => Ok(()),
            over => Err(CoverError::Over(over)),
        }
    }

    fn ensure_answerable(&self, contact: i64, now: Timestamp) -> Result<(), CoverError> {
        self.open(now)?;
        let is_asked = self.asked.iter().any(|asked| asked.contact.key == contact);
        if is_asked { Ok(()) } else { Err(CoverError::NotAsked) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_ms(1_800_000_000_000 + hour * 3_600_000)
    }

    fn contact(key: i64) -> NamedContact {
        NamedContact { key, id: Id::random(), name: format!("Contact {key}") }
    }

    /// Contact 1 asks contacts 2 and 3 to cover the hours 10 to 20.
    fn request(outcome: CoverStatus, declined: &[i64]) -> CoverRequest {
        let asked = |key: i64| CoverCandidate {
            contact: ResourceReference { key, id: Id::random() },
            declined_at: declined.contains(&key).then(|| at(0)),
        };
        CoverRequest {
            key: 1,
            id: Id::random(),
            organisation: 1,
            schedule: NamedSchedule { key: 1, id: Id::random(), name: "Shop".into() },
            contact: contact(1),
            range: TimeRange { from: at(10), to: at(20) },
            note: None,
            asked: vec![asked(2), asked(3)],
            outcome,
            accepted_by: None,
            placed: None,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    /// Cases: the stored status, the contacts who have declined, the hour of the acceptance, the accepting contact; the
    /// result.
    #[rstest]
    #[case::before_its_time(CoverStatus::Open, &[], 1, 2, Ok(CoverStatus::Accepted))]
    #[case::during_its_time(CoverStatus::Open, &[], 19, 3, Ok(CoverStatus::Accepted))]
    #[case::after_its_time(CoverStatus::Open, &[], 20, 2, Err(CoverError::Over(CoverStatus::Expired)))]
    #[case::second_thoughts(CoverStatus::Open, &[2], 1, 2, Ok(CoverStatus::Accepted))]
    #[case::the_requester_itself(CoverStatus::Open, &[], 1, 1, Err(CoverError::NotAsked))]
    #[case::too_late(CoverStatus::Accepted, &[], 1, 2, Err(CoverError::Over(CoverStatus::Accepted)))]
    #[case::cancelled(CoverStatus::Cancelled, &[], 1, 2, Err(CoverError::Over(CoverStatus::Cancelled)))]
    fn the_first_acceptance_closes_the_request(
        #[case] outcome: CoverStatus,
        #[case] declined: &[i64],
        #[case] hour: i64,
        #[case] by: i64,
        #[case] expected: Result<CoverStatus, CoverError>,
    ) {
        let accepted = request(outcome, declined).accept(&contact(by), at(hour));
        assert_eq!(accepted.map(|accepted| accepted.outcome), expected);
    }

    /// Cases: the contacts who have declined, the contact who declines now; the result.
    #[rstest]
    #[case::the_first(&[], 2, Ok(CoverStatus::Open))]
    #[case::twice(&[2], 2, Ok(CoverStatus::Open))]
    #[case::the_last(&[3], 2, Ok(CoverStatus::Declined))]
    #[case::not_asked(&[], 4, Err(CoverError::NotAsked))]
    fn a_request_declined_by_all_is_declined(
        #[case] declined: &[i64],
        #[case] by: i64,
        #[case] expected: Result<CoverStatus, CoverError>,
    ) {
        let answered = request(CoverStatus::Open, declined).decline(&contact(by), at(1));
        assert_eq!(answered.map(|answered| answered.outcome), expected);
    }
}
