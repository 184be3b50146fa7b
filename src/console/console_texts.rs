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

    /// A duration in its two largest units, cut off.
    pub(super) fn duration(self, ms: i64) -> String {
        let seconds = (ms / 1_000).max(0);
        let units = [
            self.unit("duration-days", seconds / 86_400),
            self.unit("duration-hours", seconds / 3_600 % 24),
            self.unit("duration-minutes", seconds / 60 % 60),
            self.unit("duration-seconds", seconds % 60),
        ];
        let first = units.iter().position(Option::is_some).unwrap_or(units.len() - 1);
        let shown: Vec<String> = units.into_iter().skip(first).take(2).flatten().collect();
        if shown.is_empty() { self.counted("duration-seconds", 0) } else { shown.join(" ") }
    }

    fn unit(self, name: &str, count: i64) -> Option<String> {
        (count > 0).then(|| self.counted(name, count.unsigned_abs()))
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

    #[rstest]
    #[case(0, "0 s")]
    #[case(405_000, "6 min 45 s")]
    #[case(90_061_000, "1 d 1 h")]
    #[case(3_600_000, "1 h")]
    fn a_duration_has_two_units(#[case] ms: i64, #[case] text: &str) {
        assert_eq!(ConsoleTexts::of("en").duration(ms), text);
    }

    #[test]
    fn every_language_has_every_text() {
        require_complete(&FILES);
    }
}
