//! A page of a list of measurements that is paged by cursor, newest rows first.

use serde::Serialize;

use crate::http::kit::query::QueryString;

/// The rows of a page, with the link to older rows.
#[derive(Serialize)]
pub(super) struct CursorPage<T> {
    data: Vec<T>,
    links: CursorLinksView,
    meta: CursorMetaView,
}

/// URLs of other pages; only the URL of the next page is ever set.
#[derive(Serialize)]
struct CursorLinksView {
    first: Option<String>,
    last: Option<String>,
    prev: Option<String>,
    next: Option<String>,
}

/// The size of the page, and the cursor of the next page.
#[derive(Serialize)]
struct CursorMetaView {
    per_page: u64,
    next_cursor: Option<String>,
}

impl<T> CursorPage<T> {
    /// Creates a page of the list at this URL with this query; `next_cursor` is set if there are older rows.
    pub(super) fn of(
        data: Vec<T>,
        per_page: u64,
        next_cursor: Option<String>,
        address: &str,
        query: &QueryString,
    ) -> Self {
        let next = next_cursor
            .as_ref()
            .map(|cursor| format!("{address}?{}cursor={cursor}", query.encoded_without("cursor")));
        let links = CursorLinksView { first: None, last: None, prev: None, next };
        Self { data, links, meta: CursorMetaView { per_page, next_cursor } }
    }
}
