//! A text in several languages (contract 1.11).
//!
//! The text exists in at least one language. Languages are spelled as the organisation spells them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// One text per language, in the alphabetical order of the languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TranslatedText(BTreeMap<String, String>);

/// The stored text is not an object of texts by language, or is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a translated text cannot be read")]
pub struct UnreadableTranslation;

impl TranslatedText {
    /// A text in one language.
    #[must_use]
    pub fn single(locale: &str, text: impl Into<String>) -> Self {
        Self(BTreeMap::from([(locale.to_owned(), text.into())]))
    }

    /// Makes a translated text from texts by language; `None` if there is none.
    #[must_use]
    pub fn new(texts: BTreeMap<String, String>) -> Option<Self> {
        (!texts.is_empty()).then_some(Self(texts))
    }

    /// The text in exactly this language, if there is one.
    #[must_use]
    pub fn get(&self, locale: &str) -> Option<&str> {
        self.0.get(locale).map(String::as_str)
    }

    /// Returns the text for a reader of `wanted`: in that language, otherwise in `default`, otherwise in the first
    /// language.
    #[must_use]
    pub fn text(&self, wanted: &str, default: &str) -> &str {
        let first = || self.0.values().next().map(String::as_str);
        self.get(wanted).or_else(|| self.get(default)).or_else(first).unwrap_or_default()
    }

    /// Returns each language with its text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(locale, text)| (locale.as_str(), text.as_str()))
    }

    /// The form in the API and in the database: `{locale: text}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.iter().map(|(locale, text)| (locale.to_owned(), Value::from(text))).collect()
    }

    /// Parses the output of [`TranslatedText::to_json`].
    ///
    /// # Errors
    ///
    /// If the text is not a JSON object of texts, or is empty.
    pub fn from_stored(stored: &str) -> Result<Self, UnreadableTranslation> {
        let texts = serde_json::from_str(stored).map_err(|_| UnreadableTranslation)?;
        Self::new(texts).ok_or(UnreadableTranslation)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 1.11: the language that a reader gets.
    #[rstest]
    #[case(r#"{"en":"Hello","de":"Hallo"}"#, "de", "en", "Hallo")]
    #[case(r#"{"en":"Hello","de":"Hallo"}"#, "fr", "en", "Hello")]
    #[case(r#"{"fr":"Salut","de":"Hallo"}"#, "it", "en", "Hallo")]
    fn a_reader_gets_the_nearest_language(
        #[case] stored: &str,
        #[case] wanted: &str,
        #[case] default: &str,
        #[case] text: &str,
    ) {
        assert_eq!(TranslatedText::from_stored(stored).unwrap().text(wanted, default), text);
    }

    #[test]
    fn stored_text_is_read_back() {
        let text = TranslatedText::from_stored(r#"{"en":"a","de":"b"}"#).unwrap();
        assert_eq!(text.to_json().to_string(), r#"{"de":"b","en":"a"}"#);
        assert_eq!(TranslatedText::from_stored(&text.to_json().to_string()), Ok(text));
        for unreadable in ["{}", "null", "[]", r#"{"en":1}"#] {
            assert_eq!(TranslatedText::from_stored(unreadable), Err(UnreadableTranslation));
        }
    }
}
