//! The fields of a service's form. Settings and conditions are those of the catalogue that `/v1/meta/check-types` shows.

use std::sync::LazyLock;

use crate::console::screens::resources::api_lists::{PROBES, SERVICES, TAGS};
use crate::console::screens::resources::spec::{FieldCatalogue, FieldKind, FieldSpec, field, needed};
use crate::http::v1::services::settings::form::{FormSetting, form_settings};
use crate::model::check::CheckType;
use crate::probe::catalogue::{ConfigField, ConfigFieldKind, definition};
use crate::probe::operator::Operator;

/// Kinds of credentials, as the API names them.
const AUTH_TYPES: &[&str] = &["none", "bearer", "basic", "api_key"];
/// Names of the form for services and tags on which a service depends.
pub(in crate::console) const DEPENDS_ON: [&str; 2] = ["depends_on_service_ids", "depends_on_tag_ids"];

/// A request header.
const HEADERS: &[FieldSpec] = &[needed("name", FieldKind::Text), needed("value", FieldKind::Secret)];
/// Credentials; which of them are needed depends on their type.
const AUTH: &[FieldSpec] = &[
    needed("type", FieldKind::Word(AUTH_TYPES)),
    field("username", FieldKind::Exact),
    needed("password", FieldKind::Secret),
    needed("token", FieldKind::Secret),
    field("header", FieldKind::Text),
    needed("value", FieldKind::Secret),
];
/// What the results of a location count for.
const ROLES: &[FieldSpec] = &[
    needed("probe", FieldKind::Reference(PROBES)),
    needed("role", FieldKind::Word(&["full", "reachability"])),
];

/// One list for each check type, in the order of [`CheckType::ALL`].
type TypeTable<T> = LazyLock<Vec<Vec<T>>>;

static CONDITION_FIELDS: TypeTable<&'static str> = LazyLock::new(|| {
    table(|check_type| definition(check_type).condition_fields.iter().map(|field| field.field).collect())
});
static CONDITIONS: TypeTable<FieldSpec> = LazyLock::new(|| table(condition_fields));
static CONFIG: TypeTable<FieldSpec> = LazyLock::new(|| table(config_fields));
static SETTINGS: TypeTable<FieldSpec> = LazyLock::new(|| table(setting_fields));
/// The numbers that can be chosen beside words.
static NUMBERS: LazyLock<Vec<String>> = LazyLock::new(|| (0..=100).map(|n: i64| n.to_string()).collect());
static CHOICES: LazyLock<Vec<SettingChoice>> = LazyLock::new(choices);

/// The options of a setting that is a word or a number.
struct SettingChoice {
    name: &'static str,
    options: Vec<&'static str>,
}

fn table<T>(of_type: impl Fn(CheckType) -> Vec<T>) -> Vec<Vec<T>> {
    CheckType::ALL.into_iter().map(of_type).collect()
}

