//! Feeds of a page and of its components: Atom, RSS, JSON Feed, and a calendar of maintenances. Programs read them from the
//! page's host; ids stay the same when the page gets another host or another name.

mod calendar;
mod entries;
mod feed_route;

use askama::Template;
use serde_json::json;

use crate::clock::Timestamp;
use crate::pages::feeds::entries::FeedEntry;
pub(super) use crate::pages::feeds::feed_route::{FeedChoices, FeedFormat, FeedRoute};
use crate::pages::snapshot::{PageComponent, PageHistory};

/// Maximum number of entries.
const ENTRIES_MAX: usize = 50;

/// A feed cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FeedError {
    #[error(transparent)]
    Template(#[from] askama::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
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
    let address = choices.address(route, &history.page.languages().default);
    let feed = PageFeed {
        locale: choices.locale.to_owned(),
        id: reader.feed_id(&address),
        title: reader.title(),
        home: format!("{}{}", history.page.url, choices.language_path(&history.page.languages().default)),
        address: format!("{}{address}", history.page.url),
        author: reader.page_name(),
        updated: Timestamp::from_ms(0),
        entries: Vec::new(),
    };
    if route.format == FeedFormat::Calendar {
        return Ok(Some(calendar::write(&reader, feed.title, feed.home).into_bytes()));
    }
    let mut entries = reader.entries();
    entries.truncate(ENTRIES_MAX);
    let created = history.page.page.created_at;
    let updated = entries.iter().map(|entry| entry.updated).max().unwrap_or(created);
    let feed = PageFeed { updated, entries, ..feed };
    let text = match route.format {
        FeedFormat::Atom => well_formed(&AtomFeed { feed }.render()?),
        FeedFormat::Rss => well_formed(&RssFeed { feed }.render()?),
        FeedFormat::Json => json_feed(&feed)?,
        FeedFormat::Calendar => String::new(),
    };
    Ok(Some(text.into_bytes()))
}

/// Removes the characters that XML 1.0 does not permit, not even as references.
fn well_formed(xml: &str) -> String {
    let is_permitted = |character: &char| match character {
        '\t' | '\n' | '\r' => true,
        character => *character >= ' ' && !matches!(character, '\u{fffe}' | '\u{ffff}'),
    };
    xml.chars().filter(is_permitted).collect()
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
            "id": entry.id, "url": entry.url, "title": entry.title, "content_html": entry.html,
            "date_published": entry.published, "date_modified": entry.updated, "tags": entry.tags,
        })
    };
    let items: Vec<_> = feed.entries.iter().map(item).collect();
    serde_json::to_string(&json!({
        "version": "https://jsonfeed.org/version/1.1", "title": feed.title, "home_page_url": feed.home,
        "feed_url": feed.address, "language": feed.locale, "authors": [{"name": feed.author}], "items": items,
    }))
}
