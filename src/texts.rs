//! Texts that the engine generates: titles and timeline entries, in the languages of an organisation.
//!
//! Each language is one Fluent file in `texts/languages/`, which is found when the program is built: to add a language, add
//! a file. A language without a file, or without one of the texts, falls back to English.

pub mod markdown;
pub mod reason;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use include_dir::{Dir, include_dir};
use unic_langid::LanguageIdentifier;

use crate::model::access::Organisation;
use crate::model::translated_text::TranslatedText;

/// The language in which every text exists, and which is the fallback.
const COMPLETE: &str = "en";
/// Maximum number of characters of a name in a text; a title may have 255 in total.
const NAME_LENGTH: usize = 150;

/// The files of all languages, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/texts/languages");
static LANGUAGES: LazyLock<BTreeMap<String, Language>> = LazyLock::new(read_files);

type Language = FluentBundle<FluentResource>;

/// A generated text with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedText<'a> {
    /// Name of the text in the files.
    name: &'static str,
    /// The service or person that the text is about; long names are shortened.
    subject: Option<TextSubject<'a>>,
    count: Option<TextCount>,
    note: Option<&'a str>,
}

/// A name that is inserted in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextSubject<'a> {
    variable: &'static str,
    name: &'a str,
}

/// A number that is inserted in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TextCount {
    variable: &'static str,
    number: usize,
}

impl<'a> GeneratedText<'a> {
    /// Creates a text without arguments.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, subject: None, count: None, note: None }
    }

    /// Creates a text about a service.
    #[must_use]
    pub const fn of_service(name: &'static str, service: &'a str) -> Self {
        Self { subject: Some(TextSubject { variable: "service", name: service }), ..Self::new(name) }
    }

    /// Creates a text about a subject other than a service.
    #[must_use]
    pub const fn about(name: &'static str, subject: &'a str) -> Self {
        Self { subject: Some(TextSubject { variable: "subject", name: subject }), ..Self::new(name) }
    }

    /// Returns the same text with a note, such as the comment of a member.
    #[must_use]
    pub const fn with_note(self, note: &'a str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// Returns the same text with a number of hours.
    #[must_use]
    pub const fn within_hours(self, number: usize) -> Self {
        Self { count: Some(TextCount { variable: "hours", number }), ..self }
    }

    /// Returns the same text with the number of further services.
    #[must_use]
    pub const fn with_other_count(self, number: usize) -> Self {
        Self { count: Some(TextCount { variable: "others", number }), ..self }
    }

    /// Creates the text for an acknowledgement by a member, with or without a note.
    #[must_use]
    pub const fn acknowledged(by: &'a str, note: Option<&'a str>) -> Self {
        let name = if note.is_some() { "acknowledged-with-note" } else { "acknowledged" };
        Self { subject: Some(TextSubject { variable: "by", name: by }), note, ..Self::new(name) }
    }

    /// Returns the text in a language, or in English if there is no file for the language.
    #[must_use]
    pub fn written_in(&self, locale: &str) -> String {
        let english = || self.in_language(COMPLETE).unwrap_or_else(|| self.name.to_owned());
        self.in_language(locale).unwrap_or_else(english)
    }

    /// Returns the text in the languages of the organisation: always in its default language, and in each other language
    /// that has a file.
    #[must_use]
    pub fn translated(&self, organisation: &Organisation) -> TranslatedText {
        let Organisation { locales, default_locale, .. } = organisation;
        let translation = |locale: &String| Some((locale.clone(), self.in_language(locale)?));
        let mut texts: BTreeMap<String, String> = locales.iter().filter_map(translation).collect();
        let english = || self.in_language(COMPLETE).unwrap_or_else(|| self.name.to_owned());
        texts.entry(default_locale.clone()).or_insert_with(english);
        TranslatedText::new(texts).unwrap_or_else(|| TranslatedText::single(default_locale, english()))
    }

    /// Returns a text that is composed of several, in the languages of the organisation: always in its default language, and
    /// in each other language that has a file. `compose` writes the text in one language.
    #[must_use]
    pub fn composed(organisation: &Organisation, compose: impl Fn(&str) -> String) -> TranslatedText {
        let Organisation { locales, default_locale, .. } = organisation;
        let translated = locales.iter().filter(|locale| language_of(locale).is_some());
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

    /// Returns the text in this language or a more general form of it; `None` when there is no such file.
    fn in_language(&self, locale: &str) -> Option<String> {
        self.write(language_of(locale)?).or_else(|| self.write(LANGUAGES.get(COMPLETE)?))
    }

    fn write(&self, language: &Language) -> Option<String> {
        let pattern = language.get_message(self.name)?.value()?;
        let mut problems = Vec::new();
        let text = language.format_pattern(pattern, Some(&self.arguments()), &mut problems);
        problems.is_empty().then(|| text.into_owned())
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

/// Returns the texts in this language or a more general form of it; `None` when there is no such file.
fn language_of(locale: &str) -> Option<&'static Language> {
    let locale = locale.to_ascii_lowercase();
    let cuts = locale.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev();
    let mut forms = std::iter::once(locale.as_str()).chain(cuts.map(|at| &locale[..at]));
    forms.find_map(|form| LANGUAGES.get(form))
}

/// Returns a name that is short enough to leave room for the rest of a title.
fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_LENGTH {
        return name.to_owned();
    }
    name.chars().take(NAME_LENGTH - 1).chain(['…']).collect()
}

fn read_files() -> BTreeMap<String, Language> {
    FILES
        .files()
        .filter_map(|file| read_file(file.path().file_stem()?.to_str()?, file.contents_utf8()?))
        .collect()
}

/// Reads the texts of one file; `None` if it is invalid. A test reads all files, so that no build contains an invalid one.
fn read_file(name: &str, contents: &str) -> Option<(String, Language)> {
    let tag: LanguageIdentifier = name.parse().ok()?;
    let texts = FluentResource::try_new(contents.to_owned()).ok()?;
    let mut language = FluentBundle::new_concurrent(vec![tag]);
    // Direction marks around names are switched off, because they would be visible in plain texts.
    language.set_use_isolating(false);
    language.add_resource(texts).ok()?;
    Some((name.to_ascii_lowercase(), language))
}

#[cfg(test)]
mod tests;
