//! Texts made by the engine: titles and timeline entries, in the languages of an organisation.
//!
//! Each language is one Fluent file in `texts/languages/`, found when the program is built: adding a language means
//! adding a file. A language without a file, or without one of the texts, falls back to English.

pub mod icalendar;
pub mod language_files;
pub mod markdown;
pub mod reason;
pub mod writing_direction;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::model::access::Organisation;
use crate::model::translated_text::TranslatedText;
use crate::texts::language_files::LanguageFiles;

/// Maximum number of characters of a name in a text: a title takes 255.
const NAME_LENGTH: usize = 150;

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/texts/languages");
static LANGUAGES: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

/// A text with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedText<'a> {
    /// Its name in the files.
    name: &'static str,
    /// The name of a service or of a person; long ones are cut.
    subject: Option<TextSubject<'a>>,
    count: Option<TextCount>,
    note: Option<&'a str>,
}

/// A name in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextSubject<'a> {
    variable: &'static str,
    name: &'a str,
}

/// A number in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextCount {
    variable: &'static str,
    number: usize,
}

impl<'a> GeneratedText<'a> {
    /// A text without arguments.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, subject: None, count: None, note: None }
    }

    /// A text about a service.
    #[must_use]
    pub const fn of_service(name: &'static str, service: &'a str) -> Self {
        Self { subject: Some(TextSubject { variable: "service", name: service }), ..Self::new(name) }
    }

    /// A text about a subject other than a service.
    #[must_use]
    pub const fn about(name: &'static str, subject: &'a str) -> Self {
        Self { subject: Some(TextSubject { variable: "subject", name: subject }), ..Self::new(name) }
    }

    /// The same text, with a note, for example the comment of a member.
    #[must_use]
    pub const fn with_note(self, note: &'a str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// The same, with a number of hours.
    #[must_use]
    pub const fn within_hours(self, number: usize) -> Self {
        Self { count: Some(TextCount { variable: "hours", number }), ..self }
    }

    /// The same text, with the number of further services.
    #[must_use]
    pub const fn with_other_count(self, number: usize) -> Self {
        Self { count: Some(TextCount { variable: "others", number }), ..self }
    }

    /// An acknowledgement by a member, perhaps with a note.
    #[must_use]
    pub const fn acknowledged(by: &'a str, note: Option<&'a str>) -> Self {
        let name = if note.is_some() { "acknowledged-with-note" } else { "acknowledged" };
        Self { subject: Some(TextSubject { variable: "by", name: by }), note, ..Self::new(name) }
    }

    /// Returns the text in a language, in English if there is no file for it.
    #[must_use]
    pub fn written_in(&self, locale: &str) -> String {
        LANGUAGES.text(locale, self.name, &self.arguments()).unwrap_or_else(|| self.name.to_owned())
    }

    /// Returns the text in the languages of the organisation: always in its default language, in the others where there is
    /// a file for them.
    #[must_use]
    pub fn translated(&self, organisation: &Organisation) -> TranslatedText {
        let Organisation { locales, default_locale, .. } = organisation;
        let arguments = self.arguments();
        let translation =
            |locale: &String| Some((locale.clone(), LANGUAGES.translation(locale, self.name, &arguments)?));
        let mut texts: BTreeMap<String, String> = locales.iter().filter_map(translation).collect();
        let by_default = || self.written_in(default_locale);
        texts.entry(default_locale.clone()).or_insert_with(by_default);
        TranslatedText::new(texts).unwrap_or_else(|| TranslatedText::single(default_locale, by_default()))
    }

    /// Returns a text composed of several, in the languages of the organisation: always in its default language, in
    /// the others where there is a file for them. `compose` writes it in a language.
    #[must_use]
    pub fn composed(organisation: &Organisation, compose: impl Fn(&str) -> String) -> TranslatedText {
        let Organisation { locales, default_locale, .. } = organisation;
        let translated = locales.iter().filter(|locale| LANGUAGES.of(locale).is_some());
        let texts = translated.chain([default_locale]).map(|locale| (locale.clone(), compose(locale)));
        let texts: BTreeMap<String, String> = texts.collect();
        TranslatedText::new(texts)
            .unwrap_or_else(|| TranslatedText::single(default_locale, compose(default_locale)))
    }

    /// Returns the text in the default language of the organisation.
    #[must_use]
    pub fn in_default(&self, organisation: &Organisation) -> String {
        self.written_in(&organisation.default_locale)
    }

    fn arguments(&self) -> FluentArgs<'a> {
        let mut arguments = FluentArgs::new();
        if let Some(TextSubject { variable, name }) = self.subject {
            arguments.set(variable, FluentValue::from(shortened(name)));
        }
        if let Some(TextCount { variable, number }) = self.count {
            arguments.set(variable, FluentValue::from(number));
        }
        if let Some(note) = self.note {
            arguments.set("note", FluentValue::from(note));
        }
        arguments
    }
}

/// A name that leaves room for the rest of a title.
fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_LENGTH {
        return name.to_owned();
    }
    name.chars().take(NAME_LENGTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
