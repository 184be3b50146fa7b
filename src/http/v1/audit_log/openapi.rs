//! Describes `/v1/audit-log`.

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{instant, string, view};
use crate::http::v1::audit_log::view::AuditEntryView;

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http) fn chapter() -> ApiChapter {
    let about = "Who changed what, from where, with old and new values. An entry is written with its change, in one \
        transaction; refused requests leave none. Entries are kept for 400 days.";
    ApiChapter {
        name: "Audit log",
        about,
        schemas: vec![("AuditEntry", view::<AuditEntryView<'_>>())],
        operations: vec![
            ApiOperation::new(HttpVerb::Get, "/v1/audit-log", "list_audit_log", "List changes")
                .paged(DEFAULT_PER_PAGE)
                .asks(
                    "actor",
                    string(),
                    "Only changes by this user or token (id), or by actors of this kind.",
                )
                .asks("object", string(), "Only changes of this object (id), or of objects of this kind.")
                .asks("action", string(), "Only this action.")
                .asks("from", instant(), "Only changes at this time or later.")
                .asks("to", instant(), "Only changes before this time.")
                .lists("Changes, the newest first.", "AuditEntry", &example(EXAMPLE))
                .refuses(&[422]),
        ],
    }
}
