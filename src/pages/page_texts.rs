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
use crate::texts::writing_direction::writing_direction;

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

    /// The language of the texts.
    pub(super) fn locale(&self) -> &str {
        &self.locale
    }

    /// The writing direction of the language: `ltr` or `rtl`.
    pub(super) fn direction(&self) -> &'static str {
        writing_direction(&self.locale)
    }

    /// The text with this name.
    pub(super) fn text(&self, name: &str) -> String {
        self.write(name, &FluentArgs::new())
    }

    /// The text with this name, which names these things.
    pub(super) fn naming(&self, name: &str, names: &[String]) -> String {
        self.filled(name, &[TextValue::text("names", &names.join(", "))])
    }

    /// The text with this name, with values in their places.
    pub(super) fn filled(&self, name: &str, values: &[TextValue<'_>]) -> String {
        let mut arguments = FluentArgs::new();
        for value in values {
            arguments.set(value.name, value.value.clone());
        }
        self.write(name, &arguments)
    }

    /// A percentage given in thousandths of a per cent, with at most two decimals, cut off; without the sign.
    pub(super) fn percent(&self, thousandths: i64) -> String {
        let (whole, hundredths) = (thousandths / 1_000, thousandths % 1_000 / 10);
        if hundredths == 0 && thousandths % 1_000 == 0 {
            return whole.to_string();
        }
        format!("{whole}{}{hundredths:02}", self.text("decimal-mark"))
    }

    /// A response time given in microseconds, in milliseconds, or in seconds from ten seconds on.
    pub(super) fn milliseconds(&self, us: u32) -> String {
        match us {
            0..1_000 => format!("0{}{} ms", self.text("decimal-mark"), us.div_ceil(100).clamp(1, 9)),
            1_000..10_000_000 => format!("{} ms", us / 1_000),
            _ => format!("{} s", us / 1_000_000),
        }
    }

    /// A duration in its two largest units, cut off.
    pub(super) fn duration(&self, ms: i64) -> String {
        let seconds = ms / 1_000;
        let units = [
            self.unit("duration-days", seconds / 86_400),
            self.unit("duration-hours", seconds / 3_600 % 24),
            self.unit("duration-minutes", seconds / 60 % 60),
            self.unit("duration-seconds", seconds % 60),
        ];
        let first = units.iter().position(Option::is_some);
        let shown = first.map(|first| units.iter().skip(first).take(2).flatten().cloned().collect());
        let shown: Vec<String> = shown.unwrap_or_default();
        if shown.is_empty() {
            self.filled("duration-seconds", &[TextValue::number("count", 0)])
        } else {
            shown.join(" ")
        }
    }

    fn unit(&self, name: &str, count: i64) -> Option<String> {
        (count > 0).then(|| self.filled(name, &[TextValue::number("count", count)]))
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

/// A value in a text.
#[derive(Clone, Debug)]
pub(super) struct TextValue<'a> {
    name: &'static str,
    value: FluentValue<'a>,
}

impl<'a> TextValue<'a> {
    pub(super) fn text(name: &'static str, value: &'a str) -> Self {
        Self { name, value: FluentValue::from(value) }
    }

    /// A number, by which the text may choose a form.
    pub(super) fn number(name: &'static str, value: i64) -> Self {
        Self { name, value: FluentValue::from(value) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

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

    /// The sources of everything that shows pages, without tests.
    fn sources(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(sources(&path));
            } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "html") {
                let text = fs::read_to_string(&path).unwrap();
                found.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
            }
        }
        found
    }

    /// No file has a text that is not used, and no text is missing.
    #[test]
    fn every_text_is_used() {
        let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pages"));
        let english = FILES.get_file("en.ftl").unwrap().contents_utf8().unwrap();
        let known: BTreeSet<String> = names_in(english).into_iter().collect();
        let is_used = |name: &str| sources.iter().any(|source| source.contains(&format!("\"{name}\"")));
        // The names of months are put together.
        let unused: Vec<&String> =
            known.iter().filter(|name| !name.starts_with("month-") && !is_used(name)).collect();
        assert_eq!(unused, Vec::<&String>::new());
        for call in ["words.text(\"", "words.naming(\"", "words.filled(\"", ".unit(\""] {
            for source in &sources {
                for rest in source.split(call).skip(1) {
                    let name = rest.split_once('"').unwrap().0;
                    assert!(known.contains(name), "no text `{name}`");
                }
            }
        }
    }

    #[rstest]
    #[case(0, "0 s")]
    #[case(999, "0 s")]
    #[case(59_000, "59 s")]
    #[case(405_000, "6 min 45 s")]
    #[case(3_600_000, "1 h")]
    #[case(3_605_000, "1 h")]
    #[case(90_061_000, "1 d 1 h")]
    fn durations_have_two_units(#[case] ms: i64, #[case] text: &str) {
        assert_eq!(PageTexts::of("en").duration(ms), text);
    }

    #[rstest]
    #[case(1, "0,1 ms")]
    #[case(950, "0,9 ms")]
    #[case(1_000, "1 ms")]
    #[case(42_999, "42 ms")]
    #[case(12_000_000, "12 s")]
    fn response_times_are_short(#[case] us: u32, #[case] text: &str) {
        assert_eq!(PageTexts::of("de").milliseconds(us), text);
    }

    #[rstest]
    #[case(100_000, "100", "100")]
    #[case(99_999, "99.99", "99,99")]
    #[case(99_001, "99.00", "99,00")]
    #[case(99_000, "99", "99")]
    #[case(0, "0", "0")]
    fn percentages_are_cut(#[case] thousandths: i64, #[case] english: &str, #[case] german: &str) {
        assert_eq!(PageTexts::of("en").percent(thousandths), english);
        assert_eq!(PageTexts::of("de").percent(thousandths), german);
    }
}
