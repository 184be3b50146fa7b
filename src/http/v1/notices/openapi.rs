//! Describes `/v1/notices`.

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{boolean, view};
use crate::http::v1::notices::view::NoticeView;

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http) fn chapter() -> ApiChapter {
    let about = "Events that are no incidents: certificates near their end, missed heartbeats, locations without network, \
        error budgets that burn too fast, uncovered periods of on-call schedules, problems of the monitor itself.";
    ApiChapter {
        name: "Notices",
        about,
        schemas: vec![("Notice", view::<NoticeView<'_>>())],
        operations: vec![
            ApiOperation::new(HttpVerb::Get, "/v1/notices", "list_notices", "List notices")
                .paged(DEFAULT_PER_PAGE)
                .asks(
                    "lasts",
                    boolean(),
                    "`true`: notices that are still active, `false`: those that have ended.",
                )
                .lists(
                    "Notices, the newest first; ended ones are kept for 90 days.",
                    "Notice",
                    &example(EXAMPLE),
                )
                .refuses(&[422]),
        ],
    }
}
