//! Reads translatable fields of a body (contract 1.11): a string in the default language, or one text per language.
//!
//! Either form replaces the whole field. Blank texts of other languages are left out.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::FieldPatch;
use crate::http::kit::rule::FieldRule;
use crate::model::access::Organisation;
use crate::model::statuspage::used_locale;
use crate::model::translated_text::TranslatedText;

/// The languages in which a text may be given.
#[derive(Clone, Copy, Debug)]
pub struct TextLanguages<'a> {
    /// Languages of the organisation.
    pub used: &'a [String],
    /// Languages of the organisation that are offered to readers.
    pub offered: &'a [String],
    /// The required language of every text.
    pub default: &'a str,
}

impl<'a> From<&'a Organisation> for TextLanguages<'a> {
    fn from(organisation: &'a Organisation) -> Self {
        let Organisation { locales, default_locale, .. } = organisation;
        Self { used: locales, offered: locales, default: default_locale }
    }
}

impl TextLanguages<'_> {
    /// Returns the offered language of this name, in its usual spelling.
    ///
    /// # Errors
    ///
    /// The rule that the name breaks.
    fn find(&self, locale: &str) -> Result<&String, FieldRule> {
        let is_used = used_locale(locale, self.used).is_some();
        used_locale(locale, self.offered).ok_or_else(|| match is_used {
            true => FieldRule::LocaleSubset,
            false => FieldRule::LocaleUnknown(locale.to_owned()),
        })
    }
}

/// Reads a text of this length, in the languages of the organisation.
#[must_use]
pub fn read_translated(
    field: &BodyField<'_>,
    length: RangeInclusive<usize>,
    organisation: &Organisation,
) -> Option<TranslatedText> {
    if field.is_object() {
        return read_texts(field, &length, organisation.into());
    }
    Some(TranslatedText::single(&organisation.default_locale, field.text(length)?))
}

/// Reads a nullable text of this length; null and a blank string clear the field.
#[must_use]
pub fn read_nullable_translated(
    given: FieldPatch<BodyField<'_>>,
    length: RangeInclusive<usize>,
    organisation: &Organisation,
) -> FieldPatch<TranslatedText> {
    match given {
        FieldPatch::Value(field) if field.is_blank() => FieldPatch::Null,
        given => given.read(|field| read_translated(&field, length, organisation)),
    }
}

/// Reads an object with one text per language, which must include the default language.
#[must_use]
pub fn read_texts(
    field: &BodyField<'_>,
    length: &RangeInclusive<usize>,
    languages: TextLanguages<'_>,
) -> Option<TranslatedText> {
    let members = field.object()?;
    let default = languages.default;
    if members.each().next().is_none() {
        return field.refuse(FieldRule::LocaleDefault(default.to_owned()));
    }
    let mut texts = BTreeMap::new();
    let (mut is_sound, mut has_default) = (true, false);
    for (locale, text) in members.each() {
        let known = match languages.find(locale) {
            Ok(known) => known,
            Err(rule) => {
                is_sound = false;
                members.refuse(locale, rule);
                continue;
            }
        };
        if text.is_blank() {
            continue;
        }
        has_default |= known == default;
        match text.text(1..=*length.end()) {
            Some(text) => drop(texts.insert(known.clone(), text)),
            None => is_sound = false,
        }
    }
    if !has_default {
        members.refuse(default, FieldRule::LocaleDefault(default.to_owned()));
        return None;
    }
    is_sound.then(|| TranslatedText::new(texts)).flatten()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::clock::Timestamp;
    use crate::http::kit::field_errors::FieldErrors;
    use crate::http::kit::fields::ErrorCollector;
    use crate::id::Id;
    use crate::model::access::Plan;

    fn organisation() -> Organisation {
        Organisation {
            key: 1,
            id: Id::random(),
            name: "Example Ltd".into(),
            plan: Plan::Team,
            self_hosted: false,
            locales: vec!["en".into(), "de".into()],
            default_locale: "en".into(),
            created_at: Timestamp::from_ms(0),
        }
    }

    fn read(value: &Value) -> Result<String, FieldErrors> {
        let errors = ErrorCollector::default();
        let text = read_translated(&BodyField::new(value, "x", &errors), 1..=5, &organisation());
        errors.into_inner().into_result(()).map(|()| text.unwrap().to_json().to_string())
    }

    /// Contract 1.11: input.
    #[rstest]
    #[case(json!(" Hi "), r#"{"en":"Hi"}"#)]
    #[case(json!({"en": " Hi ", "de": "Hallo"}), r#"{"de":"Hallo","en":"Hi"}"#)]
    #[case(json!({"EN": "Hi", "DE": "Hallo"}), r#"{"de":"Hallo","en":"Hi"}"#)]
    #[case(json!({"en": "Hi", "de": "  "}), r#"{"en":"Hi"}"#)]
    fn a_text_is_given_in_one_or_more_languages(#[case] value: Value, #[case] stored: &str) {
        assert_eq!(read(&value).as_deref(), Ok(stored));
    }

    /// Contract 1.11: refused input.
    #[rstest]
    #[case(json!(7), "x", FieldRule::String)]
    #[case(json!(["Hi"]), "x", FieldRule::String)]
    #[case(json!(""), "x", FieldRule::MinLength(1))]
    #[case(json!("toolong"), "x", FieldRule::MaxLength(5))]
    #[case(json!({}), "x", FieldRule::LocaleDefault("en".into()))]
    #[case(json!({"de": "Hallo"}), "x.en", FieldRule::LocaleDefault("en".into()))]
    #[case(json!({"en": " ", "de": "Hallo"}), "x.en", FieldRule::LocaleDefault("en".into()))]
    #[case(json!({"en": "Hi", "fr": "Salut"}), "x.fr", FieldRule::LocaleUnknown("fr".into()))]
    #[case(json!({"en": "toolong"}), "x.en", FieldRule::MaxLength(5))]
    #[case(json!({"en": "Hi", "de": "toolong"}), "x.de", FieldRule::MaxLength(5))]
    #[case(json!({"en": "Hi", "de": 7}), "x.de", FieldRule::String)]
    fn an_error_names_the_path_of_the_invalid_text(
        #[case] value: Value,
        #[case] path: &str,
        #[case] rule: FieldRule,
    ) {
        assert_eq!(read(&value), Err(FieldErrors::of(path, rule)));
    }
}
