//! The colour scheme of a page, and its choice by a visitor.
//!
//! Without script a link chooses it for the page that it opens (`?appearance=dark`); nothing is stored, so that an answer
//! depends on its address alone and can be kept by shared caches.

use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::page_texts::PageTexts;

/// Parameter of the query.
const PARAMETER: &str = "appearance";

/// Appearance of a page.
pub(super) struct PageAppearance {
    /// Content of the `color-scheme` element.
    pub(super) color_scheme: &'static str,
    /// Attribute of the document; `None` = as the visitor's system.
    pub(super) theme: Option<&'static str>,
    /// The media query under which the dark colours apply; `None` = never.
    pub(super) dark_when: Option<&'static str>,
    /// Links of the switch; empty if visitors may not choose.
    pub(super) choices: Vec<AppearanceLink>,
}

/// One link of the switch.
pub(super) struct AppearanceLink {
    /// Relative to the page.
    pub(super) address: String,
    pub(super) text: String,
    /// True for the current appearance.
    pub(super) is_current: bool,
}

impl PageAppearance {
    /// The appearance configured for the page, or the one chosen by the visitor.
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

/// The appearance that a query chooses.
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
