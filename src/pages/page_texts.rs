//! Fixed texts of the pages, by language; texts of users have their own translations.
//!
//! Each language is one Fluent file in `languages/`. A language without a file is served in English.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::model::component::status::ComponentStatus;
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;
use crate::texts::language_files::LanguageFiles;

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/pages/languages");
static LANGUAGES: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

/// The fixed texts in one language.
#[derive(Clone, Debug)]
pub(super) struct PageTexts {
    locale: String,
}

impl PageTexts {
    /// The texts in this language.
    pub(super) fn of(locale: &str) -> Self {
        Self { locale: locale.to_owned() }
    }

    /// The text with this name.
    pub(super) fn text(&self, name: &str) -> String {
        self.write(name, &FluentArgs::new())
    }

    /// The text with this name, which names these things.
    pub(super) fn naming(&self, name: &str, names: &[String]) -> String {
        let mut arguments = FluentArgs::new();
        arguments.set("names", FluentValue::from(names.join(", ")));
        self.write(name, &arguments)
    }

    /// The name of a component status.
    pub(super) fn component(&self, status: ComponentStatus) -> String {
        self.text(match status {
            ComponentStatus::Operational => "state-operational",
            ComponentStatus::Degraded => "state-degraded",
            ComponentStatus::PartialOutage => "state-partial-outage",
            ComponentStatus::MajorOutage => "state-major-outage",
            ComponentStatus::UnderMaintenance => "state-under-maintenance",
            ComponentStatus::Unknown => "state-unknown",
        })
    }

    /// The name of an incident's state.
    pub(super) fn incident(&self, status: IncidentStatus) -> String {
        self.text(match status {
            IncidentStatus::Investigating => "incident-investigating",
            IncidentStatus::Identified => "incident-identified",
            IncidentStatus::Monitoring => "incident-monitoring",
            IncidentStatus::Resolved => "incident-resolved",
        })
    }

    /// The name of a maintenance's state.
    pub(super) fn maintenance(&self, status: MaintenanceStatus) -> String {
        self.text(match status {
            MaintenanceStatus::Scheduled => "maintenance-scheduled",
            MaintenanceStatus::InProgress => "maintenance-in-progress",
            MaintenanceStatus::Completed => "maintenance-completed",
            MaintenanceStatus::Cancelled => "maintenance-cancelled",
        })
    }

    fn write(&self, name: &str, arguments: &FluentArgs<'_>) -> String {
        LANGUAGES.text(&self.locale, name, arguments).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rstest::rstest;

    use super::*;
    use crate::texts::language_files::{names_in, require_complete};

    #[rstest]
    #[case("de", "In Betrieb")]
    #[case("de-AT", "In Betrieb")]
    #[case("ES", "Operativo")]
    #[case("fr", "Opérationnel")]
    #[case("ja", "Operational")]
    fn a_language_has_its_texts(#[case] locale: &str, #[case] text: &str) {
        assert_eq!(PageTexts::of(locale).component(ComponentStatus::Operational), text);
    }

    #[test]
    fn names_are_put_into_a_text() {
        let text = PageTexts::of("en").naming("because-of", &["{ $names }".into(), "Gateway".into()]);
        assert_eq!(text, "Cannot be reached because of { $names }, Gateway.");
    }

    #[test]
    fn every_language_has_every_text() {
        require_complete(&FILES);
    }

    /// The names in quotes after a call, in everything that shows pages.
    fn used(source: &str, call: &str) -> BTreeSet<String> {
        source.split(call).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
    }

    /// No file has a text that is not used, and no text is missing.
    #[test]
    fn every_text_is_used() {
        let templates = [include_str!("templates/page.html"), include_str!("templates/announcement.html")];
        let sources = [include_str!("page_texts.rs"), include_str!("view.rs"), include_str!("appearance.rs")];
        let program = |source: &&str| source.split("#[cfg(test)]").next().unwrap().to_owned();
        let mut found = BTreeSet::new();
        for source in templates.iter().chain(&sources).map(program) {
            found.extend(used(&source, "words.text(\""));
            found.extend(used(&source, "words.naming(\""));
            found.extend(used(&source, "=> \""));
            found.extend(used(&source, ", \"overall-").into_iter().map(|name| format!("overall-{name}")));
            found.extend(
                used(&source, ", \"appearance-").into_iter().map(|name| format!("appearance-{name}")),
            );
        }
        let english = FILES.get_file("en.ftl").unwrap().contents_utf8().unwrap();
        assert_eq!(names_in(english).into_iter().collect::<BTreeSet<_>>(), found);
    }
}
