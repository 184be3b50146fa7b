//! Badges for README files and other web sites: a label and a message, as an SVG image, or as JSON from which
//! <https://shields.io> draws a badge.
//!
//! This file draws; what a badge says is in [`badge_route`](super::badge_route).

mod verdana;

use askama::Template;
use serde::Serialize;

use crate::model::component::status::ComponentStatus;
use crate::pages::badge::verdana::width;
use crate::pages::palette::text_ground;

/// Space before and after each text, in pixels.
const PADDING: u32 = 5;
/// Maximum number of characters of each text.
const TEXT_MAX: usize = 100;
/// Seconds for which shields.io caches a badge; it accepts no less.
const CACHE_SECONDS: u32 = 300;
/// Colour of the label, as in shields.io.
const LABEL_COLOR: &str = "#555";

/// The look of a badge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BadgeStyle {
    /// Round corners and a slight gradient.
    #[default]
    Flat,
    /// One colour and square corners.
    FlatSquare,
}

/// A badge to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadgeImage {
    /// What the badge is about; empty for a badge with a message only.
    pub(super) label: String,
    /// Never empty.
    pub(super) message: String,
    /// Selects the colour of the message.
    pub(super) tone: ComponentStatus,
    pub(super) style: BadgeStyle,
}

/// The members of an endpoint badge of shields.io.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShieldsDocument<'a> {
    schema_version: u32,
    label: &'a str,
    message: &'a str,
    color: &'static str,
    label_color: &'static str,
    is_error: bool,
    cache_seconds: u32,
}

#[derive(Template)]
#[template(path = "badge.svg", escape = "html")]
struct BadgeDrawing<'a> {
    title: String,
    is_flat: bool,
    width: u32,
    color: &'static str,
    message: BadgeField,
    parts: Vec<BadgeLettering<'a>>,
}

/// The area of a text in a badge, in pixels.
#[derive(Clone, Copy, Debug)]
struct BadgeField {
    start: u32,
    width: u32,
}

/// A text in a badge, with its position in pixels.
struct BadgeLettering<'a> {
    text: &'a str,
    middle: String,
    length: u32,
}

impl BadgeImage {
    /// Creates a badge of these texts, which may contain any characters.
    pub(super) fn new(label: &str, message: &str, tone: ComponentStatus) -> Self {
        Self { label: clean(label), message: clean(message), tone, style: BadgeStyle::default() }
    }

    /// Draws the badge as SVG.
    ///
    /// # Errors
    /// When the template cannot be rendered.
    pub(super) fn to_svg(&self) -> Result<Vec<u8>, askama::Error> {
        let texts = [self.label.as_str(), self.message.as_str()];
        let mut end = 0;
        let fields = texts.map(|text| {
            let width = if text.is_empty() { 0 } else { width(text) + 2 * PADDING };
            let start = end;
            end += width;
            BadgeField { start, width }
        });
        let parts = texts.iter().zip(fields).filter(|(text, _)| !text.is_empty());
        let parts = parts.map(|(text, field)| {
            let doubled = 2 * field.start + field.width;
            BadgeLettering {
                text,
                middle: format!("{}{}", doubled / 2, if doubled % 2 == 1 { ".5" } else { "" }),
                length: field.width - 2 * PADDING,
            }
        });
        let drawing = BadgeDrawing {
            title: self.title(),
            is_flat: self.style == BadgeStyle::Flat,
            width: end,
            color: text_ground(self.tone),
            message: fields[1],
            parts: parts.collect(),
        };
        drawing.render().map(String::into_bytes)
    }

    /// Writes the badge as JSON for shields.io.
    ///
    /// # Errors
    /// When the JSON cannot be written.
    pub(super) fn to_shields(&self) -> Result<Vec<u8>, serde_json::Error> {
        let color = match self.tone {
            ComponentStatus::Unknown => "grey",
            tone => text_ground(tone),
        };
        serde_json::to_vec(&ShieldsDocument {
            schema_version: 1,
            label: &self.label,
            message: &self.message,
            color,
            label_color: LABEL_COLOR,
            is_error: matches!(self.tone, ComponentStatus::PartialOutage | ComponentStatus::MajorOutage),
            cache_seconds: CACHE_SECONDS,
        })
    }

