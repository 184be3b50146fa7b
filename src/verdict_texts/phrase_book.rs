//! The phrases of explanations, one Fluent file for each language, and the times and lists in them.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::clock::Timestamp;
use crate::model::outage_evidence::{duration, moment, seconds_between};
use crate::texts::language_files::LanguageFiles;

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/verdict_texts/languages");
static LANGUAGES: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

/// The phrases in one language, for explanations at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhraseBook<'a> {
    language: &'a str,
    now: Timestamp,
}

/// A value in a phrase.
#[derive(Clone, Debug)]
pub(super) struct PhraseValue<'a> {
    name: &'static str,
    value: FluentValue<'a>,
}

impl<'a> PhraseValue<'a> {
    pub(super) fn text(name: &'static str, value: &'a str) -> Self {
        Self { name, value: FluentValue::from(value) }
    }

    /// A number, by which the phrase may choose a form.
    pub(super) fn number(name: &'static str, value: i64) -> Self {
        Self { name, value: FluentValue::from(value) }
    }

    pub(super) fn count(name: &'static str, value: usize) -> Self {
        Self { name, value: FluentValue::from(value) }
    }
}

impl<'a> PhraseBook<'a> {
    /// The phrases in this language, in English if there is no file for it.
    pub(super) const fn new(language: &'a str, now: Timestamp) -> Self {
        Self { language, now }
    }

    /// The phrase with this name.
    pub(super) fn text(&self, name: &str) -> String {
        self.filled(name, &[])
    }

    /// The phrase with this name, with values in their places.
    pub(super) fn filled(&self, name: &str, values: &[PhraseValue<'_>]) -> String {
        let mut arguments = FluentArgs::new();
        for value in values {
            arguments.set(value.name, value.value.clone());
        }
        LANGUAGES.text(self.language, name, &arguments).unwrap_or_else(|| name.to_owned())
    }

    /// A phrase that contains one text.
    pub(super) fn naming(&self, phrase: &str, name: &'static str, value: &str) -> String {
        self.filled(phrase, &[PhraseValue::text(name, value)])
    }

    /// A time in UTC, to the second; with its date unless it is today.
    pub(super) fn moment(&self, at: Timestamp) -> String {
        moment(at.ms(), self.now.ms())
    }

    /// The time that has passed since `at`.
    pub(super) fn elapsed(&self, at: Timestamp) -> String {
        duration(seconds_between(at.ms(), self.now.ms()))
    }

    /// The time until `at`.
    pub(super) fn remaining(&self, at: Timestamp) -> String {
        duration(seconds_between(self.now.ms(), at.ms()))
    }

    /// A phrase about a time: its moment, and how long ago it was.
    pub(super) fn dated(&self, phrase: &str, at: Timestamp) -> String {
        let (moment, elapsed) = (self.moment(at), self.elapsed(at));
        self.filled(phrase, &[PhraseValue::text("moment", &moment), PhraseValue::text("duration", &elapsed)])
    }

    /// The end of a period, for example "until 16:00:00 UTC".
    pub(super) fn until(&self, at: Timestamp) -> String {
        self.naming("until", "moment", &self.moment(at))
    }

    /// Names as a list, for example "Oslo, Paris and Rome".
    pub(super) fn list(&self, names: &[&str]) -> String {
        match names {
            [] => String::new(),
            [only] => (*only).to_owned(),
            [first @ .., last] => {
                let first = first.join(", ");
                self.filled(
                    "list-end",
                    &[PhraseValue::text("first", &first), PhraseValue::text("last", last)],
                )
            }
        }
    }
}

/// The text with a capital first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
