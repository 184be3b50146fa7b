//! Fixed texts of messages to subscribers, by language; each language is one Fluent file in `languages/`.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::texts::language_files::LanguageFiles;

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/subscribers/languages");
static LANGUAGES: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

/// The fixed texts in one language.
#[derive(Clone, Debug)]
pub(super) struct MessageTexts {
    locale: String,
}

impl MessageTexts {
    /// The texts in this language.
    pub(super) fn of(locale: &str) -> Self {
        Self { locale: locale.to_owned() }
    }

    /// The text with this name.
    pub(super) fn text(&self, name: &str) -> String {
        self.write(name, &FluentArgs::new())
    }

    /// The text with this name, about a page.
    pub(super) fn of_page(&self, name: &str, page: &str) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("page", FluentValue::from(page));
        self.write(name, &arguments)
    }

    /// The headline of an incident or a maintenance in a state.
    pub(super) fn headline(&self, state: &str, title: &str) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("state", FluentValue::from(self.text(state)));
        arguments.set("title", FluentValue::from(title));
        self.write("headline", &arguments)
    }

    /// The time of a maintenance; without `end` it is open.
    pub(super) fn window(&self, start: &str, end: Option<&str>) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("start", FluentValue::from(start));
        arguments.set("end", FluentValue::from(end.unwrap_or_default()));
        self.write(if end.is_some() { "window" } else { "window-open" }, &arguments)
    }

    fn write(&self, name: &str, arguments: &FluentArgs<'_>) -> String {
        LANGUAGES.text(&self.locale, name, arguments).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::language_files::require_complete;

    #[test]
    fn every_language_has_every_text() {
        require_complete(&FILES);
    }

    #[test]
    fn a_headline_names_state_and_title() {
        let texts = MessageTexts::of("de-AT");
        assert_eq!(texts.headline("incident-resolved", "{ $x }"), "Behoben: { $x }");
        assert_eq!(texts.window("1", None), "Ab 1 UTC, Ende offen");
    }
}
