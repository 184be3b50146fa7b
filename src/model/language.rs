//! Choice of a language by `Accept-Language` (contract 1.11, RFC 9110 section 12.5.4).
//!
//! A malformed header counts as absent. If no language is chosen, the caller decides.

/// Maximum number of entries of the header that are read.
const MAX_ENTRIES: usize = 50;

/// One entry of the header.
struct LanguageRange<'a> {
    tag: &'a str,
    /// Quality value in thousandths, 0 to 1000.
    quality: u16,
}

/// The language of `locales` that an `Accept-Language` header prefers, or `default` if it prefers `*`. `None` if the
/// header names no language of `locales`, or is malformed.
#[must_use]
pub fn choose(text: &str, locales: &[String], default: &str) -> Option<String> {
    let mut ranges: Vec<LanguageRange<'_>> = text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .take(MAX_ENTRIES)
        .map(range)
        .collect::<Option<_>>()?;
    let refused: Vec<&str> =
        ranges.iter().filter(|range| range.quality == 0).map(|range| range.tag).collect();
    let is_refused = |locale: &str| refused.iter().any(|tag| tag.eq_ignore_ascii_case(locale));
    let refused_any = is_refused("*");
    ranges.retain(|range| range.quality > 0);
    ranges.sort_by_key(|range| std::cmp::Reverse(range.quality));
    let allowed = |locale: &&String| !is_refused(locale);
    let found = ranges.iter().find_map(|range| {
        if range.tag == "*" {
            return Some(default.to_owned()).filter(|locale| !is_refused(locale));
        }
        prefixes(range.tag).find_map(|prefix| {
            let same = |locale: &&String| locale.eq_ignore_ascii_case(prefix);
            locales.iter().filter(allowed).find(same).cloned()
        })
    });
    if refused_any { found.filter(|locale| !is_refused(locale)) } else { found }
}

/// Parses an entry such as `de-AT;q=0.8`. `None` if the entry is malformed, which makes the whole header malformed.
fn range(entry: &str) -> Option<LanguageRange<'_>> {
    let mut parts = entry.split(';').map(str::trim);
    let tag = parts.next().filter(|tag| is_tag(tag))?;
    let mut quality = 1000;
    for parameter in parts {
        let (name, value) = parameter.split_once('=')?;
        if !name.trim().eq_ignore_ascii_case("q") {
            return None;
        }
        quality = thousandths(value.trim())?;
    }
    Some(LanguageRange { tag, quality })
}

fn is_tag(tag: &str) -> bool {
    tag == "*"
        || tag.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Parses a quality value of RFC 9110, from 0 to 1 with up to three decimals, into thousandths.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals: u16 = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(decimals),
        "1" if decimals == 0 => Some(1000),
        _ => None,
    }
}

/// The tag itself, then its shorter forms, such as `de-AT` and `de`.
fn prefixes(tag: &str) -> impl Iterator<Item = &str> {
    let cuts = tag.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev();
    std::iter::once(tag).chain(cuts.map(move |at| &tag[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_forms_of_a_language_are_found() {
        let locales = ["en", "de", "pt-BR"].map(str::to_owned);
        let choice = |header: &str| choose(header, &locales, "en");
        assert_eq!(choice("de-AT, en;q=0.5").as_deref(), Some("de"));
        assert_eq!(choice("pt-BR-x").as_deref(), Some("pt-BR"));
        assert_eq!(choice("fr"), None);
        assert_eq!(choice("de;q=x"), None);
    }
}
