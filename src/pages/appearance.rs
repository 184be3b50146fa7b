//! The colour scheme of a page, and its choice by a visitor without script.
//!
//! A link of the page answers with a cookie and redirects to the page. The cookie holds one of three words and nothing
//! about the visitor.

use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::page_texts::PageTexts;

/// Path of the links, followed by the appearance.
const PATH: &str = "/appearance/";
const COOKIE: &str = "status-appearance";
/// Lifetime of the cookie in seconds: a year.
const MAX_AGE_SECONDS: u32 = 31_536_000;

/// Appearance of a page for one visitor.
pub(super) struct PageAppearance {
    /// Content of the `color-scheme` element.
    pub(super) color_scheme: &'static str,
    /// The media query under which the dark colours apply; `None` = never.
    pub(super) dark_when: Option<&'static str>,
    /// Links of the switch; empty if visitors may not choose.
    pub(super) choices: Vec<AppearanceLink>,
}

/// One link of the switch.
pub(super) struct AppearanceLink {
    pub(super) path: String,
    pub(super) text: &'static str,
    /// True for the current appearance.
    pub(super) is_current: bool,
}

impl PageAppearance {
    /// The appearance configured for the page, or the one chosen by the visitor.
    pub(super) fn of(page: &Statuspage, chosen: Option<PageColorScheme>, words: &PageTexts) -> Self {
        let chosen = chosen.filter(|_| page.allows_appearance_switch);
        let current = chosen.unwrap_or(page.appearance);
        let (color_scheme, dark_when) = match current {
            PageColorScheme::System => ("light dark", Some("(prefers-color-scheme: dark)")),
            PageColorScheme::Light => ("light", None),
            PageColorScheme::Dark => ("dark", Some("all")),
        };
        let choice = |(appearance, text): (PageColorScheme, &'static str)| AppearanceLink {
            path: format!("{PATH}{}", appearance.as_str()),
            text,
            is_current: appearance == current,
        };
        let words = [
            (PageColorScheme::System, words.like_system),
            (PageColorScheme::Light, words.light),
            (PageColorScheme::Dark, words.dark),
        ];
        let words = words.into_iter().filter(|_| page.allows_appearance_switch);
        Self { color_scheme, dark_when, choices: words.map(choice).collect() }
    }
}

/// The appearance named by the path of a link.
pub(super) fn choice(path: &str) -> Option<PageColorScheme> {
    path.strip_prefix(PATH)?.parse().ok()
}

/// Value of `Set-Cookie` that stores a choice.
pub(super) fn cookie(chosen: PageColorScheme) -> String {
    format!("{COOKIE}={}; Path=/; Max-Age={MAX_AGE_SECONDS}; SameSite=Lax; HttpOnly", chosen.as_str())
}

/// The choice stored in a visitor's `Cookie` header.
pub(super) fn remembered(cookies: &str) -> Option<PageColorScheme> {
    let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).find_map(|(_, word)| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("status-appearance=dark", Some(PageColorScheme::Dark))]
    #[case("a=b; status-appearance=light;c", Some(PageColorScheme::Light))]
    #[case("status-appearance=pink; status-appearance=system", Some(PageColorScheme::System))]
    #[case("my-status-appearance=dark", None)]
    #[case("status-appearance", None)]
    #[case("", None)]
    fn a_choice_is_read_from_the_cookies(#[case] cookies: &str, #[case] chosen: Option<PageColorScheme>) {
        assert_eq!(remembered(cookies), chosen);
    }

    #[rstest]
    #[case("/appearance/dark", Some(PageColorScheme::Dark))]
    #[case("/appearance/Dark", None)]
    #[case("/appearance/", None)]
    #[case("/dark", None)]
    fn a_choice_has_a_path(#[case] path: &str, #[case] chosen: Option<PageColorScheme>) {
        assert_eq!(choice(path), chosen);
    }

    #[test]
    fn a_cookie_is_read_back() {
        for word in PageColorScheme::WORDS {
            let chosen: PageColorScheme = word.parse().unwrap();
            let sent = cookie(chosen);
            assert_eq!(remembered(sent.split(';').next().unwrap()), Some(chosen));
        }
    }
}
