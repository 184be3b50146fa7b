//! Breaks a text into lines that fit their space, in the largest size in which they do.

use std::fmt::Write as _;

use quick_xml::escape::escape;
use resvg::usvg::{Error as DrawingError, Node, Tree};

use crate::pages::card::card_fonts::CardFonts;

/// Font size in which words are measured.
const MEASURED_SIZE: u32 = 100;
/// Width of a space in percent of the font size.
const SPACE: u32 = 26;

/// The space for a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockLimits {
    /// Font sizes in pixels, largest first, with the maximum number of lines in each.
    pub(super) sizes: &'static [u32],
    pub(super) lines: &'static [usize],
    /// Width in pixels.
    pub(super) width: u32,
}

/// A text in lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextBlock {
    /// Font size in pixels.
    pub(super) size: u32,
    pub(super) lines: Vec<String>,
}

/// A word, or a part of a word that is wider than a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MeasuredWord {
    text: String,
    /// Width in percent of the font size.
    width: u32,
    /// True if a space separates it from the word before.
    is_separate: bool,
}

impl TextBlock {
    /// Breaks a text into lines. A text that does not fit in the smallest size is cut off.
    ///
    /// # Errors
    /// When the text cannot be measured.
    pub(super) fn fit(fonts: &CardFonts, text: &str, limits: &BlockLimits) -> Result<Self, DrawingError> {
        let smallest = limits.sizes.last().copied().unwrap_or(MEASURED_SIZE);
        let most = limits.width * 100 / smallest;
        let words: Vec<MeasuredWord> =
            measure(fonts, text)?.into_iter().flat_map(|word| word.cut_to(most)).collect();
        let mut fitting = limits.sizes.iter().zip(limits.lines).map(|(size, most_lines)| {
            let lines = wrap(&words, limits.width * 100 / size);
            (*size, lines, *most_lines)
        });
        let found = fitting.find_map(|(size, lines, most_lines)| {
            let lines = lines.filter(|lines| lines.len() <= most_lines)?;
            Some(Self { size, lines })
        });
        Ok(found.unwrap_or_else(|| {
            let most_lines = limits.lines.last().copied().unwrap_or(1);
            let mut lines = wrap(&words, most).unwrap_or_default();
            lines.truncate(most_lines);
            if let Some(last) = lines.last_mut() {
                // Room for the dots: a word, or some letters of the only word.
                let end = last.rfind(' ').or_else(|| last.char_indices().nth_back(1).map(|(at, _)| at));
                last.truncate(end.unwrap_or_default());
                last.push('…');
            }
            Self { size: smallest, lines }
        }))
    }

    pub(super) const fn line_height(&self) -> u32 {
        self.size * 6 / 5
    }

    /// Returns the height of all lines in pixels.
    pub(super) fn height(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or_default() * self.line_height()
    }
}

impl MeasuredWord {
    /// Cuts a word that is wider than a line into parts of about equal width.
    fn cut_to(self, most: u32) -> Vec<Self> {
        if self.width <= most {
            return vec![self];
        }
        let letters: Vec<char> = self.text.chars().collect();
        // Letters differ in width; a tenth of a line is left for that.
        let parts = usize::try_from(self.width / (most * 9 / 10).max(1) + 1).unwrap_or(1);
        let length = letters.len().div_ceil(parts).max(1);
        let part = |(index, letters): (usize, &[char])| Self {
            text: letters.iter().collect(),
            width: self.width * u32::try_from(letters.len()).unwrap_or_default()
                / u32::try_from(self.text.chars().count()).unwrap_or(1).max(1),
            is_separate: self.is_separate && index == 0,
        };
        letters.chunks(length).enumerate().map(part).collect()
    }
}

/// Breaks words into lines of at most this width, in percent of the font size; `None` if a word is wider.
fn wrap(words: &[MeasuredWord], most: u32) -> Option<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in words {
        if word.width > most {
            return None;
        }
        let space = if word.is_separate { SPACE } else { 0 };
        match lines.last_mut() {
            Some(line) if used + space + word.width <= most => {
                if word.is_separate {
                    line.push(' ');
                }
                line.push_str(&word.text);
                used += space + word.width;
            }
            _ => {
                lines.push(word.text.clone());
                used = word.width;
            }
        }
    }
    Some(lines)
}

/// Measures the words of a text.
fn measure(fonts: &CardFonts, text: &str) -> Result<Vec<MeasuredWord>, DrawingError> {
    let mut svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\">".to_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = write!(
            svg,
            "<text id=\"w{index}\" font-size=\"{MEASURED_SIZE}\" font-weight=\"700\">{}</text>",
            escape(*word)
        );
    }
    svg += "</svg>";
    let tree = Tree::from_str(&svg, &fonts.options())?;
    let measured = words.iter().enumerate().map(|(index, word)| MeasuredWord {
        text: (*word).to_owned(),
        width: tree.node_by_id(&format!("w{index}")).map_or(0, width),
        is_separate: true,
    });
    Ok(measured.collect())
}

/// Returns the width of a text in pixels, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "widths are positive and small")]
fn width(node: &Node) -> u32 {
    node.bounding_box().width().ceil().max(0.0) as u32
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LIMITS: BlockLimits = BlockLimits { sizes: &[80, 40], lines: &[1, 2], width: 400 };

    #[rstest]
    #[case("Shop", 80, &["Shop"])]
    #[case("Corner shop of the town", 40, &["Corner shop of the", "town"])]
    #[case("", 80, &[])]
    fn a_text_is_as_large_as_possible(#[case] text: &str, #[case] size: u32, #[case] lines: &[&str]) {
        let block = TextBlock::fit(CardFonts::shared(), text, &LIMITS).unwrap();
        assert_eq!((block.size, block.lines), (size, lines.iter().map(|line| (*line).to_owned()).collect()));
    }

    #[rstest]
    #[case("word ".repeat(50))]
    #[case("W".repeat(200))]
    #[case("น".repeat(200))]
    fn a_long_text_is_cut_off(#[case] text: String) {
        let block = TextBlock::fit(CardFonts::shared(), &text, &LIMITS).unwrap();
        assert_eq!((block.size, block.lines.len()), (40, 2));
        assert!(block.lines[1].ends_with('…'), "{:?}", block.lines);
        for line in &block.lines {
            let words = measure(CardFonts::shared(), &line.replace(' ', "_")).unwrap();
            assert!(words[0].width * 40 / 100 <= 420, "{line}");
        }
    }
}
