//! Texts of the API in the languages of the console: labels and explanations of the catalogues of check types and channels, and
//! why a value or an operation is refused. The English ones are those of the API itself; each file in `catalogue_texts/` is a
//! translation.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentValue};
use include_dir::{Dir, include_dir};

use crate::console::console_texts::ConsoleTexts;
use crate::http::kit::rule::FieldRule;
use crate::texts::language_files::LanguageFiles;

/// The files, as they were when the program was built.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/console/catalogue_texts");
static TEXTS: LazyLock<LanguageFiles> = LazyLock::new(|| LanguageFiles::read(&FILES));

impl ConsoleTexts {
    /// The text of a catalogue with this name, or `english` if there is no translation.
    pub(super) fn of_catalogue(self, name: &str, english: &str) -> String {
        TEXTS.text(self.locale(), name, &FluentArgs::new()).unwrap_or_else(|| english.to_owned())
    }

    /// Why a value is refused; in English, as the API says it, if there is no translation.
    pub(super) fn of_rule(self, rule: &FieldRule) -> String {
        let translated = name_of(rule).and_then(|(name, value)| {
            let mut arguments = FluentArgs::new();
            value.into_iter().for_each(|value| arguments.set("value", FluentValue::from(value)));
            self.translation(&format!("rule-{name}"), &arguments)
        });
        translated.unwrap_or_else(|| rule.to_string())
    }

    /// The translation with this name; `None` in English, and where there is none.
    pub(super) fn translation(self, name: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        TEXTS.text(self.locale(), name, arguments)
    }
}

/// Returns the name of the text about a rule, and the value in it; `None` for rules that forms hardly break.
fn name_of(rule: &FieldRule) -> Option<(&'static str, Option<String>)> {
    use FieldRule as Rule;
    Some(match rule {
        Rule::MinLength(n) => ("min-length", Some(n.to_string())),
        Rule::MaxLength(n) => ("max-length", Some(n.to_string())),
        Rule::Min(n) => ("min", Some(n.to_string())),
        Rule::Max(n) => ("max", Some(n.to_string())),
        Rule::MinItems(n) => ("min-items", Some(n.to_string())),
        Rule::MaxItems(n) => ("max-items", Some(n.to_string())),
        Rule::Enum(words) => ("enum", Some(words.clone())),
        Rule::After(field) => ("after", Some((*field).to_owned())),
        Rule::NotBefore(field) => ("not-before", Some((*field).to_owned())),
        Rule::Probe(code) => ("probe", Some(code.clone())),
        Rule::DependencyUnknown(name) => ("dependency-unknown", Some(name.clone())),
        Rule::DependencyCircle(names) => ("dependency-circle", Some(names.clone())),
        Rule::TagInUse(users) => ("tag-in-use", Some(users.clone())),
        Rule::ChannelInUse(users) => ("channel-in-use", Some(users.clone())),
        Rule::ChannelOfContacts(users) => ("channel-of-contacts", Some(users.clone())),
        Rule::ContactInUse(users) => ("contact-in-use", Some(users.clone())),
        Rule::ScheduleInUse(users) => ("schedule-in-use", Some(users.clone())),
        Rule::LocaleUnknown(locale) => ("locale-unknown", Some(locale.clone())),
        Rule::TagUnknown(name) => ("tag-unknown", Some(name.clone())),
        Rule::Template(reason) => ("template", Some(reason.clone())),
        Rule::TooMany(n) => ("too-many", Some(n.to_string())),
        Rule::PermissionNotHeld(name) => ("permission-not-held", Some((*name).to_owned())),
        Rule::Recurrence(reason) => ("recurrence", Some(reason.clone())),
        Rule::ScopeInUse(users) => ("scope-in-use", Some(users.clone())),
        rule => (plain_name(rule)?, None),
    })
}

/// The name of the text about a rule without a value.
const fn plain_name(rule: &FieldRule) -> Option<&'static str> {
    use FieldRule as Rule;
    Some(match rule {
        Rule::Required | Rule::NotNull => "required",
        Rule::String => "string",
        Rule::Integer => "integer",
        Rule::Number => "number",
        Rule::Timestamp => "timestamp",
        Rule::NotFuture => "not-future",
        Rule::NotPast => "not-past",
        Rule::Immutable => "immutable",
        Rule::TargetUrl => "target-url",
        Rule::TargetHostPort => "target-host-port",
        Rule::TargetHostName => "target-host-name",
        Rule::TargetHost => "target-host",
        Rule::ProbeFull => "probe-full",
        Rule::ProbeRoleCode => "probe-role-code",
        Rule::SecretMissing => "secret-missing",
        Rule::SecretElsewhere => "secret-elsewhere",
        Rule::HeaderName => "header-name",
        Rule::HeaderValue => "header-value",
        Rule::HeaderTwice => "header-twice",
        Rule::HeaderReserved => "header-reserved",
        Rule::ConditionField => "condition-field",
        Rule::ConditionFieldOfRecord => "condition-field-of-record",
        Rule::ConditionValue => "condition-value",
        Rule::DependencyItself => "dependency-itself",
        Rule::TagForm => "tag-form",
        Rule::Color => "color",
        Rule::TagExists => "tag-exists",
        Rule::StepNobody => "step-nobody",
        Rule::RotationField => "rotation-field",
        Rule::ScopeExists => "scope-exists",
        Rule::AddressTaken => "address-taken",
        Rule::LastOwner => "last-owner",
        rule => return name_of_resource_rule(rule),
    })
}

