//! Which language an answer is in (contract 1.11, RFC 9110 section 12.5.4).
//!
//! The organisation's languages are matched with `Accept-Language`. Nothing is ever refused: what cannot be read or
//! met is answered in the default language.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::model::access::Organisation;
use crate::model::translated::Translated;

/// Most entries of `Accept-Language` that are looked at.
const MAX_ENTRIES: usize = 50;

/// The language of one answer, and the one to fall back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages {
    chosen: String,
    default: String,
}

impl Languages {
    /// The language for a client of this organisation.
    #[must_use]
    pub fn negotiate(headers: &HeaderMap, organisation: &Organisation) -> Self {
        let default = organisation.default_locale.clone();
        Self::among(headers, &organisation.locales, default)
    }

    /// The language for a reader who may choose among `locales`.
    #[must_use]
    pub fn among(headers: &HeaderMap, locales: &[String], default: String) -> Self {
        let mut lines = headers.get_all(header::ACCEPT_LANGUAGE).map(HeaderValue::to_str);
        let text = lines.by_ref().collect::<Result<Vec<_>, _>>().map(|lines| lines.join(","));
        let chosen = text.ok().and_then(|text| choose(&text, locales, &default));
        Self { chosen: chosen.unwrap_or_else(|| default.clone()), default }
    }

    /// The language of the answer.
    #[must_use]
    pub fn chosen(&self) -> &str {
        &self.chosen
    }

    /// What the reader sees of a text.
    #[must_use]
    pub fn text<'t>(&self, text: &'t Translated) -> &'t str {
        text.text(&self.chosen, &self.default)
    }

    /// A text that may be missing, as JSON.
    #[must_use]
    pub fn optional(&self, text: Option<&Translated>) -> Value {
        text.map(|text| self.text(text)).into()
    }

    /// `Content-Language` and `Vary` of an answer with translatable fields.
    #[must_use]
    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        language_headers(&self.chosen)
    }
}

/// `Content-Language` and `Vary` of an answer in this language.
#[must_use]
pub fn language_headers(language: &str) -> Vec<(HeaderName, HeaderValue)> {
    let vary = (header::VARY, HeaderValue::from_static("Accept-Language"));
    let language = HeaderValue::from_str(language).map(|value| (header::CONTENT_LANGUAGE, value));
    language.into_iter().chain([vary]).collect()
}

/// One entry of the header.
struct Range<'a> {
    tag: &'a str,
    /// Thousandths.
    quality: u16,
}

fn choose(text: &str, locales: &[String], default: &str) -> Option<String> {
    let mut ranges: Vec<Range<'_>> = text
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

/// `de-AT;q=0.8`; `None` when it cannot be read, which makes the whole header malformed.
fn range(entry: &str) -> Option<Range<'_>> {
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
    Some(Range { tag, quality })
}

fn is_tag(tag: &str) -> bool {
    tag == "*"
        || tag.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// A quality of RFC 9110: `0`, `1`, or up to three decimals.
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

/// The tag itself, then its shorter forms.
fn prefixes(tag: &str) -> impl Iterator<Item = &str> {
    let cuts = tag.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev();
    std::iter::once(tag).chain(cuts.map(move |at| &tag[..at]))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 1.11, negotiation: an organisation with `en` (default), `de` and `pt-BR`.
    #[rstest]
    #[case("", "en")]
    #[case("de", "de")]
    #[case("DE", "de")]
    #[case("de-AT", "de")]
    #[case("pt-br-x", "pt-BR")]
    #[case("pt", "en")]
    #[case("fr, de;q=0.5", "de")]
    #[case("de;q=0.5, pt-BR;q=0.8", "pt-BR")]
    #[case("de;q=0", "en")]
    #[case("fr;q=1, *;q=0.1", "en")]
    #[case("*, de;q=0.5", "en")]
    #[case("de;q=banana", "en")]
    #[case("de;q=1.5", "en")]
    #[case(";;;", "en")]
    #[case("de,,", "de")]
    fn the_language_is_the_best_that_the_organisation_uses(#[case] accept: &str, #[case] chosen: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_str(accept).unwrap());
        let locales = ["en", "de", "pt-BR"].map(str::to_owned);
        assert_eq!(Languages::among(&headers, &locales, "en".into()).chosen(), chosen);
    }

    #[test]
    fn an_answer_says_its_language() {
        let languages = Languages { chosen: "de".into(), default: "en".into() };
        let headers = languages.headers();
        assert_eq!(headers[0], (header::CONTENT_LANGUAGE, HeaderValue::from_static("de")));
        assert_eq!(headers[1], (header::VARY, HeaderValue::from_static("Accept-Language")));
    }
}
