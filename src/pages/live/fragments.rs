//! The parts of a page that change while it is open, each an element with an id.

use bytes::Bytes;
use serde::Serialize;

use crate::representation::hash;

/// Number of changed fragments above which the whole page is loaded again.
const CHANGES_MAX: usize = 50;
/// Size of an event, in bytes, above which the whole page is loaded again.
const EVENT_BYTES_MAX: usize = 64 * 1_024;
/// Tells the browser to load the page again.
pub(super) const RELOAD: &str = "event: reload\ndata:\n\n";

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(in crate::pages) struct PageFragment {
    /// Id of the element.
    pub(in crate::pages) id: String,
    /// The element.
    pub(in crate::pages) html: String,
}

/// All parts of a page in one language, in the order of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) struct PageFragments {
    fragments: Vec<PageFragment>,
    revision: String,
    /// Changes when other visitors may see the page.
    access: u64,
}

/// An event with the changed parts.
#[derive(Serialize)]
struct ChangeEvent<'a> {
    /// Revision of the page after the change.
    revision: &'a str,
    fragments: Vec<&'a PageFragment>,
}

impl PageFragments {
    /// Creates the parts of a page. `access` changes when other visitors may see the page.
    pub(in crate::pages) fn new(fragments: Vec<PageFragment>, access: u64) -> Self {
        let whole: String = fragments.iter().flat_map(|one| [one.id.as_str(), one.html.as_str()]).collect();
        Self { revision: hash(whole.as_bytes()), fragments, access }
    }

    /// Returns the hash of all fragments.
    pub(in crate::pages) fn revision(&self) -> &str {
        &self.revision
    }

    /// Returns true if the same visitors may see both.
    pub(super) const fn has_same_access(&self, other: &Self) -> bool {
        self.access == other.access
    }

    /// Returns the event that brings an open page from `earlier` to these fragments; `None` if nothing has changed.
    pub(super) fn changes_since(&self, earlier: &Self) -> Option<Bytes> {
        if self.revision == earlier.revision {
            return None;
        }
        let ids = |page: &Self| page.fragments.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        if ids(self) != ids(earlier) {
            return Some(Bytes::from_static(RELOAD.as_bytes()));
        }
        let pairs = self.fragments.iter().zip(&earlier.fragments);
        let changed: Vec<&PageFragment> =
            pairs.filter(|(now, before)| now != before).map(|(now, _)| now).collect();
        let is_much = changed.len() > CHANGES_MAX;
        let event = ChangeEvent { revision: &self.revision, fragments: changed };
        // JSON has no line breaks, so it is one line of the stream.
        let data =
            serde_json::to_string(&event).ok().filter(|data| !is_much && data.len() <= EVENT_BYTES_MAX);
        Some(data.map_or_else(
            || Bytes::from_static(RELOAD.as_bytes()),
            |data| format!("event: change\ndata: {data}\n\n").into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn page(parts: &[(&str, &str)]) -> PageFragments {
        let fragment = |(id, html): &(&str, &str)| PageFragment { id: (*id).into(), html: (*html).into() };
        PageFragments::new(parts.iter().map(fragment).collect(), 0)
    }

    #[rstest]
    #[case::nothing(&[("a", "1"), ("b", "2")], None)]
    #[case::one(&[("a", "1"), ("b", "x\ny")], Some("event: change\ndata: {\"revision\":\"R\",\"fragments\":[{\"id\":\"b\",\"html\":\"x\\ny\"}]}\n\n"))]
    #[case::another_order(&[("b", "2"), ("a", "1")], Some(RELOAD))]
    #[case::one_more(&[("a", "1"), ("b", "2"), ("c", "3")], Some(RELOAD))]
    #[case::one_less(&[("a", "1")], Some(RELOAD))]
    fn only_changed_parts_are_sent(#[case] now: &[(&str, &str)], #[case] event: Option<&str>) {
        let (before, now) = (page(&[("a", "1"), ("b", "2")]), page(now));
        let found = now.changes_since(&before).map(|event| String::from_utf8(event.to_vec()).unwrap());
        assert_eq!(found.map(|event| event.replace(now.revision(), "R")).as_deref(), event);
    }

    #[test]
    fn large_changes_load_the_page_again() {
        let many = |html: &str| {
            let fragment = |number: usize| PageFragment { id: number.to_string(), html: html.into() };
            PageFragments::new((0..=CHANGES_MAX).map(fragment).collect(), 0)
        };
        assert_eq!(many("b").changes_since(&many("a")).unwrap(), RELOAD);
        let long = "x".repeat(EVENT_BYTES_MAX);
        assert_eq!(page(&[("a", &long)]).changes_since(&page(&[("a", "1")])).unwrap(), RELOAD);
    }
}
