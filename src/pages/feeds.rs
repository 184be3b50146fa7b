//! Feeds of a page and of its components: Atom, RSS, JSON Feed, and a calendar of maintenances. Programs read them from the
//! page's host; ids stay the same when the page gets another host or another name.

mod calendar;
mod entries;

use askama::Template;
use serde_json::json;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::pages::feeds::entries::FeedEntry;
use crate::pages::snapshot::{PageComponent, PageHistory};

/// Maximum number of entries.
const ENTRIES_MAX: usize = 50;

/// A feed of a page, or of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FeedRoute {
    pub(super) format: FeedFormat,
    /// The component that the feed is about; `None` = the whole page.
    pub(super) component: Option<Id>,
}

/// The format of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeedFormat {
    /// Atom (RFC 4287).
    Atom,
    /// RSS 2.0.
    Rss,
    /// JSON Feed 1.1.
    Json,
    /// iCalendar (RFC 5545), with maintenances only.
    Calendar,
}

/// The choices of a reader.
#[derive(Clone, Debug)]
pub(super) struct FeedChoices<'a> {
    pub(super) locale: &'a str,
    /// True for an entry for each update, false for one for each incident and maintenance.
    pub(super) each_update: bool,
    /// Host name below which all pages are, for ids.
    pub(super) authority: &'a str,
    pub(super) now: Timestamp,
}

/// A feed cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FeedError {
    #[error(transparent)]
    Template(#[from] askama::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl FeedFormat {
    pub(super) const ALL: [Self; 4] = [Self::Atom, Self::Rss, Self::Json, Self::Calendar];

    /// Returns the last part of the path.
    pub(super) const fn file_name(self) -> &'static str {
        match self {
            Self::Atom => "history.atom",
            Self::Rss => "history.rss",
            Self::Json => "feed.json",
            Self::Calendar => "maintenances.ics",
        }
    }

    /// Returns the media type, without the encoding, which is UTF-8.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Atom => "application/atom+xml",
            Self::Rss => "application/rss+xml",
            Self::Json => "application/feed+json",
            Self::Calendar => "text/calendar",
        }
    }
}

impl FeedRoute {
    /// Returns the feed at a path that names no language.
    pub(super) fn at(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/')?;
        let format = FeedFormat::ALL.into_iter().find(|format| format.file_name() == name)?;
        let component = match folder.strip_prefix("/components/") {
            Some(id) => Some(id.parse().ok()?),
            None if folder.is_empty() => None,
            None => return None,
        };
        Some(Self { format, component })
    }

    /// Returns the path of the feed, without a language.
    pub(super) fn path(self) -> String {
        let folder = self.component.map_or_else(String::new, |id| format!("/components/{id}"));
        format!("{folder}/{}", self.format.file_name())
    }
}

/// Writes a feed; `None` if visitors see no component with its id.
///
/// # Errors
/// When a template or the JSON cannot be written.
pub(super) fn write(
    history: &PageHistory,
    route: FeedRoute,
    choices: &FeedChoices<'_>,
) -> Result<Option<Vec<u8>>, FeedError> {
    let Some(of_component) = component(history, route) else { return Ok(None) };
    let reader = entries::EntryReader::new(history, of_component, choices);
    let feed = PageFeed {
        locale: choices.locale.to_owned(),
        id: reader.feed_id(route),
        title: reader.title(),
        home: history.page.url.clone(),
        address: format!("{}{}", history.page.url, route.path()),
        author: reader.page_name(),
        updated: Timestamp::from_ms(0),
        entries: Vec::new(),
    };
    if route.format == FeedFormat::Calendar {
        return Ok(Some(calendar::write(&reader, &feed).into_bytes()));
    }
    let mut entries = reader.entries();
    entries.truncate(ENTRIES_MAX);
    let created = history.page.page.created_at;
    let updated = entries.iter().map(|entry| entry.updated).max().unwrap_or(created);
    let feed = PageFeed { updated, entries, ..feed };
    let text = match route.format {
        FeedFormat::Atom => AtomFeed { feed }.render()?,
        FeedFormat::Rss => RssFeed { feed }.render()?,
        FeedFormat::Json => json_feed(&feed)?,
        FeedFormat::Calendar => String::new(),
    };
    Ok(Some(text.into_bytes()))
}

/// Returns the component of the feed, if it is about one; `None` if visitors do not see it.
fn component(history: &PageHistory, route: FeedRoute) -> Option<Option<&PageComponent>> {
    let Some(id) = route.component else { return Some(None) };
    let mut shown = history.page.components.iter().filter(|one| one.status.is_some());
    shown.find(|one| one.component.id == id).map(Some)
}

/// The contents of a feed.
struct PageFeed {
    locale: String,
    /// Stable id.
    id: String,
    title: String,
    /// URL of the page.
    home: String,
    /// URL of the feed.
    address: String,
    author: String,
    /// Time of the newest update.
    updated: Timestamp,
    /// Newest first.
    entries: Vec<FeedEntry>,
}

#[derive(Template)]
#[template(path = "atom.xml")]
struct AtomFeed {
    feed: PageFeed,
}

#[derive(Template)]
#[template(path = "rss.xml")]
struct RssFeed {
    feed: PageFeed,
}

/// JSON Feed 1.1.
fn json_feed(feed: &PageFeed) -> Result<String, serde_json::Error> {
    let item = |entry: &FeedEntry| {
        json!({
            "id": entry.url, "url": entry.url, "title": entry.title, "content_html": entry.html,
            "date_published": entry.published, "date_modified": entry.updated, "tags": entry.tags,
        })
    };
    let items: Vec<_> = feed.entries.iter().map(item).collect();
    serde_json::to_string(&json!({
        "version": "https://jsonfeed.org/version/1.1", "title": feed.title, "home_page_url": feed.home,
        "feed_url": feed.address, "language": feed.locale, "authors": [{"name": feed.author}], "items": items,
    }))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/history.atom", true)]
    #[case("/history.rss", true)]
    #[case("/feed.json", true)]
    #[case("/maintenances.ics", true)]
    #[case("/components/ZmCQideh_cmU2E495CYCg/history.atom", true)]
    #[case("/components/ZmCQideh_cmU2E495CYCg/maintenances.ics", true)]
    #[case("/components/x/history.atom", false)]
    #[case("/components/history.atom", false)]
    #[case("/a/history.atom", false)]
    #[case("/history.xml", false)]
    fn a_feed_is_found_at_its_path(#[case] path: &str, #[case] is_known: bool) {
        let found = FeedRoute::at(path);
        assert_eq!(found.map(FeedRoute::path), is_known.then(|| path.to_owned()));
    }
}
