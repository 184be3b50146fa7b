//! Filters of lists of overrides, absences and cover requests. The form of ids is checked first, then the ids are looked up.

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::linked_ids::read_id_filter;
use crate::http::kit::query::QueryString;
use crate::http::openapi::operation::ApiOperation;
use crate::http::openapi::shape::{id, instant};
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::id::Id;
use crate::store::oncall::window::OncallFilter;

/// A filter whose ids are not looked up yet.
pub(super) struct OncallQuery {
    schedules: Option<Vec<Id>>,
    contacts: Option<Vec<Id>>,
    filter: OncallFilter,
}

pub(super) fn read(query: &QueryString, errors: &mut FieldErrors) -> OncallQuery {
    let schedules = read_id_filter(query, "schedule_ids", errors);
    let contacts = read_id_filter(query, "contact_ids", errors);
    let (from, to) = query.period(errors);
    OncallQuery { schedules, contacts, filter: OncallFilter { from, to, ..OncallFilter::default() } }
}

impl OncallQuery {
    /// Looks up the ids, and ignores unknown ones.
    pub(super) fn resolve(self, known: &OncallLinks) -> OncallFilter {
        let Self { schedules, contacts, filter } = self;
        OncallFilter {
            schedules: schedules.map(|ids| known.schedule_keys(&ids)),
            contacts: contacts.map(|ids| known.contact_keys(&ids)),
            ..filter
        }
    }
}

/// Adds the filters of lists whose rows belong to schedules and contacts.
pub(super) fn by_schedule(operation: ApiOperation) -> ApiOperation {
    by_contact(operation.asks_list("schedule_ids", id(), "Only those of these schedules."))
}

/// Adds the filters of lists whose rows belong to contacts.
pub(super) fn by_contact(operation: ApiOperation) -> ApiOperation {
    operation
        .asks_list("contact_ids", id(), "Only those of these contacts.")
        .asks("from", instant(), "Only what ends later.")
        .asks("to", instant(), "Only what begins earlier.")
}
