//! The preview image of a page: what messengers and social networks show beside a link. 1200 by 630 pixels, PNG.
//!
//! It is drawn as SVG and then turned into pixels, both with the fonts of this program, which takes tens of milliseconds:
//! callers do it outside of their event loop. The file name contains [`CardContent::revision`], because networks store an
//! image under its address for days.

mod card_fonts;
mod text_block;

use std::fmt::Write as _;

use quick_xml::escape::escape;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::Tree;

use crate::model::component::status::ComponentStatus;
use crate::pages::card::card_fonts::CardFonts;
use crate::pages::card::text_block::{BlockLimits, TextBlock};
use crate::pages::contrast::ColorScheme;
use crate::pages::palette::{StatePalette, mark_path};
use crate::representation::hash;

/// Size of the image in pixels.
pub(super) const CARD_WIDTH: u32 = 1_200;
pub(super) const CARD_HEIGHT: u32 = 630;
/// Changes when the drawing changes, so that addresses of images change too.
const DRAWING: u32 = 1;

/// Networks cut off up to this much at the left and the right.
const MARGIN: u32 = 60;
const FIELD: u32 = CARD_WIDTH - 2 * MARGIN;
/// The box with the status, its distance from the top, and its height.
const BOX_TOP: u32 = 420;
const BOX_HEIGHT: u32 = 150;
const MARK: u32 = 64;

const HEADLINE: BlockLimits = BlockLimits { sizes: &[84, 72, 60, 50], lines: &[2, 2, 3, 3], width: FIELD };
const SECOND: BlockLimits = BlockLimits { sizes: &[38, 34], lines: &[1, 2], width: FIELD };
const SENTENCE: BlockLimits = BlockLimits { sizes: &[50, 42, 36], lines: &[1, 2, 2], width: FIELD - 200 };

/// What a preview image shows. Equal contents give equal images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardContent {
    /// The name of the page, or the title of an incident.
    pub(super) headline: String,
    /// The smaller line below.
    pub(super) second: String,
    /// The host of the page, shown in place of texts in scripts that the fonts do not have.
    pub(super) host: String,
    /// The status with a sentence; `None` = the image does not show it.
    pub(super) state: Option<CardState>,
    pub(super) scheme: ColorScheme,
    /// Colour of the page's owner as `#rrggbb`.
    pub(super) accent: Option<String>,
    /// True if texts begin at the right.
    pub(super) is_right_to_left: bool,
}

/// A status in a preview image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardState {
    pub(super) status: ComponentStatus,
    pub(super) sentence: String,
}

/// An image cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub(super) enum CardError {
    #[error("the drawing cannot be read: {0}")]
    Drawing(#[from] resvg::usvg::Error),
    #[error("the image cannot be written: {0}")]
    Encoding(String),
}

impl CardContent {
    /// Returns 16 hexadecimal digits that change with the image.
    pub(super) fn revision(&self) -> String {
        hash(format!("{DRAWING} {self:?}").as_bytes())
    }

