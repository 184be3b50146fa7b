//! Page-based lists (contract 1.4): the requested rows, and the envelope with `links` and `meta`.
//!
//! Paging is never refused, not even in strict requests: invalid values are replaced by the defaults, and values out of
//! range by the nearest limit. The store counts and selects the rows.

use serde_json::{Value, json};

use crate::http::kit::query::QueryString;
use crate::store::PageWindow;

/// Rows per page unless the client or the resource says otherwise.
pub const DEFAULT_PER_PAGE: u64 = 15;
/// Largest number of rows per page.
pub const MAX_PER_PAGE: u64 = 100;

/// Largest page number; larger numbers are reduced to it. JSON clients can represent it exactly.
const MAX_PAGE: u64 = 1 << 53;

/// The requested page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Number of the page, from 1.
    pub page: u64,
    /// Number of rows on the page: 1 to 100, or the number of all rows of a whole collection.
    pub per_page: u64,
}

impl PageRequest {
    /// Reads `page` and `per_page`; values out of range are replaced by the nearest limit.
    #[must_use]
    pub fn read(query: &QueryString, default_per_page: u64) -> Self {
        Self {
            page: whole_number(query.plain_value("page")).map_or(1, |page| page.clamp(1, MAX_PAGE)),
            per_page: read_per_page(query, default_per_page),
        }
    }

    /// As [`PageRequest::read`] for a whole collection of `total` rows: all rows are on one page, unless `page` or
    /// `per_page` is sent.
    #[must_use]
    pub fn read_whole(query: &QueryString, total: u64) -> Self {
        if query.contains("page") || query.contains("per_page") {
            return Self::read(query, DEFAULT_PER_PAGE);
        }
        Self { page: 1, per_page: total.max(1) }
    }

    /// Returns the number of rows before the page; saturates at the largest number that a database accepts.
    #[must_use]
    pub fn offset(&self) -> u64 {
        (self.page - 1).saturating_mul(self.per_page).min(i64::MAX.cast_unsigned())
    }

    /// Returns offset and limit of the page.
    #[must_use]
    pub fn window(&self) -> PageWindow {
        PageWindow { offset: self.offset(), limit: self.per_page }
    }

    /// Returns the rows of the page out of a complete list.
    #[must_use]
    pub fn slice_rows<T>(&self, rows: Vec<T>) -> Vec<T> {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        rows.into_iter().skip(count(self.offset())).take(count(self.per_page)).collect()
    }
}

/// Reads `per_page` alone, for lists paged by cursor.
#[must_use]
pub fn read_per_page(query: &QueryString, default: u64) -> u64 {
    whole_number(query.plain_value("per_page")).map_or(default, |rows| rows.clamp(1, MAX_PER_PAGE))
}

/// Reads a whole number; a negative number counts as 0, a number out of range as the largest.
fn whole_number(text: Option<&str>) -> Option<u64> {
    let text = text?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(u64::MAX);
    Some(if text.starts_with('-') { 0 } else { size })
}

/// The response to a list request.
#[derive(Clone, Debug)]
pub struct PageEnvelope<'a> {
    /// The requested page.
    pub request: PageRequest,
    /// Number of rows of the whole list.
    pub total: u64,
    /// Absolute URL of the list without query: `meta.path`.
    pub path: &'a str,
    /// Parameters that are repeated in links.
    pub query: &'a QueryString,
}

