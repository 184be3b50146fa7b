//! A small document that other web sites show in a frame (`/embed`), and a script that shows a bar on other web sites while
//! something is wrong (`/widget.js`).

use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::announcements::AnnouncementNames;
use crate::pages::contrast::ColorScheme;
use crate::pages::display_time::DisplayTime;
use crate::pages::overall_state::OverallState;
use crate::pages::page_texts::PageTexts;
use crate::pages::palette::{StatePalette, mark_path};
use crate::pages::snapshot::PageSnapshot;
use crate::representation::Representation;

/// Maximum number of incidents in the frame.
const INCIDENTS_MAX: usize = 3;
const RULES: &str = include_str!("templates/embed.css");

/// Inline style of the document: the colours of both schemes, and the rules.
static STYLE: LazyLock<String> = LazyLock::new(|| {
    let [light, dark] = [ColorScheme::Light, ColorScheme::Dark].map(variables);
    format!(
        ":root {{ color-scheme: light; {light} }}\n[data-theme=\"dark\"] {{ color-scheme: dark; {dark} }}\n\
         @media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {{ color-scheme: dark; {dark} }} }}\n{RULES}"
    )
});

/// Policy of the document: nothing but its inline style, in the frame of any other page.
pub(super) static EMBED_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors *"
    )
});

/// The script for other web sites. It reads the JSON of the page from which it was loaded, draws without style sheets and
/// without HTML in texts, so that it works under a strict policy, and loads nothing from third parties.
pub(super) static WIDGET: LazyLock<Representation> =
    LazyLock::new(|| Representation::new(include_str!("templates/widget.js")));

#[derive(Template)]
#[template(path = "embed.html")]
struct EmbeddedPage<'a> {
    locale: &'a str,
    direction: &'static str,
    theme: Option<&'static str>,
    style: &'static str,
    /// URL of the page.
    url: String,
    name: &'a str,
    /// Class in the style.
    class: &'static str,
    sentence: String,
    mark: &'static str,
    incidents: Vec<String>,
    /// Time of the shown state, in an export.
    as_of: Option<DisplayTime>,
    words: PageTexts,
}

/// Renders the document in a language. `appearance` is the scheme in the address; `as_of` is the time that an export shows.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn document(
    snapshot: &PageSnapshot,
    locale: &str,
    appearance: Option<PageColorScheme>,
    as_of: Option<Timestamp>,
) -> Result<Vec<u8>, askama::Error> {
    let (languages, names) = (snapshot.languages(), AnnouncementNames::of(snapshot, locale));
    let (words, overall) = (PageTexts::of(locale), OverallState::of_page(snapshot));
    let document = EmbeddedPage {
        locale,
        direction: words.direction(),
        theme: match appearance.unwrap_or(snapshot.page.appearance) {
            PageColorScheme::System => None,
            PageColorScheme::Light => Some("light"),
            PageColorScheme::Dark => Some("dark"),
        },
        style: &STYLE,
        url: format!("{}{}", snapshot.url, languages.canonical_path(locale, "/")),
        name: snapshot.page.name.text(locale, &languages.default),
        class: overall.status.as_str(),
        sentence: overall.sentence(&words),
        mark: mark_path(overall.status),
        incidents: snapshot.incidents.iter().take(INCIDENTS_MAX).map(|one| names.title(one)).collect(),
        as_of: as_of.map(DisplayTime::from),
        words,
    };
    document.render().map(String::into_bytes)
}

/// Returns the variables of a scheme for the rules of the style.
fn variables(scheme: ColorScheme) -> String {
    use crate::model::component::status::ComponentStatus as Status;
    let palette = StatePalette::of(scheme);
    let tone = |status: Status| palette.tone(status);
    format!(
        "--card: {}; --ink: {}; --soft: {}; --line: {}; --up: {}; --fair: {}; --down: {}; --work: {}; --none: {};",
        palette.card,
        palette.ink,
        palette.soft,
        palette.line,
        tone(Status::Operational),
        tone(Status::Degraded),
        tone(Status::MajorOutage),
        tone(Status::UnderMaintenance),
        tone(Status::Unknown),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widget_is_small_and_writes_no_html() {
        let script = std::str::from_utf8(WIDGET.plain()).unwrap();
        assert!(script.len() <= 2_048, "{} bytes", script.len());
        for forbidden in
            ["innerHTML", "outerHTML", "insertAdjacent", "eval", "Function", "document.write", "http"]
        {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
