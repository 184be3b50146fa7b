//! Fixed texts of the console, by language. Each language is one Fluent file in `languages/`.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::texts::language_files::LanguageFiles;

/// The languages of the console, English first.
pub(super) const LANGUAGES: [&str; 2] = ["en", "de"];

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/console/languages");
static TEXTS: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

/// The fixed texts in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConsoleTexts {
    locale: &'static str,
}

impl ConsoleTexts {
    /// The texts in this language; in English if the console does not have it.
    pub(super) fn of(locale: &str) -> Self {
        let known = LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(locale));
        Self { locale: known.unwrap_or(LANGUAGES[0]) }
    }

    /// The texts in the first language of `Accept-Language` that the console has.
    pub(super) fn preferred(accept_language: &str) -> Self {
        let wanted =
            accept_language.split(',').map(|entry| entry.split([';', '-']).next().unwrap_or_default().trim());
        let known =
            wanted.filter_map(|tag| LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(tag)));
        Self { locale: known.into_iter().next().unwrap_or(LANGUAGES[0]) }
    }

    /// The language of the texts.
    pub(super) const fn locale(self) -> &'static str {
        self.locale
    }

    /// The text with this name.
    pub(super) fn text(self, name: &str) -> String {
        self.write(name, &FluentArgs::new())
    }

    /// The text with this name if there is one, else `other`.
    pub(super) fn text_or(self, name: &str, other: &str) -> String {
        TEXTS.text(self.locale, name, &FluentArgs::new()).unwrap_or_else(|| other.to_owned())
    }

    /// The text with this name, for this count.
    pub(super) fn counted(self, name: &str, count: u64) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("count", FluentValue::from(count));
        self.write(name, &arguments)
    }

    /// The text with this name, about this subject.
    pub(super) fn about(self, name: &str, subject: &str) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("subject", FluentValue::from(subject));
        self.write(name, &arguments)
    }

    fn write(self, name: &str, arguments: &FluentArgs<'_>) -> String {
        TEXTS.text(self.locale, name, arguments).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::texts::language_files::require_complete;

    #[rstest]
    #[case("de", "de")]
    #[case("de-AT,en;q=0.5", "de")]
    #[case("fr, de;q=0.8", "de")]
    #[case("fr", "en")]
    #[case("", "en")]
    fn the_browser_chooses_a_language(#[case] accepted: &str, #[case] locale: &str) {
        assert_eq!(ConsoleTexts::preferred(accepted).locale(), locale);
    }

    #[test]
    fn every_language_has_every_text() {
        require_complete(&FILES);
    }
}