/// The name of the text about a rule of one kind of resource.
const fn name_of_resource_rule(rule: &FieldRule) -> Option<&'static str> {
    use FieldRule as Rule;
    Some(match rule {
        Rule::NoNul => "no-nul",
        Rule::IdForm => "id-form",
        Rule::NotDead => "not-dead",
        Rule::NotAsked => "not-asked",
        Rule::NobodyToAsk => "nobody-to-ask",
        Rule::AsksItself => "asks-itself",
        Rule::TagKey => "tag-key",
        Rule::RoleBeyond => "role-beyond",
        Rule::AutoCompleteEnd => "auto-complete-end",
        Rule::SlaSubject => "sla-subject",
        Rule::Objective => "objective",
        Rule::RollingDays => "rolling-days",
        Rule::NoDigests => "no-digests",
        Rule::TimeZone => "time-zone",
        Rule::ClockTime => "clock-time",
        Rule::SlugForm => "slug-form",
        Rule::SlugTaken => "slug-taken",
        Rule::TimelineFull => "timeline-full",
        Rule::Url => "url",
        Rule::Email => "email",
        Rule::PasswordNeeded => "password-needed",
        Rule::WhitelistNeeded => "whitelist-needed",
        Rule::GroupChildren => "group-children",
        Rule::GroupService => "group-service",
        Rule::SyncGroup => "sync-group",
        Rule::ParentGroup => "parent-group",
        Rule::ParentCycle => "parent-cycle",
        Rule::ParentDepth => "parent-depth",
        Rule::Managed => "managed",
        Rule::HostnameForm => "hostname-form",
        Rule::HostnameTaken => "hostname-taken",
        Rule::DomainState => "domain-state",
        Rule::AddressSubscribed => "address-subscribed",
        Rule::NotConfirmed => "not-confirmed",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http::v1::services::settings::form::form_settings;
    use crate::model::check::CheckType;
    use crate::model::notification::ChannelKind;
    use crate::notify::kinds;
    use crate::probe::catalogue;
    use crate::texts::language_files::names_in;

    /// Names of the texts that a translation has: the label of every field, and its explanation if it has one.
    fn catalogue_names() -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |name: String, help: bool| {
            names.extend(help.then(|| format!("{name}-help")));
            names.push(name);
        };
        for check_type in CheckType::ALL {
            for field in catalogue::definition(check_type).fields {
                add(format!("check-{}", field.name), field.help.is_some());
            }
            form_settings(check_type).iter().for_each(|setting| add(format!("check-{}", setting.name), true));
        }
        for kind in ChannelKind::ALL {
            add(format!("channel-{kind}"), false);
            for field in kinds::definition(kind).fields {
                add(format!("channel-{kind}-{}", field.name), !field.help.is_empty());
            }
        }
        names
    }

    #[test]
    fn every_translation_has_every_field() {
        for file in FILES.files() {
            let translated = names_in(file.contents_utf8().unwrap());
            let missing: Vec<String> =
                catalogue_names().into_iter().filter(|name| !translated.contains(name)).collect();
            assert!(missing.is_empty(), "{:?} lacks {missing:?}", file.path());
            let known = catalogue_names();
            let others: Vec<&String> = translated
                .iter()
                .filter(|name| !["rule-", "refused-", "quota-"].iter().any(|kind| name.starts_with(kind)))
                .filter(|name| !known.contains(name))
                .collect();
            assert!(others.is_empty(), "{:?} has texts of no field: {others:?}", file.path());
        }
        let texts = ConsoleTexts::of("de");
        for name in catalogue_names() {
            assert_ne!(texts.of_catalogue(&name, ""), "", "{name} can be read");
        }
    }

    #[rstest]
    #[case("en", FieldRule::Max(5), "The largest allowed value is 5.")]
    #[case("de", FieldRule::Max(5), "Der größte erlaubte Wert ist 5.")]
    #[case("de", FieldRule::ConditionValue, "Dieser Wert passt nicht zu Feld und Vergleich.")]
    #[case(
        "de",
        FieldRule::SlugForm,
        "Verwenden Sie Kleinbuchstaben und Ziffern, getrennt durch einzelne Bindestriche."
    )]
    #[case(
        "de",
        FieldRule::TooMany(9),
        "Davon darf es höchstens 9 geben; löschen Sie einige, die vorbei sind."
    )]
    #[case("de", FieldRule::Cursor, "This cursor is not valid.")]
    fn a_rule_is_said_in_the_language(#[case] locale: &str, #[case] rule: FieldRule, #[case] expected: &str) {
        assert_eq!(ConsoleTexts::of(locale).of_rule(&rule), expected);
    }
}
