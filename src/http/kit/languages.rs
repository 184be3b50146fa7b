//! The language of a response (contract 1.11, RFC 9110 section 12.5.4).
//!
//! The organisation's languages are matched with `Accept-Language`. An invalid header, or one that matches no language, is
//! never refused: the default language is used.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::model::access::Organisation;
use crate::model::language::choose;
use crate::model::translated_text::TranslatedText;

/// The language of one response, and its fallback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerLanguage {
    chosen: String,
    default: String,
}

impl AnswerLanguage {
    /// Negotiates the language for a client of this organisation.
    #[must_use]
    pub fn negotiate(headers: &HeaderMap, organisation: &Organisation) -> Self {
        let default = organisation.default_locale.clone();
        Self::among(headers, &organisation.locales, default)
    }

    /// Negotiates the language for a client who may choose among `locales`.
    #[must_use]
    pub fn among(headers: &HeaderMap, locales: &[String], default: String) -> Self {
        let mut lines = headers.get_all(header::ACCEPT_LANGUAGE).map(HeaderValue::to_str);
        let text = lines.by_ref().collect::<Result<Vec<_>, _>>().map(|lines| lines.join(","));
        let chosen = text.ok().and_then(|text| choose(&text, locales, &default));
        Self { chosen: chosen.unwrap_or_else(|| default.clone()), default }
    }

    /// Returns the language of the response.
    #[must_use]
    pub fn chosen(&self) -> &str {
        &self.chosen
    }

    /// Returns the text in the negotiated language, or else in the default language.
    #[must_use]
    pub fn text<'t>(&self, text: &'t TranslatedText) -> &'t str {
        text.text(&self.chosen, &self.default)
    }

    /// Returns `Content-Language` and `Vary` of a response with translatable fields.
    #[must_use]
    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        language_headers(&self.chosen)
    }
}

/// Returns `Content-Language` and `Vary` of a response in this language.
#[must_use]
pub fn language_headers(language: &str) -> Vec<(HeaderName, HeaderValue)> {
    let vary = (header::VARY, HeaderValue::from_static("Accept-Language"));
    let language = HeaderValue::from_str(language).map(|value| (header::CONTENT_LANGUAGE, value));
    language.into_iter().chain([vary]).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 1.11: negotiation for an organisation with `en` (default), `de` and `pt-BR`.
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
    fn the_best_language_of_the_organisation_is_chosen(#[case] accept: &str, #[case] chosen: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_str(accept).unwrap());
        let locales = ["en", "de", "pt-BR"].map(str::to_owned);
        assert_eq!(AnswerLanguage::among(&headers, &locales, "en".into()).chosen(), chosen);
    }

    #[test]
    fn a_response_names_its_language() {
        let languages = AnswerLanguage { chosen: "de".into(), default: "en".into() };
        let headers = languages.headers();
        assert_eq!(headers[0], (header::CONTENT_LANGUAGE, HeaderValue::from_static("de")));
        assert_eq!(headers[1], (header::VARY, HeaderValue::from_static("Accept-Language")));
    }
}