    fn title(&self) -> String {
        if self.label.is_empty() { self.message.clone() } else { format!("{}: {}", self.label, self.message) }
    }
}

/// Removes characters that are not permitted in XML, or that change the direction of the text after them, and shortens the
/// text.
fn clean(text: &str) -> String {
    let is_shown = |character: &char| {
        !character.is_control()
            && !matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    let shown: String = text.chars().filter(is_shown).collect();
    let shown = shown.trim();
    match shown.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", shown[..end].trim_end()),
        None => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn svg(badge: &BadgeImage) -> String {
        String::from_utf8(badge.to_svg().unwrap()).unwrap()
    }

    #[test]
    fn a_badge_has_a_label_and_a_message() {
        let badge = BadgeImage::new("status", "Operational", ComponentStatus::Operational);
        let drawn = svg(&badge);
        for part in [
            "width=\"118\" height=\"20\"",
            "role=\"img\" aria-label=\"status: Operational\"",
            "<title>status: Operational</title>",
            "<rect x=\"44\" width=\"74\" height=\"20\" fill=\"#0f6b54\"/>",
            "<text x=\"22\" y=\"14\" textLength=\"34\">status</text>",
            "<text x=\"81\" y=\"14\" textLength=\"64\">Operational</text>",
            "rx=\"3\"",
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(
            !drawn.contains("style=") && !drawn.contains("<style"),
            "a policy may forbid styles: {drawn}"
        );
    }

    #[test]
    fn a_square_badge_has_no_gradient() {
        let badge = BadgeImage {
            style: BadgeStyle::FlatSquare,
            ..BadgeImage::new("", "Unknown", ComponentStatus::Unknown)
        };
        let drawn = svg(&badge);
        assert!(!drawn.contains("Gradient") && !drawn.contains("rx="), "{drawn}");
        assert!(drawn.contains("<title>Unknown</title>") && drawn.matches("<text").count() == 1, "{drawn}");
    }

    #[rstest]
    #[case("</text><script>alert(1)</script>", "&#60;/text&#62;&#60;script&#62;alert(1)&#60;/script&#62;")]
    #[case("\" onload=\"x", "&#34; onload=&#34;x")]
    #[case("a\u{1}\u{8}\u{7f}\u{85}\n\u{202e}\u{2066}\u{ffff}b", "ab")]
    #[case("  ", "")]
    fn hostile_texts_are_text(#[case] text: &str, #[case] shown: &str) {
        let drawn = svg(&BadgeImage::new(text, "Up", ComponentStatus::Operational));
        let title = if shown.is_empty() { "Up".to_owned() } else { format!("{shown}: Up") };
        assert!(drawn.contains(&format!("<title>{title}</title>")), "{drawn}");
        let mut reader = quick_xml::Reader::from_str(&drawn);
        while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    }

    #[test]
    fn long_texts_are_shortened() {
        let badge = BadgeImage::new(&"a".repeat(300), "Up", ComponentStatus::Operational);
        assert_eq!(badge.label.chars().count(), TEXT_MAX + 1);
    }

    #[rstest]
    #[case(ComponentStatus::Operational, "#0f6b54", false)]
    #[case(ComponentStatus::MajorOutage, "#ab0028", true)]
    #[case(ComponentStatus::Unknown, "grey", false)]
    fn shields_gets_its_members(#[case] tone: ComponentStatus, #[case] color: &str, #[case] is_error: bool) {
        let document: serde_json::Value =
            serde_json::from_slice(&BadgeImage::new("Shop", "Word", tone).to_shields().unwrap()).unwrap();
        let expected = serde_json::json!({"schemaVersion": 1, "label": "Shop", "message": "Word",
            "color": color, "labelColor": "#555", "isError": is_error, "cacheSeconds": 300});
        assert_eq!(document, expected);
    }
}
