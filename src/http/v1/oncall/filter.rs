//! Filters of lists of overrides, absences and cover requests: forms are checked first, then the existence of ids.

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::linked::read_id_filter;
use crate::http::kit::query::Query;
use crate::http::openapi::operation::Operation;
use crate::http::openapi::shape::{id, instant};
use crate::http::v1::oncall::known::Known;
use crate::id::Id;
use crate::store::oncall::window::Filter;

/// A filter whose ids have not been looked up yet.
pub(super) struct Asked {
    schedules: Option<Vec<Id>>,
    contacts: Option<Vec<Id>>,
    filter: Filter,
}

/// Reads the query string.
pub(super) fn read(query: &Query, errors: &mut FieldErrors) -> Asked {
    let schedules = read_id_filter(query, "schedule_ids", errors);
    let contacts = read_id_filter(query, "contact_ids", errors);
    let (from, to) = query.period(errors);
    Asked { schedules, contacts, filter: Filter { from, to, ..Filter::default() } }
}

impl Asked {
    /// Looks up the ids; unknown ones are ignored.
    pub(super) fn resolve(self, known: &Known) -> Filter {
        let Self { schedules, contacts, filter } = self;
        Filter {
            schedules: schedules.map(|ids| known.schedule_keys(&ids)),
            contacts: contacts.map(|ids| known.contact_keys(&ids)),
            ..filter
        }
    }
}

/// Adds the filters of a list of items of schedules.
pub(super) fn by_schedule(operation: Operation) -> Operation {
    by_contact(operation.asks_list("schedule_ids", id(), "Only those of these schedules."))
}

/// Adds the filters of a list of items of contacts.
pub(super) fn by_contact(operation: Operation) -> Operation {
    operation
        .asks_list("contact_ids", id(), "Only those of these contacts.")
        .asks("from", instant(), "Only what ends later.")
        .asks("to", instant(), "Only what begins earlier.")
}
