//! The style of a single page: its colours and its style sheet, served in addition to the common ones.

use std::fmt::Write as _;

use crate::model::statuspage::Statuspage;
use crate::pages::contrast::ColorScheme;

/// Returns true if a page has its own style.
pub(super) const fn has_own_style(page: &Statuspage) -> bool {
    page.custom_css.is_some() || page.primary_color.is_some() || page.secondary_color.is_some()
}

/// The colours and the style sheet of one page.
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