    /// Draws the image as PNG.
    ///
    /// # Errors
    /// When the image cannot be drawn; no content causes that.
    pub(super) fn to_png(&self) -> Result<Vec<u8>, CardError> {
        let fonts = CardFonts::shared();
        let tree = Tree::from_str(&self.to_svg(fonts)?, &fonts.options())?;
        let mut pixels = Pixmap::new(CARD_WIDTH, CARD_HEIGHT)
            .ok_or_else(|| CardError::Encoding("no memory for the pixels".to_owned()))?;
        resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| CardError::Encoding(error.to_string()))
    }

    fn to_svg(&self, fonts: &CardFonts) -> Result<String, CardError> {
        let palette = StatePalette::of(self.scheme);
        let tone = self.state.as_ref().map_or(palette.soft, |state| palette.tone(state.status));
        let accent = self.accent.as_deref().unwrap_or(tone);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{CARD_WIDTH}\" height=\"{CARD_HEIGHT}\">\
             <rect width=\"{CARD_WIDTH}\" height=\"{CARD_HEIGHT}\" fill=\"{}\"/>\
             <rect width=\"{CARD_WIDTH}\" height=\"16\" fill=\"{}\"/>",
            palette.ground,
            escape(accent),
        );
        let headline = TextBlock::fit(fonts, &self.printable(fonts, &self.headline), &HEADLINE)?;
        let second = TextBlock::fit(fonts, &self.printable(fonts, &self.second), &SECOND)?;
        let height = headline.height() + 20 + second.height();
        let room = if self.state.is_some() { BOX_TOP } else { CARD_HEIGHT };
        let top = room.saturating_sub(height) / 2;
        self.write_block(&mut svg, &headline, BlockPlace { top, margin: MARGIN, color: palette.ink });
        let top = top + headline.height() + 20;
        self.write_block(&mut svg, &second, BlockPlace { top, margin: MARGIN, color: palette.soft });
        if let Some(state) = &self.state {
            let sentence = TextBlock::fit(fonts, &self.printable(fonts, &state.sentence), &SENTENCE)?;
            self.write_state(&mut svg, state.status, &sentence);
        }
        svg += "</svg>";
        Ok(svg)
    }

    /// Returns the text as far as the fonts have its characters; the host of the page if letters are missing.
    fn printable(&self, fonts: &CardFonts, text: &str) -> String {
        fonts.printable(text).or_else(|| fonts.printable(&self.host)).unwrap_or_default()
    }

    fn write_state(&self, svg: &mut String, status: ComponentStatus, sentence: &TextBlock) {
        let palette = StatePalette::of(self.scheme);
        let tone = palette.tone(status);
        let edge = self.left_edge(MARGIN, 14);
        let mark = self.left_edge(MARGIN + 54, MARK);
        let mark_top = BOX_TOP + (BOX_HEIGHT - MARK) / 2;
        // Writing to a `String` cannot fail.
        let _ = write!(
            svg,
            "<rect x=\"{MARGIN}\" y=\"{BOX_TOP}\" width=\"{FIELD}\" height=\"{BOX_HEIGHT}\" fill=\"{}\" stroke=\"{}\" \
             stroke-width=\"2\"/><rect x=\"{edge}\" y=\"{BOX_TOP}\" width=\"14\" height=\"{BOX_HEIGHT}\" fill=\"{tone}\"/>\
             <path transform=\"translate({mark} {mark_top}) scale(4)\" fill=\"{tone}\" d=\"{}\"/>",
            palette.card,
            palette.line,
            mark_path(status),
        );
        let top = BOX_TOP + BOX_HEIGHT.saturating_sub(sentence.height()) / 2;
        let place = BlockPlace { top, margin: MARGIN + 54 + MARK + 36, color: palette.ink };
        self.write_block(svg, sentence, place);
    }

    /// Returns the left edge of something with this width that begins this number of pixels from the start of the lines.
    const fn left_edge(&self, distance: u32, width: u32) -> u32 {
        if self.is_right_to_left { CARD_WIDTH - distance - width } else { distance }
    }

    fn write_block(&self, svg: &mut String, block: &TextBlock, place: BlockPlace) {
        let anchor = if self.is_right_to_left { "end" } else { "start" };
        let (x, size) = (self.left_edge(place.margin, 0), block.size);
        for (line, text) in (0..).zip(&block.lines) {
            let baseline = place.top + block.line_height() * line + size;
            // Writing to a `String` cannot fail.
            let _ = write!(
                svg,
                "<text x=\"{x}\" y=\"{baseline}\" text-anchor=\"{anchor}\" font-size=\"{size}\" font-weight=\"700\" \
                 fill=\"{}\">{}</text>",
                place.color,
                escape(embedded(text)),
            );
        }
    }
}

/// Position and colour of a block of text.
#[derive(Clone, Copy, Debug)]
struct BlockPlace {
    top: u32,
    /// Distance from the edge at which lines begin.
    margin: u32,
    color: &'static str,
}

