//! A text of a JSON document in its escaped form, compared without being copied.

use std::ops::ControlFlow;

use crate::probe::text_search::TextSearch;

/// The bytes between two quotes; escapes are well-formed. Bytes that are not UTF-8, and unpaired surrogates,
/// are read as U+FFFD, as in browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonText<'a>(&'a [u8]);

impl<'a> JsonText<'a> {
    pub(super) const fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns true when the text equals `wanted`.
    #[must_use]
    pub fn equals(self, wanted: &str) -> bool {
        let mut rest = wanted;
        let compared = self.pieces(|piece| match rest.strip_prefix(piece) {
            Some(behind) => {
                rest = behind;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
        compared.is_continue() && rest.is_empty()
    }

    /// Returns true when the text contains `wanted`.
    #[must_use]
    pub fn contains(self, wanted: &str) -> bool {
        let mut search = TextSearch::new(wanted);
        self.pieces(|piece| search.feed(piece)).is_break() || search.is_found()
    }

    /// Passes the text to `give` in chunks.
    fn pieces(self, mut give: impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
            for chunk in rest[..plain].utf8_chunks() {
                give(chunk.valid())?;
                if !chunk.invalid().is_empty() {
                    give("\u{fffd}")?;
                }
            }
            rest = &rest[plain..];
            if !rest.is_empty() {
                let (letter, length) = unescape(rest);
                give(letter.encode_utf8(&mut [0; 4]))?;
                rest = rest.get(length..).unwrap_or_default();
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns the character of the escape at the start of `raw`, and the length of the escape.
fn unescape(raw: &[u8]) -> (char, usize) {
    let letter = match raw.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unit(raw),
        Some(other) => char::from(*other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (letter, 2)
}

fn unescape_unit(raw: &[u8]) -> (char, usize) {
    let first = unit(raw).unwrap_or(0xfffd);
    if let Some(letter) = char::from_u32(first) {
        return (letter, 6);
    }
    match raw.get(6..).and_then(unit) {
        Some(second) if first < 0xdc00 && (0xdc00..0xe000).contains(&second) => {
            let letter = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The number of an escape `\uXXXX`.
fn unit(raw: &[u8]) -> Option<u32> {
    let digits = raw.strip_prefix(b"\\u")?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r"plain", "plain")]
    #[case(r"", "")]
    #[case(r#"a\n\t\r\b\f\/\\\""#, "a\n\t\r\u{8}\u{c}/\\\"")]
    #[case(r"caf\u00e9", "café")]
    #[case(r"\ud83d\ude00!", "😀!")]
    #[case(r"\ud83d", "\u{fffd}")]
    #[case(r"\ude00\ud83dx", "\u{fffd}\u{fffd}x")]
    #[case(r"\ud83d\u0041", "\u{fffd}A")]
    fn a_text_is_read_with_its_escapes(#[case] raw: &str, #[case] text: &str) {
        assert!(JsonText::new(raw.as_bytes()).equals(text));
        assert!(JsonText::new(raw.as_bytes()).contains(text));
        assert!(!JsonText::new(raw.as_bytes()).equals(&format!("{text}x")));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert!(JsonText::new(b"caf\xe9 au lait").equals("caf\u{fffd} au lait"));
    }
}
