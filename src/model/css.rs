//! Sanitising the style sheet of a status page (contract 4.13.4).
//!
//! Everything that could run code, load another sheet or end the `<style>` element is cut out: `@import`, `@charset`,
//! `@namespace`, `expression(…)`, `behavior`, `-moz-binding`, `<`, and `url(…)` with anything other than HTTPS or an
//! embedded image, even if escapes or comments disguise it. Everything else stays byte for byte. Cutting is repeated
//! until nothing is found, because a cut can join the two halves of a forbidden construct.

mod glyph;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::model::css::glyph::StyleSheet;

/// Maximum number of rounds of cutting. A sheet that needs more is hostile and is dropped as a whole.
const MAX_ROUNDS: usize = 20;

/// At-rules that are cut, each up to its end.
const AT_RULES: [&str; 3] = ["@import", "@charset", "@namespace"];
/// Properties that are cut with their value.
const PROPERTIES: [&str; 3] = ["behavior", "-ms-behavior", "-moz-binding"];
/// Permitted starts of the address in `url(…)`: a scheme, or a media type of embedded data.
const ADDRESSES: [&str; 6] = [
    "https:",
    "data:image/png",
    "data:image/jpeg",
    "data:image/webp",
    "data:image/gif",
    "data:image/svg+xml",
];

/// Returns the sheet without forbidden constructs, trimmed; empty if the sheet needs more than `MAX_ROUNDS`.
#[must_use]
pub fn sanitise(text: &str) -> String {
    let mut text = text.trim().to_owned();
    for _ in 0..MAX_ROUNDS {
        let cuts = cuts(&StyleSheet::read(&text));
        if cuts.is_empty() {
            return text.trim().to_owned();
        }
        text = without(&text, &cuts);
    }
    String::new()
}

/// The byte ranges to cut out, ascending and disjoint.
fn cuts(sheet: &StyleSheet) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < sheet.len() {
        match cut_end(sheet, at) {
            Some(end) => {
                cuts.push(sheet.bytes(at..end));
                at = end;
            }
            None => at += 1,
        }
    }
    cuts
}

/// Returns the end of the forbidden construct that starts at character `at`; `None` if no such construct starts there.
fn cut_end(sheet: &StyleSheet, at: usize) -> Option<usize> {
    match sheet.lower(at)? {
        '<' => Some(at + 1),
        '@' => {
            let end = AT_RULES.iter().find_map(|rule| sheet.word_end(at, rule))?;
            (!sheet.is_in_name(end)).then(|| sheet.statement_end(end))
        }
        'e' => {
            let open = sheet.call_open(at, "expression")?;
            Some(sheet.call_end(open))
        }
        'u' => {
            let open = sheet.call_open(at, "url")?;
            let (address, end) = sheet.address(open);
            (!is_allowed(&address)).then_some(end)
        }
        'b' | '-' => {
            let end = PROPERTIES.iter().find_map(|property| sheet.word_end(at, property))?;
            let is_whole = at.checked_sub(1).is_none_or(|before| !sheet.is_in_name(before));
            let colon = sheet.skip_blank(end);
            (is_whole && sheet.lower(colon) == Some(':')).then(|| sheet.declaration_end(colon)).flatten()
        }
        _ => None,
    }
}

fn is_allowed(address: &str) -> bool {
    let fits = |allowed: &str| {
        let rest = address.strip_prefix(allowed);
        rest.is_some_and(|rest| allowed == "https:" || rest.starts_with([',', ';']))
    };
    ADDRESSES.into_iter().any(fits)
}

fn without(text: &str, cuts: &[Range<usize>]) -> String {
    let mut remaining = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        remaining.push_str(text.get(from..cut.start).unwrap_or_default());
        from = cut.end;
    }
    remaining.push_str(text.get(from..).unwrap_or_default());
    remaining
}
