//! Fixed texts of the forms, by language; each language is one Fluent file in `languages/`.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::texts::language_files::LanguageFiles;

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/pages/forms/languages");
static LANGUAGES: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

/// The fixed texts in one language.
#[derive(Clone, Debug)]
pub(super) struct FormTexts {
    locale: String,
}

impl FormTexts {
    /// The texts in this language.
    pub(super) fn of(locale: &str) -> Self {
        Self { locale: locale.to_owned() }
    }

    /// The text with this name.
    pub(super) fn text(&self, name: &str) -> String {
        self.of_page(name, "")
    }

    /// The text with this name, about a page; without its name if that is empty.
    pub(super) fn of_page(&self, name: &str, page: &str) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("page", FluentValue::from(page));
        arguments.set("named", FluentValue::from(if page.is_empty() { "no" } else { "yes" }));
        LANGUAGES.text(&self.locale, name, &arguments).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::language_files::{names_in, require_complete};

    #[test]
    fn every_language_has_every_text() {
        require_complete(&FILES);
    }

    #[test]
    fn every_text_is_used() {
        let sources = [
            include_str!("../templates/subscribe.html"),
            include_str!("../templates/form.html"),
            include_str!("form_view.rs"),
            include_str!("../forms.rs"),
        ];
        let english = FILES.get_file("en.ftl").unwrap().contents_utf8().unwrap();
        for name in names_in(english) {
            let is_used = sources.iter().any(|source| source.contains(&format!("\"{name}\"")));
            assert!(is_used || name.starts_with("channel-"), "{name}");
        }
    }
}
