//! Escapes text from outside for the terminal and the log, so that no character controls anything.
//!
//! The name of a service, or the answer of a target or another node, may contain line breaks, escape codes that colour,
//! hide or rewrite text, and marks that change the direction of writing. Such characters are shown as `\n`,
//! `\u001b` and so on, as in JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the text with all control characters, line separators and direction marks escaped, so the result is one line.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Same as [`printable`], but keeps line breaks: for texts of several lines that this program has composed.
pub(super) fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character == '\n')
}

fn escaped(text: &str, is_kept: fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |character: char| is_kept(character) || !controls(character);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            plain if is_plain(plain) => shown.push(plain),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            // Writing to a `String` cannot fail.
            other => drop(write!(shown, "\\u{:04x}", u32::from(other))),
        }
    }
    Cow::Owned(shown)
}

/// Returns true for control characters, line separators, and marks that change the direction of writing.
fn controls(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Größe 5 – ✓", "Größe 5 – ✓")]
    #[case("a\u{1b}[31mb", "a\\u001b[31mb")]
    #[case("a\nERROR forged\r\t", "a\\nERROR forged\\r\\t")]
    #[case("\0\u{7f}\u{9b}31m", "\\u0000\\u007f\\u009b31m")]
    #[case("pay\u{202e}lap\u{2066}\u{2028}", "pay\\u202elap\\u2066\\u2028")]
    fn control_characters_are_escaped(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(printable(text), shown);
    }

    #[test]
    fn line_breaks_of_the_program_stay() {
        assert_eq!(printable_lines("a\nb\u{1b}c\n"), "a\nb\\u001bc\n");
    }
}
