//! The parts of a status page, each at its path.

use crate::pages::access::access_route::AccessRoute;
use crate::pages::badge_route::BadgeRoute;
use crate::pages::card_route::CardRoute;
use crate::pages::feeds::FeedRoute;
use crate::pages::forms::FormRoute;
use crate::pages::screen::PageScreen;
use crate::pages::script;
use crate::pages::snapshot::PageLanguages;
use crate::pages::status_json::StatusDocument;
use crate::pages::stylesheets::StyleRequest;
use crate::pages::visit::LanguagePath;

/// Folder of the uploaded files in URLs.
const FILES: &str = "/assets/";

/// The part of a page that a path names.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantNames)]
pub(super) enum PageRoute<'a> {
    /// The rules for search engines.
    Robots,
    /// The list of documents for search engines.
    Sitemap,
    /// The script for other web sites.
    Widget,
    /// A place where visitors prove that they may read the page.
    Access(AccessRoute<'a>),
    /// An uploaded file, by the hash of its content.
    File(&'a str),
    /// A style sheet.
    Style(StyleRequest<'a>),
    /// The script with this hash.
    Script(&'a str),
    /// The stream of changes in a language; `None` = by `Accept-Language`.
    Events(Option<&'a str>),
    /// A JSON document.
    Document(StatusDocument),
    /// A feed.
    Feed(LocalizedFeed<'a>),
    /// A badge, in the language of the path or else in the default language of the page.
    Badge(LocalizedBadge<'a>),
    /// A preview image, in the language of the path or else in the default language of the page.
    Card(LocalizedCard<'a>),
    /// A summary for frames of other web sites, in the language of the path or else of the visitor.
    Embed(Option<&'a str>),
    /// A part that visitors see in their language.
    Localized(LocalizedRoute<'a>),
    /// A form, in the language of the path.
    Form {
        /// The language in the path; `None` = by `Accept-Language`.
        locale: Option<&'a str>,
        /// The form.
        form: FormRoute<'a>,
    },
    /// Another path that has to be used.
    Moved(String),
    /// No part has this path.
    Unknown,
}

/// A badge in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalizedBadge<'a> {
    /// The language in the path; `None` = the default language of the page.
    pub(super) locale: Option<&'a str>,
    pub(super) badge: BadgeRoute<'a>,
}

/// A preview image in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalizedCard<'a> {
    /// The language in the path; `None` = the default language of the page.
    pub(super) locale: Option<&'a str>,
    pub(super) card: CardRoute<'a>,
}

/// A part of a page in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalizedRoute<'a> {
    /// The language in the path; `None` = by `Accept-Language`.
    pub(super) locale: Option<&'a str>,
    /// The part.
    pub(super) screen: PageScreen,
}

/// A feed in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalizedFeed<'a> {
    /// The language in the path; `None` = the default language of the page.
    pub(super) locale: Option<&'a str>,
    /// The feed.
    pub(super) feed: FeedRoute,
}

impl<'a> PageRoute<'a> {
    /// Reads the path of a page that offers these languages.
    pub(super) fn read(path: &'a str, languages: &'a PageLanguages) -> Self {
        match path {
            "/robots.txt" => return Self::Robots,
            "/sitemap.xml" => return Self::Sitemap,
            "/widget.js" => return Self::Widget,
            _ => {}
        }
        if let Some(access) = AccessRoute::at(path) {
            return Self::Access(access);
        }
        if let Some(hash) = path.strip_prefix(FILES) {
            return Self::File(hash);
        }
        if let Some(request) = StyleRequest::read(path) {
            return Self::Style(request);
        }
        if let Some(revision) = script::revision_at(path) {
            return Self::Script(revision);
        }
        if let Some(document) = StatusDocument::at(path) {
            return Self::Document(document);
        }
        match LanguagePath::read(path, languages) {
            LanguagePath::Explicit { locale, rest: "" } => Self::Moved(format!("/{locale}/")),
            LanguagePath::Explicit { locale, rest } => Self::localized(Some(locale), rest),
            LanguagePath::Negotiated(path) => Self::localized(None, path),
        }
    }

    fn localized(locale: Option<&'a str>, path: &'a str) -> Self {
        if let Some(form) = FormRoute::at(path) {
            return Self::Form { locale, form };
        }
        if path == "/events" {
            return Self::Events(locale);
        }
        if let Some(feed) = FeedRoute::at(path) {
            return Self::Feed(LocalizedFeed { locale, feed });
        }
        if path == "/embed" {
            return Self::Embed(locale);
        }
        if let Some(badge) = BadgeRoute::at(path) {
            return Self::Badge(LocalizedBadge { locale, badge });
        }
        if let Some(card) = CardRoute::at(path) {
            return Self::Card(LocalizedCard { locale, card });
        }
        let found = PageScreen::at(path).map(|screen| LocalizedRoute { locale, screen });
        found.map_or(Self::Unknown, Self::Localized)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/robots.txt", "Robots")]
    #[case("/sitemap.xml", "Sitemap")]
    #[case("/widget.js", "Widget")]
    #[case("/de/widget.js", "Unknown")]
    #[case("/password", "Access(Password)")]
    #[case("/access/abc", "Access(Link(\"abc\"))")]
    #[case("/assets/abc", "File(\"abc\")")]
    #[case("/embed", "Embed(None)")]
    #[case("/de/embed", "Embed(Some(\"de\"))")]
    #[case(
        "/de/card.ab.png",
        "Card(LocalizedCard { locale: Some(\"de\"), card: CardRoute { subject: Page, revision: \"ab\" } })"
    )]
    #[case(
        "/de/badge/status.svg",
        "Badge(LocalizedBadge { locale: Some(\"de\"), badge: BadgeRoute { component: None, \
         kind: Status, format: Svg } })"
    )]
    #[case("/static/style.abc.css", "Style(StyleRequest { is_own: false, revision: \"abc\" })")]
    #[case("/api/v2/status.json", "Document(Status)")]
    #[case("/", "Localized(LocalizedRoute { locale: None, screen: Current })")]
    #[case("/de/", "Localized(LocalizedRoute { locale: Some(\"de\"), screen: Current })")]
    #[case("/de", "Moved(\"/de/\")")]
    #[case("/static/script.abc.js", "Script(\"abc\")")]
    #[case("/de/events", "Events(Some(\"de\"))")]
    #[case("/history/2026-13", "Unknown")]
    #[case("/incidents/", "Unknown")]
    #[case("/incidents/a/b", "Unknown")]
    #[case("/fr/", "Unknown")]
    #[case("/de/de/", "Unknown")]
    #[case("//", "Unknown")]
    fn a_path_names_a_part(#[case] path: &str, #[case] expected: &str) {
        let languages = PageLanguages { supported: vec!["en".into(), "de".into()], default: "en".into() };
        assert_eq!(format!("{:?}", PageRoute::read(path, &languages)), expected);
    }
}
