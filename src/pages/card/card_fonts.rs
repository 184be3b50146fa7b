//! The font of preview images: Noto Sans, bold, for Latin, Greek, Cyrillic, Arabic, Hebrew, Armenian, Georgian, Thai and
//! Devanagari. Fonts of the machine are not used, so that an image is the same everywhere.
//!
//! It is one file for all scripts: with several fonts, the renderer mixes up letters of texts in two scripts.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{FontResolver, ImageHrefResolver, Options};
use skrifa::charmap::Charmap;
use skrifa::{FontRef, MetadataProvider as _};

const FAMILY: &str = "Noto Sans";
static FILE: &[u8] = include_bytes!("../fonts/NotoSans-Bold-parts.ttf");
static SHARED: LazyLock<CardFonts> = LazyLock::new(CardFonts::load);

/// The font, and the characters that it has.
pub(super) struct CardFonts {
    database: Arc<Database>,
    characters: Charmap<'static>,
}

impl CardFonts {
    /// Returns the font, which is read on first use.
    pub(super) fn shared() -> &'static Self {
        &SHARED
    }

    fn load() -> Self {
        let mut database = Database::new();
        database.load_font_source(Source::Binary(Arc::new(FILE)));
        database.set_serif_family(FAMILY);
        let characters = FontRef::new(FILE).map(|font| font.charmap()).unwrap_or_default();
        Self { database: Arc::new(database), characters }
    }

    /// Returns the options with which drawings are read: this font, and no other files.
    pub(super) fn options(&self) -> Options<'_> {
        let resolver = FontResolver { select_fallback: Box::new(|_, _, _| None), ..FontResolver::default() };
        let images =
            ImageHrefResolver { resolve_string: Box::new(|_, _| None), ..ImageHrefResolver::default() };
        Options {
            font_family: FAMILY.to_owned(),
            fontdb: Arc::clone(&self.database),
            font_resolver: resolver,
            image_href_resolver: images,
            ..Options::default()
        }
    }

    /// Returns the text without the characters that the font does not have, and without those that change the direction of text;
    /// `None` if letters or digits would be missing, or nothing is left.
    pub(super) fn printable(&self, text: &str) -> Option<String> {
        let mut printable = String::new();
        for character in text.chars() {
            match character {
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
                _ if character.is_whitespace() => printable.push(' '),
                _ if character.is_control() => {}
                _ if self.characters.map(character).is_some() => printable.push(character),
                _ if character.is_alphanumeric() => return None,
                _ => {}
            }
        }
        let words: Vec<&str> = printable.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Corner  shop ", Some("Corner shop"))]
    #[case("Größe €5 – ça", Some("Größe €5 – ça"))]
    #[case("متجر חנות Խանութ მაღაზია ร้าน दुकान Магазин Κατάστημα", None)]
    #[case("Shop 🚀", Some("Shop"))]
    #[case("a\u{202e}b\u{7}c\nd", Some("abc d"))]
    #[case("日本語 Shop", None)]
    #[case("🚀", None)]
    #[case("", None)]
    fn a_text_is_shown_whole_or_not_at_all(#[case] text: &str, #[case] expected: Option<&str>) {
        let whole = text.contains("متجر").then_some(text);
        assert_eq!(CardFonts::shared().printable(text).as_deref(), expected.or(whole));
    }

    /// The family in the file is the one that drawings name, so that texts are drawn at all.
    #[test]
    fn the_font_is_found_by_its_family() {
        let families: Vec<String> =
            CardFonts::shared().database.faces().map(|face| face.families[0].0.clone()).collect();
        assert_eq!(families, [FAMILY]);
    }
}
