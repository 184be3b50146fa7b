//! The facts behind events, and the position of each fact in the order of its kind.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::model::history::CheckRecord;
use crate::model::service::ServiceKey;
use crate::store::events::StoredEvent;
use crate::store::history::feed::NumberedChange;

/// A position in all sources of events: everything up to here is published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCursor {
    /// Number of the last published status change.
    pub change: i64,
    /// Number of the last published change of an incident or a maintenance.
    pub event: i64,
    /// Unix time in milliseconds: results stored by then are published.
    pub at_ms: i64,
}

/// A fact to publish as an event.
#[derive(Clone, Debug)]
pub struct EventFact {
    /// Database key of the organisation.
    pub organisation: i64,
    /// Cursor after this fact.
    pub cursor: EventCursor,
    /// The content: a status change, a result, or a change of an incident or a maintenance.
    pub what: FactContent,
}

/// The content of a fact, by kind.
#[derive(Clone, Debug)]
pub enum FactContent {
    /// A change of a service's measured status.
    Change(NumberedChange),
    /// A change of an incident or a maintenance.
    Event(StoredEvent),
    /// The result of a finished check.
    Result(Arc<CheckRecord>),
}

/// The identity of a fact, by which a listener receives each fact only once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FactIdentity {
    /// A status change, by its number.
    Change(i64),
    /// A change of an incident or a maintenance, by its number; if several changes are published as one event, by the
    /// number of the last of them.
    Event(i64),
    /// A result: service, location and start.
    Result(ServiceKey, String, Timestamp),
}

impl FactContent {
    /// Returns the identity of the fact, by which a listener receives each fact once.
    #[must_use]
    pub fn origin(&self) -> FactIdentity {
        match self {
            Self::Change(change) => FactIdentity::Change(change.number),
            Self::Event(event) => FactIdentity::Event(event.through),
            Self::Result(result) => {
                FactIdentity::Result(result.service, result.location.to_string(), result.checked_at)
            }
        }
    }

    /// Returns the services that the fact concerns, including those that it concerned before the change.
    pub fn services(&self) -> impl Iterator<Item = ServiceKey> {
        let (services, former): (&[ServiceKey], &[ServiceKey]) = match self {
            Self::Change(change) => (std::slice::from_ref(&change.change.service), &[]),
            Self::Event(event) => (&event.services, &event.former),
            Self::Result(result) => (std::slice::from_ref(&result.service), &[]),
        };
        services.iter().chain(former).copied()
    }
}
