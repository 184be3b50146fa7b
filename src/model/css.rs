//! Sanitising the style sheet of a status page (contract 4.13.4).
//!
//! Everything that could load code, other sheets or foreign resources is cut out: `@import`, `@charset`,
//! `@namespace`, `expression(…)`, `behavior`, `-moz-binding`, foreign `url(…)`, and `<`, also where escapes or
//! comments spell one of them. Everything else stays byte for byte. Cutting is repeated until nothing is found,
//! because a cut can join two halves.

mod glyph;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::model::css::glyph::StyleSheet;

/// Maximum rounds of cutting. A sheet that needs more is hostile; nothing of it is kept.
const MAX_ROUNDS: usize = 20;

/// At-rules that are cut with everything up to their end.
const AT_RULES: [&str; 3] = ["@import", "@charset", "@namespace"];
/// Properties that are cut with their value.
const PROPERTIES: [&str; 3] = ["behavior", "-ms-behavior", "-moz-binding"];
/// The schemes and media types of the addresses that `url(…)` may name.
const ADDRESSES: [&str; 6] = [
    "https:",
    "data:image/png",
    "data:image/jpeg",
    "data:image/webp",
    "data:image/gif",
    "data:image/svg+xml",
];

/// The sheet without forbidden constructs, trimmed.
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

/// The byte ranges to cut out, in order and disjoint.
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

/// Returns the end of the forbidden construct that starts at glyph `at`; `None` when none starts there.
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