impl PageEnvelope<'_> {
    /// Returns the body `{"data", "links", "meta"}`.
    #[must_use]
    pub fn envelope(&self, data: Vec<Value>) -> Value {
        let PageRequest { page, per_page } = self.request;
        let last_page = self.total.div_ceil(per_page).max(1);
        let rows = u64::try_from(data.len()).unwrap_or(u64::MAX);
        let first_row = (rows > 0).then(|| self.request.offset() + 1);
        let mut envelope = json!({
            "data": null,
            "links": {
                "first": self.link(1),
                "last": self.link(last_page),
                "prev": (page > 1).then(|| self.link((page - 1).min(last_page))),
                "next": (page < last_page).then(|| self.link(page + 1)),
            },
            "meta": {
                "current_page": page,
                "per_page": per_page,
                "total": self.total,
                "last_page": last_page,
                "from": first_row,
                "to": first_row.map(|first| first + rows - 1),
                "path": self.path,
            },
        });
        envelope["data"] = data.into();
        envelope
    }

    fn link(&self, page: u64) -> String {
        format!("{}?{}page={page}", self.path, self.query.encoded_without("page"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Contract 1.4: the parameters.
    #[rstest]
    #[case("", 1, 15)]
    #[case("page=3&per_page=25", 3, 25)]
    #[case("page=&per_page=", 1, 15)]
    #[case("page=0&per_page=0", 1, 1)]
    #[case("page=-2&per_page=-2", 1, 1)]
    #[case("page=x&per_page=x", 1, 15)]
    #[case("page=1.5&per_page=1.5", 1, 15)]
    #[case("page=+2&per_page=+2", 2, 2)]
    #[case("page=%2B2&per_page=%2B2", 2, 2)]
    #[case("per_page=100", 1, 100)]
    #[case("per_page=101", 1, 100)]
    #[case("page=99999999999999999999&per_page=99999999999999999999", MAX_PAGE, 100)]
    #[case("page[]=2&per_page[]=2", 1, 15)]
    #[case("page=2&page=4", 4, 15)]
    fn paging_is_read_and_never_refused(#[case] query: &str, #[case] page: u64, #[case] per_page: u64) {
        let read = PageRequest::read(&QueryString::parse(query), DEFAULT_PER_PAGE);
        assert_eq!(read, PageRequest { page, per_page });
    }

    /// Contract 1.4: whole collections.
    #[rstest]
    #[case("", 0, 1, 1)]
    #[case("", 240, 1, 240)]
    #[case("x=1", 3, 1, 3)]
    #[case("page=1", 240, 1, 15)]
    #[case("per_page=200", 240, 1, 100)]
    #[case("page=", 240, 1, 15)]
    fn a_whole_collection_is_one_page_unless_paged(
        #[case] query: &str,
        #[case] total: u64,
        #[case] page: u64,
        #[case] per_page: u64,
    ) {
        let read = PageRequest::read_whole(&QueryString::parse(query), total);
        assert_eq!(read, PageRequest { page, per_page });
    }

    fn envelope(query: &str, total: u64) -> Value {
        let query = QueryString::parse(query);
        let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
        let rows = request.slice_rows((0..total).map(Value::from).collect());
        let path = "https://api.example.com/v1/services";
        PageEnvelope { request, total, path, query: &query }.envelope(rows)
    }

    /// Contract 1.4: the example.
    #[test]
    fn the_envelope_is_the_one_of_the_example() {
        let mut shown = envelope("tag=env:prod&per_page=25&page=1", 61);
        assert_eq!(shown["data"].as_array().unwrap().len(), 25);
        shown["data"] = json!([]);
        let link =
            |page: u32| format!("https://api.example.com/v1/services?tag=env%3Aprod&per_page=25&page={page}");
        let expected = json!({
            "data": [],
            "links": {"first": link(1), "last": link(3), "prev": null, "next": link(2)},
            "meta": {"current_page": 1, "per_page": 25, "total": 61, "last_page": 3, "from": 1, "to": 25,
                "path": "https://api.example.com/v1/services"},
        });
        assert_eq!(shown.to_string(), expected.to_string());
    }

    /// Contract 1.4: prev, next, last, from and to, for each query and total.
    #[rstest]
    #[case("", 0, json!([null, null, 1, null, null]))]
    #[case("page=2", 16, json!([1, null, 2, 16, 16]))]
    #[case("page=2", 45, json!([1, 3, 3, 16, 30]))]
    #[case("page=9", 45, json!([3, null, 3, null, null]))]
    #[case("page=2", 0, json!([1, null, 1, null, null]))]
    #[case("page=18446744073709551615", 45, json!([3, null, 3, null, null]))]
    fn links_and_positions_follow_the_page(#[case] query: &str, #[case] total: u64, #[case] expected: Value) {
        let shown = envelope(query, total);
        let page = |name: &str| {
            let link = shown["links"][name].as_str();
            link.map(|link| link.rsplit_once("page=").unwrap().1.parse::<u64>().unwrap())
        };
        let meta = &shown["meta"];
        assert_eq!(json!([page("prev"), page("next"), page("last"), meta["from"], meta["to"]]), expected);
        assert_eq!(meta["last_page"], expected[2]);
        assert_eq!(page("first"), Some(1));
    }

    proptest! {
        #[test]
        fn walking_the_pages_shows_every_row_once(total in 0_u64..90, per_page in 1_u64..20) {
            let mut seen = Vec::new();
            for page in 1.. {
                let shown = envelope(&format!("page={page}&per_page={per_page}"), total);
                seen.extend(shown["data"].as_array().unwrap().iter().filter_map(Value::as_u64));
                if shown["links"]["next"].is_null() {
                    break;
                }
            }
            prop_assert_eq!(seen, (0..total).collect::<Vec<_>>());
        }
    }
}
