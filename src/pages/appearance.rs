//! The colour scheme of a page, which a visitor may change.
//!
//! Without a script, a link chooses the scheme for the page that it opens (`?appearance=dark`). The choice is not stored, so
//! that a response depends only on its URL and can be stored by shared caches.

use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::page_texts::PageTexts;

/// Name of the query parameter.
const PARAMETER: &str = "appearance";

/// The appearance of a page for one visitor.
pub(super) struct PageAppearance {
    /// Content of the `color-scheme` meta element.
    pub(super) color_scheme: &'static str,
    /// Attribute `data-theme` of the document; `None` = as in the visitor's system.
    pub(super) theme: Option<&'static str>,
    /// The media query under which the dark colours apply; `None` = never.
    pub(super) dark_when: Option<&'static str>,
    /// Links that change the appearance; empty if visitors may not choose.
    pub(super) choices: Vec<AppearanceLink>,
}

/// A link that chooses an appearance.
pub(super) struct AppearanceLink {
    /// URL of the link, relative to the page.
    pub(super) address: String,
    pub(super) text: String,
    /// True for the current appearance.
    pub(super) is_current: bool,
}

impl PageAppearance {
    /// Returns the appearance that the visitor has chosen, or else the one configured for the page.
    pub(super) fn of(page: &Statuspage, chosen: Option<PageColorScheme>, words: &PageTexts) -> Self {
        let current = chosen.unwrap_or(page.appearance);
        let (color_scheme, theme, dark_when) = match current {
            PageColorScheme::System => ("light dark", None, Some("(prefers-color-scheme: dark)")),
            PageColorScheme::Light => ("light", Some("light"), None),
            PageColorScheme::Dark => ("dark", Some("dark"), Some("all")),
        };
        let choice = |(appearance, name): (PageColorScheme, &str)| AppearanceLink {
            address: format!("?{PARAMETER}={}", appearance.as_str()),
            text: words.text(name),
            is_current: appearance == current,
        };
        let schemes = [
            (PageColorScheme::System, "appearance-system"),
            (PageColorScheme::Light, "appearance-light"),
            (PageColorScheme::Dark, "appearance-dark"),
        ];
        let schemes = schemes.into_iter().filter(|_| page.allows_appearance_switch);
        Self { color_scheme, theme, dark_when, choices: schemes.map(choice).collect() }
    }
}

/// Returns the appearance that a query string chooses.
pub(super) fn choice(query: &str) -> Option<PageColorScheme> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == PARAMETER).and_then(|(_, word)| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("appearance=dark", Some(PageColorScheme::Dark))]
    #[case("a=b&appearance=system", Some(PageColorScheme::System))]
    #[case("appearance=pink", None)]
    #[case("appearance=Dark", None)]
    #[case("appearance", None)]
    #[case("", None)]
    fn a_choice_is_read_from_the_query(#[case] query: &str, #[case] chosen: Option<PageColorScheme>) {
        assert_eq!(choice(query), chosen);
    }
}
