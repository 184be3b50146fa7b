//! Style sheets of the pages: one that all pages share, and one for each page with its colours and its owner's rules. The
//! URL of each contains a hash of its content, so that browsers cache it until it changes.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::model::statuspage::Statuspage;
use crate::pages::contrast::ColorScheme;
use crate::representation::{Representation, hash, is_hash};

/// Folder of the style sheets in URLs.
const FOLDER: &str = "/static/";
const SHARED: &str = "style.";
const OWN: &str = "page.";
const ENDING: &str = ".css";

/// The style sheet that all pages share.
pub(super) static SHARED_STYLE: LazyLock<Representation> = LazyLock::new(|| {
    Representation::new(concat!(include_str!("../html_kit/palette.css"), include_str!("templates/style.css")))
});

/// A request for a style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StyleRequest<'a> {
    /// True for the style sheet of a page, false for the shared one.
    pub(super) is_own: bool,
    /// The hash in the URL.
    pub(super) revision: &'a str,
}

impl<'a> StyleRequest<'a> {
    /// Reads a path; `None` if it is not the path of a style sheet.
    pub(super) fn read(path: &'a str) -> Option<Self> {
        let name = path.strip_prefix(FOLDER)?.strip_suffix(ENDING)?;
        let is_revision = |request: &Self| is_hash(request.revision);
        let shared = name.strip_prefix(SHARED).map(|revision| Self { is_own: false, revision });
        let found = shared.or_else(|| name.strip_prefix(OWN).map(|revision| Self { is_own: true, revision }));
        found.filter(is_revision)
    }
}

/// Returns the URL of the shared style sheet.
pub(super) fn shared_address() -> String {
    format!("{FOLDER}{SHARED}{}{ENDING}", SHARED_STYLE.revision())
}

/// Returns the URL of a page's own style sheet; `None` if it has none.
pub(super) fn own_address(page: &Statuspage) -> Option<String> {
    has_own_style(page).then(|| format!("{FOLDER}{OWN}{}{ENDING}", hash(own_style(page).as_bytes())))
}

/// Returns true if a page has a style sheet of its own.
pub(super) const fn has_own_style(page: &Statuspage) -> bool {
    page.custom_css.is_some() || page.primary_color.is_some() || page.secondary_color.is_some()
}

/// Returns the style sheet of one page: its colours, and its owner's rules.
pub(super) fn own_style(page: &Statuspage) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    if let Some(colour) = &page.primary_color {
        let _ = writeln!(text, "html {{ border-top: .35rem solid {colour}; }}");
        for (scheme, name) in [(ColorScheme::Light, "light"), (ColorScheme::Dark, "dark")] {
            if let Some(readable) = scheme.readable(colour) {
                let _ = writeln!(text, ":root {{ --accent-{name}: {readable}; }}");
            }
        }
    }
    if let Some(colour) = &page.secondary_color {
        let _ = writeln!(text, "h2 {{ border-bottom: .2rem solid {colour}; padding-bottom: .25rem; }}");
    }
    text + page.custom_css.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/static/style.0123.css", Some((false, "0123")))]
    #[case("/static/page.0123.css", Some((true, "0123")))]
    #[case("/static/other.0123.css", None)]
    #[case("/static/style.0123.js", None)]
    #[case("/style.css", None)]
    fn a_path_names_a_sheet(#[case] path: &str, #[case] expected: Option<(bool, &str)>) {
        let found = StyleRequest::read(path);
        assert_eq!(found.map(|found| (found.is_own, found.revision)), expected);
    }

    #[test]
    fn the_shared_address_names_the_present_sheet() {
        let address = shared_address();
        let expected = StyleRequest { is_own: false, revision: SHARED_STYLE.revision() };
        assert_eq!(StyleRequest::read(&address), Some(expected));
    }
}
