//! What events tell of, and the place of each in the order of its kind.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::model::history::CheckRecord;
use crate::model::service::ServiceKey;
use crate::store::events::Event;
use crate::store::history::feed::NumberedChange;

/// How far somebody has been told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Number of a status change: all of those up to it have been told.
    pub change: i64,
    /// Number of what became of an incident or a maintenance: all up to it has been told.
    pub event: i64,
    /// The time at which this was so, in Unix milliseconds: results stored by then have been told.
    pub at_ms: i64,
}

/// Something that events tell of.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Database key of the organisation.
    pub organisation: i64,
    /// How far whoever has been told this has been told.
    pub cursor: Cursor,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum What {
    /// The measured status of a service has changed.
    Change(NumberedChange),
    /// Something became of an incident or a maintenance.
    Event(Event),
    /// A check has ended.
    Result(Arc<CheckRecord>),
}

/// The identity of a fact: what is told once is not told again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A status change, by its number.
    Change(i64),
    /// What became of an incident or a maintenance, by the number of the last change that is told with it.
    Event(i64),
    /// A result: service, location and start.
    Result(ServiceKey, String, Timestamp),
}

impl What {
    /// Its identity.
    #[must_use]
    pub fn origin(&self) -> Origin {
        match self {
            Self::Change(change) => Origin::Change(change.number),
            Self::Event(event) => Origin::Event(event.through),
            Self::Result(result) => {
                Origin::Result(result.service, result.location.to_string(), result.checked_at)
            }
        }
    }

    /// The services that it concerns, and those that it concerned until then.
    pub fn services(&self) -> impl Iterator<Item = ServiceKey> {
        let (services, former): (&[ServiceKey], &[ServiceKey]) = match self {
            Self::Change(change) => (std::slice::from_ref(&change.change.service), &[]),
            Self::Event(event) => (&event.services, &event.former),
            Self::Result(result) => (std::slice::from_ref(&result.service), &[]),
        };
        services.iter().chain(former).copied()
    }
}
