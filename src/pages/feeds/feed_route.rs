//! The address of a feed, and the choices of its reader.

use crate::clock::Timestamp;
use crate::id::Id;

/// A feed of a page, or of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) struct FeedRoute {
    pub(in crate::pages) format: FeedFormat,
    /// The component that the feed is about; `None` = the whole page.
    pub(in crate::pages) component: Option<Id>,
}

/// The format of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) enum FeedFormat {
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
pub(in crate::pages) struct FeedChoices<'a> {
    pub(in crate::pages) locale: &'a str,
    /// True for an entry for each update, false for one for each incident and maintenance.
    pub(in crate::pages) each_update: bool,
    /// Host name below which all pages are, for ids.
    pub(in crate::pages) authority: &'a str,
    pub(in crate::pages) now: Timestamp,
}

impl FeedChoices<'_> {
    /// Returns the start of the paths in the reader's language; empty for the default language.
    pub(in crate::pages) fn language_path(&self, default_locale: &str) -> String {
        if self.locale == default_locale { String::new() } else { format!("/{}", self.locale) }
    }

    /// Returns path and query of a feed with these choices, on a page with this default language.
    pub(in crate::pages) fn address(&self, route: FeedRoute, default_locale: &str) -> String {
        let language = self.language_path(default_locale);
        let is_divided = self.each_update && route.format != FeedFormat::Calendar;
        let query = if is_divided { "?each=update" } else { "" };
        format!("{language}{}{query}", route.path())
    }
}

impl FeedFormat {
    pub(in crate::pages) const ALL: [Self; 4] = [Self::Atom, Self::Rss, Self::Json, Self::Calendar];

    /// Returns the last part of the path.
    pub(in crate::pages) const fn file_name(self) -> &'static str {
        match self {
            Self::Atom => "history.atom",
            Self::Rss => "history.rss",
            Self::Json => "feed.json",
            Self::Calendar => "maintenances.ics",
        }
    }

    /// Returns the media type, without the encoding, which is UTF-8.
    pub(in crate::pages) const fn media_type(self) -> &'static str {
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
    pub(in crate::pages) fn at(path: &str) -> Option<Self> {
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
    pub(in crate::pages) fn path(self) -> String {
        let folder = self.component.map_or_else(String::new, |id| format!("/components/{id}"));
        format!("{folder}/{}", self.format.file_name())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(FeedFormat::Atom, "en", false, "/history.atom")]
    #[case(FeedFormat::Atom, "de", true, "/de/history.atom?each=update")]
    #[case(FeedFormat::Calendar, "de", true, "/de/maintenances.ics")]
    fn a_feed_names_its_own_address(
        #[case] format: FeedFormat,
        #[case] locale: &str,
        #[case] each_update: bool,
        #[case] expected: &str,
    ) {
        let choices =
            FeedChoices { locale, each_update, authority: "example.net", now: Timestamp::from_ms(0) };
        assert_eq!(choices.address(FeedRoute { format, component: None }, "en"), expected);
    }

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
