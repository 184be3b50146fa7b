//! Texts in Fluent files, one file for each language, that are part of the program. Adding a language means adding a file.

use std::collections::BTreeMap;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use include_dir::Dir;
use unic_langid::LanguageIdentifier;

/// The language in which every text exists.
const COMPLETE: &str = "en";

/// The texts of one language.
pub type LanguageTexts = FluentBundle<FluentResource>;

/// The texts of all languages of a folder, by the tag of the language in lower case.
pub struct LanguageFiles {
    languages: BTreeMap<String, LanguageTexts>,
}

impl LanguageFiles {
    /// Reads the files of a folder. A test reads all of them, so that an invalid one is never built in.
    #[must_use]
    pub fn read(folder: &Dir<'static>) -> Self {
        let files = folder.files();
        let languages = files
            .filter_map(|file| read_file(file.path().file_stem()?.to_str()?, file.contents_utf8()?))
            .collect();
        Self { languages }
    }

    /// The texts in this language or a more general form of it; `None` when there is no such file.
    #[must_use]
    pub fn of(&self, locale: &str) -> Option<&LanguageTexts> {
        let locale = locale.to_ascii_lowercase();
        let cuts = locale.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>().into_iter().rev();
        let mut forms = std::iter::once(locale.as_str()).chain(cuts.map(|at| &locale[..at]));
        forms.find_map(|form| self.languages.get(form))
    }

    /// The text with this name in this language, in English if there is no file for it or the file lacks the text.
    #[must_use]
    pub fn text(&self, locale: &str, name: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        self.text_in(locale, name, arguments).or_else(|| self.text_in(COMPLETE, name, arguments))
    }

    /// The text with this name, if there is a file for the language; in English if that file lacks it.
    #[must_use]
    pub fn translation(&self, locale: &str, name: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        self.of(locale)?;
        self.text(locale, name, arguments)
    }

    fn text_in(&self, locale: &str, name: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        let language = self.of(locale)?;
        let pattern = language.get_message(name)?.value()?;
        let mut problems = Vec::new();
        let text = language.format_pattern(pattern, Some(arguments), &mut problems);
        problems.is_empty().then(|| text.into_owned())
    }
}

fn read_file(name: &str, contents: &str) -> Option<(String, LanguageTexts)> {
    let tag: LanguageIdentifier = name.parse().ok()?;
    let texts = FluentResource::try_new(contents.to_owned()).ok()?;
    let mut language = FluentBundle::new_concurrent(vec![tag]);
    // Names of services are read from left to right here too; isolation marks would be visible in plain texts.
    language.set_use_isolating(false);
    language.add_resource(texts).ok()?;
    Some((name.to_ascii_lowercase(), language))
}

/// Names of the texts of a file, in their order.
#[cfg(test)]
pub(crate) fn names_in(contents: &str) -> Vec<String> {
    let texts = contents.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    texts.filter_map(|line| Some(line.split_once(" =")?.0.to_owned())).collect()
}

/// Checks that every file of a folder can be read, and has the texts of the English one in the same order.
#[cfg(test)]
pub(crate) fn require_complete(folder: &Dir<'static>) {
    let contents = |file: &include_dir::File<'static>| file.contents_utf8().unwrap().to_owned();
    let english = names_in(&contents(folder.get_file("en.ftl").unwrap()));
    let read = LanguageFiles::read(folder);
    for file in folder.files() {
        assert_eq!(names_in(&contents(file)), english, "{}", file.path().display());
        let language = file.path().file_stem().unwrap().to_str().unwrap();
        assert!(read.languages.contains_key(language), "{language} is not read");
    }
}