fn of_type<T>(table: &'static TypeTable<T>, check_type: CheckType) -> &'static [T] {
    let place = CheckType::ALL.into_iter().position(|other| other == check_type);
    place.and_then(|place| table.get(place)).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the fields of the form of a service. A service that is not configured has no settings; a user who is confined to an
/// access scope changes no dependencies.
pub(in crate::console) fn service_fields(
    check_type: CheckType,
    is_configured: bool,
    is_confined: bool,
) -> Vec<FieldSpec> {
    let mut fields = vec![needed("name", FieldKind::Text)];
    if definition(check_type).target_required {
        fields.push(needed("target", FieldKind::Text));
    }
    fields.push(field("tags", FieldKind::Lines));
    if !is_confined {
        let [services, tags] = DEPENDS_ON;
        fields.push(field(services, FieldKind::References(SERVICES)));
        fields.push(field(tags, FieldKind::References(TAGS)));
    }
    if is_configured {
        fields.push(needed("settings", FieldKind::Settings(of_type(&SETTINGS, check_type))));
    }
    fields
}

fn setting_fields(check_type: CheckType) -> Vec<FieldSpec> {
    let mut fields = vec![needed("interval_seconds", FieldKind::Number)];
    fields.extend(form_settings(check_type).iter().map(setting));
    if check_type.is_probed() {
        fields.push(field("assigned_probes", FieldKind::Order(PROBES)));
        fields.push(field("probe_roles", FieldKind::Rows(ROLES)));
    }
    fields.push(needed("config", FieldKind::Settings(of_type(&CONFIG, check_type))));
    fields
}

fn setting(setting: &FormSetting) -> FieldSpec {
    let options = CHOICES.iter().find(|choice| choice.name == setting.name);
    let kind = options.map_or(FieldKind::Number, |choice| FieldKind::Word(&choice.options));
    let catalogue = Some(FieldCatalogue::Check);
    FieldSpec { label: setting.label, help: setting.help, catalogue, ..needed(setting.name, kind) }
}

fn choices() -> Vec<SettingChoice> {
    let settings = CheckType::ALL.into_iter().flat_map(form_settings);
    let with_words = settings.filter(|setting| !setting.words.is_empty());
    let choice = |setting: FormSetting| {
        let is_allowed =
            |number: &&String| number.parse().is_ok_and(|number| setting.bounds.contains(&number));
        let numbers = NUMBERS.iter().filter(is_allowed).map(String::as_str);
        SettingChoice { name: setting.name, options: setting.words.iter().copied().chain(numbers).collect() }
    };
    with_words.map(choice).collect()
}

fn config_fields(check_type: CheckType) -> Vec<FieldSpec> {
    let mut fields: Vec<FieldSpec> = definition(check_type).fields.iter().map(config_field).collect();
    let conditions = of_type(&CONDITIONS, check_type);
    if !conditions.is_empty() {
        fields.push(field("conditions", FieldKind::Rows(conditions)));
    }
    fields
}

fn config_field(config: &ConfigField) -> FieldSpec {
    let kind = match config.kind {
        ConfigFieldKind::Select { options, .. } => FieldKind::Word(options),
        ConfigFieldKind::KeyValueArray { .. } => FieldKind::Rows(HEADERS),
        ConfigFieldKind::Auth => FieldKind::Group(AUTH),
        ConfigFieldKind::Textarea { .. } => FieldKind::Long,
        ConfigFieldKind::Boolean { .. } => FieldKind::Flag,
        ConfigFieldKind::Number { .. } => FieldKind::Number,
    };
    let is_needed = matches!(kind, FieldKind::Word(_) | FieldKind::Number);
    let help = config.help.unwrap_or_default();
    let catalogue = Some(FieldCatalogue::Check);
    FieldSpec { label: config.label, help, is_required: is_needed, catalogue, ..field(config.name, kind) }
}

fn condition_fields(check_type: CheckType) -> Vec<FieldSpec> {
    let words = of_type(&CONDITION_FIELDS, check_type);
    if words.is_empty() {
        return Vec::new();
    }
    let has_key = definition(check_type).condition_fields.iter().any(|field| field.parametric.is_some());
    let key = has_key.then(|| field("key", FieldKind::Text));
    let start = [needed("field", FieldKind::Word(words))].into_iter().chain(key);
    let rest = [
        needed("operator", FieldKind::Word(Operator::WORDS)),
        field("value", FieldKind::Exact),
        needed("status", FieldKind::Word(&["down", "degraded"])),
    ];
    start.chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::console_texts::{ConsoleTexts, LANGUAGES};

    /// Every option of a condition has a text in every language, and so have the fields that are in no catalogue.
    #[test]
    fn conditions_have_texts() {
        let fields = CONDITION_FIELDS.iter().flatten().map(|field| format!("word-field-{field}"));
        let operators = Operator::WORDS.iter().map(|operator| format!("word-operator-{operator}"));
        let auth = AUTH.iter().map(|spec| format!("field-auth-{}", spec.name));
        for name in fields.chain(operators).chain(auth) {
            let name = name.replace(['_', '.'], "-");
            for locale in LANGUAGES {
                assert_ne!(ConsoleTexts::of(locale).text_or(&name, ""), "", "{locale} {name}");
            }
        }
    }

    #[test]
    fn a_choice_has_words_and_numbers() {
        let choice = CHOICES.iter().find(|choice| choice.name == "confirmation").unwrap();
        assert_eq!(choice.options[..4], ["any", "majority", "all", "1"]);
        assert_eq!(choice.options.last(), Some(&"50"));
    }
}