/// Returns a line whose parts stand in the order of its first letter's script: a renderer of SVG takes lines as left to
/// right otherwise.
fn embedded(line: &str) -> String {
    let is_right_to_left = |character: char| matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    match line.chars().find(|character| character.is_alphabetic()) {
        Some(first) if is_right_to_left(first) => format!("\u{202b}{line}\u{202c}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn content(headline: &str) -> CardContent {
        CardContent {
            headline: headline.to_owned(),
            second: "shop.example.net".to_owned(),
            host: "shop.example.net".to_owned(),
            state: Some(CardState {
                status: ComponentStatus::Operational,
                sentence: "All systems operational".to_owned(),
            }),
            scheme: ColorScheme::Light,
            accent: None,
            is_right_to_left: false,
        }
    }

    fn pixels(png: &[u8]) -> image::RgbaImage {
        image::load_from_memory_with_format(png, image::ImageFormat::Png).unwrap().to_rgba8()
    }

    /// The columns, 0 to 1200, in which the headline is drawn.
    fn columns(content: &CardContent) -> (u32, u32) {
        let image = pixels(&content.to_png().unwrap());
        let background = *image.get_pixel(5, 100);
        let is_drawn = |x: &u32| (20..BOX_TOP - 10).any(|y| *image.get_pixel(*x, y) != background);
        let mut drawn = (0..CARD_WIDTH).filter(is_drawn);
        let first = drawn.next().unwrap();
        (first, drawn.next_back().unwrap())
    }

    #[rstest]
    #[case("Corner shop")]
    #[case("Wörterbuch für größere Straßenbahnen, ça va ? Niño")]
    #[case("Магазин на углу")]
    #[case("متجر الزاوية")]
    #[case("חנות פינתית")]
    #[case("Shop </text><script>alert(1)</script> & \"more\" \u{1}\u{202e}")]
    #[case("日本語")]
    #[case("")]
    fn an_image_has_its_size_and_is_small(#[case] name: &str) {
        for scheme in [ColorScheme::Light, ColorScheme::Dark] {
            let png = CardContent { scheme, ..content(name) }.to_png().unwrap();
            let image = pixels(&png);
            assert_eq!((image.width(), image.height()), (CARD_WIDTH, CARD_HEIGHT));
            assert!(png.len() < 300 * 1_024, "{} bytes", png.len());
        }
    }

    /// Letters that the font has are drawn, not replaced by boxes, also in a text of two scripts.
    #[rstest]
    #[case("متجر الزاوية (Shop)")]
    #[case("Shop (متجر), 24/7")]
    #[case("חנות פינתית 24/7 Shop")]
    #[case("दुकान ร้าน მაღაზია Խանութ Магазин")]
    fn every_letter_is_drawn(#[case] name: &str) {
        let fonts = CardFonts::shared();
        let svg = content(name).to_svg(fonts).unwrap();
        let tree = Tree::from_str(&svg, &fonts.options()).unwrap();
        let texts = tree.root().children().iter().filter_map(|node| match node {
            resvg::usvg::Node::Text(text) => Some(text),
            _ => None,
        });
        let spans: Vec<_> = texts.flat_map(|text| text.layouted()).collect();
        assert!(spans.len() >= 3, "{svg}");
        for glyph in spans.iter().flat_map(|span| &span.positioned_glyphs) {
            assert_ne!(glyph.id.0, 0, "{}", glyph.text);
        }
    }

    #[test]
    fn long_names_stay_inside_of_the_margins() {
        for name in ["word ".repeat(51), "W".repeat(255), "متجر ".repeat(50)] {
            let (first, last) =
                columns(&CardContent { is_right_to_left: name.starts_with('م'), ..content(&name) });
            assert!(first >= MARGIN - 4 && last <= CARD_WIDTH - MARGIN + 4, "{name}: {first} to {last}");
        }
    }

    #[test]
    fn lines_begin_at_the_right_in_languages_that_are_written_so() {
        let content = CardContent { second: String::new(), ..content("متجر") };
        let (first, _) = columns(&content);
        let (mirrored, last) = columns(&CardContent { is_right_to_left: true, ..content });
        assert!(first < 100 && mirrored > 600 && last > CARD_WIDTH - 100, "{first} {mirrored} {last}");
    }

    #[rstest]
    #[case("Shop (متجر)", "Shop (متجر)")]
    #[case("متجر (Shop)", "\u{202b}متجر (Shop)\u{202c}")]
    #[case("24 חנות", "\u{202b}24 חנות\u{202c}")]
    #[case("24/7", "24/7")]
    fn the_first_letter_decides_about_the_order(#[case] line: &str, #[case] expected: &str) {
        assert_eq!(embedded(line), expected);
    }

    #[test]
    fn the_revision_changes_with_the_image_only() {
        let first = content("Shop");
        assert_eq!(first.revision(), first.clone().revision());
        for other in [
            content("Shop 2"),
            CardContent { state: None, ..content("Shop") },
            CardContent { scheme: ColorScheme::Dark, ..content("Shop") },
            CardContent { accent: Some("#ff0000".to_owned()), ..content("Shop") },
        ] {
            assert_ne!(other.revision(), first.revision());
            assert_ne!(other.to_png().unwrap(), first.to_png().unwrap());
        }
    }
}
