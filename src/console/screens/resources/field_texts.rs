//! Texts about members of the API: the label of each, and the words of those that are enumerations. What people have entered is
//! never translated, even if it looks like a word of the API.

use crate::console::console_texts::ConsoleTexts;

/// Members whose values are words of the API.
const WORD_MEMBERS: [&str; 30] = [
    "access_type",
    "appearance",
    "applies_to",
    "channel",
    "day",
    "days",
    "degraded_severity",
    "down_severity",
    "effective_status",
    "event",
    "events",
    "except_from",
    "field",
    "group_by",
    "held_by",
    "image_appearance",
    "kind",
    "last_error_code",
    "logo_size",
    "min_severity",
    "operator",
    "outcome",
    "period",
    "role",
    "severity",
    "source",
    "status",
    "subscriber_channels",
    "type",
    "unstable_severity",
];

/// Returns the label of a member, by its path; its name in words if it has no label, such as a member that an installation adds.
pub(in crate::console) fn label_of(texts: ConsoleTexts, path: &str) -> String {
    text_about(texts, "field", path).unwrap_or_else(|| {
        let words = last_name(path).replace('_', " ");
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    })
}

/// Returns the text about a member whose name begins with `start`, by the path of the member: the text for its name, or for that of
/// the objects of which it has the ids.
pub(in crate::console) fn text_about(texts: ConsoleTexts, start: &str, path: &str) -> Option<String> {
    let name = last_name(path);
    let object = object_name(name);
    [name, &object]
        .into_iter()
        .map(|name| texts.text_or(&text_name(start, &[name]), ""))
        .find(|text| !text.is_empty())
}

/// Returns a word of the API in the language of the console: its text for this member if there is one, else its general text.
pub(in crate::console) fn word_of(texts: ConsoleTexts, member: &str, word: &str) -> String {
    let general = texts.text_or(&text_name("word", &[word]), &word.replace('_', " "));
    texts.text_or(&text_name("word", &[member, word]), &general)
}

/// Returns true if the values of this member are words of the API.
pub(in crate::console) fn has_words(member: &str) -> bool {
    WORD_MEMBERS.contains(&member)
}

/// Returns the name of a text about these names.
pub(in crate::console) fn text_name(start: &str, names: &[&str]) -> String {
    format!("{start}-{}", names.join("-")).replace(['_', '.'], "-")
}

/// Returns the name of the member that shows the objects of which a member has the ids: `services` for `service_ids`.
pub(in crate::console) fn object_name(name: &str) -> String {
    let Some(stem) = name.strip_suffix("_ids") else {
        return name.strip_suffix("_id").unwrap_or(name).to_owned();
    };
    match stem.strip_suffix('y') {
        Some(start) => format!("{start}ies"),
        None => format!("{stem}s"),
    }
}

/// Returns the last name of a path; numbers of rows are no names.
pub(in crate::console) fn last_name(path: &str) -> &str {
    path.rsplit('.').find(|part| part.parse::<usize>().is_err()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rstest::rstest;
    use serde_json::Value;

    use super::*;
    use crate::config::Config;
    use crate::console::console_texts::LANGUAGES;
    use crate::console::screens::resources::channel_settings::with_settings;
    use crate::console::screens::resources::check_settings::service_fields;
    use crate::console::screens::resources::spec::{FieldKind, FieldSpec, FieldTime, ResourceSpec};
    use crate::console::screens::resources::table::RESOURCES;
    use crate::http::description::document;
    use crate::http::v1::routes::routes;
    use crate::model::check::CheckType;
    use crate::model::notification::ChannelKind;
    use crate::texts::language_files::names_in;

    /// Texts that screens of resources need, and values that are shown as words.
    #[derive(Default)]
    struct NeededTexts {
        /// Each with its alternatives: one of them is enough.
        texts: BTreeSet<Vec<String>>,
        words: BTreeSet<(String, String)>,
        /// Names of texts that explain a field.
        helps: BTreeSet<String>,
    }

    impl NeededTexts {
        fn label(&mut self, around: &str, name: &str) {
            self.texts.insert(alternatives("field", around, name));
        }

        fn field(&mut self, around: &str, spec: &FieldSpec) {
            if spec.catalogue.is_none() {
                self.label(around, last_name(spec.name));
                self.helps.extend(alternatives("help", around, last_name(spec.name)));
            }
            if let (FieldKind::Word(words) | FieldKind::Words(words), None) = (spec.kind, spec.catalogue) {
                for word in words {
                    self.word(spec.name, word);
                }
            }
            spec.inner().iter().for_each(|inner| self.field(spec.name, inner));
        }

        fn word(&mut self, member: &str, word: &str) {
            self.words.insert((member.to_owned(), word.to_owned()));
            self.texts.insert(vec![text_name("word", &[member, word]), text_name("word", &[word])]);
        }

        /// The members that the API shows of a resource.
        fn members(&mut self, document: &Value, schema: &Value) {
            let schema = resolved(document, schema);
            for part in schema["allOf"].as_array().into_iter().flatten() {
                self.members(document, part);
            }
            for (name, member) in schema["properties"].as_object().into_iter().flatten() {
                if name != "id" {
                    self.label("", name);
                }
                self.values(document, name, member);
            }
        }

        /// The words that a member can have.
        fn values(&mut self, document: &Value, name: &str, schema: &Value) {
            if name == "permissions" {
                return; // They are shown as the API names them.
            }
            let schema = resolved(document, schema);
            for choice in ["oneOf", "anyOf", "allOf"] {
                schema[choice]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|one| self.values(document, name, one));
            }
            if schema["items"].is_object() {
                self.values(document, name, &schema["items"]);
            }
            for word in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                self.word(name, word);
            }
            for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                self.values(document, name, inner);
            }
        }
    }

    /// Names of the texts about a member: the one in what is around it, the one of its name, and that of its objects.
    fn alternatives(start: &str, around: &str, name: &str) -> Vec<String> {
        let object = object_name(name);
        [vec![around, name], vec![name], vec![&object]].map(|names| text_name(start, &names)).to_vec()
    }

    fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
        let reference = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        reference.and_then(|path| document.pointer(path)).unwrap_or(schema)
    }

    /// The schema of a resource of the API.
    fn shown_by_api<'a>(document: &'a Value, spec: &ResourceSpec) -> &'a Value {
        let shape = |path: &str| {
            path.split('/')
                .map(|part| if part.starts_with('{') { "{}" } else { part }.to_owned())
                .collect::<Vec<_>>()
        };
        let wanted = shape(&format!("{}/{{id}}", spec.api));
        let paths = document["paths"].as_object().unwrap();
        let (_, path) =
            paths.iter().find(|(path, _)| shape(path) == wanted).unwrap_or_else(|| panic!("{}", spec.api));
        let body =
            resolved(document, &path["get"]["responses"]["200"]["content"]["application/json"]["schema"]);
        resolved(document, &body["properties"]["data"])
    }

    fn needed() -> NeededTexts {
        let document = serde_json::to_value(document(&routes().unwrap(), &Config::default())).unwrap();
        let mut needed = NeededTexts::default();
        for spec in RESOURCES {
            needed.members(&document, shown_by_api(&document, spec));
            spec.columns.iter().for_each(|column| needed.label("", last_name(column)));
            with_settings(spec.fields, Some(ChannelKind::Webhook), FieldTime::Creation)
                .iter()
                .for_each(|field| needed.field("", field));
            for action in spec.actions {
                needed.texts.insert(vec![text_name("action", &[action.name])]);
                action.fields.iter().for_each(|field| needed.field("", field));
            }
            for start in ["title", "empty"] {
                needed.texts.insert(vec![text_name(start, &[spec.name])]);
            }
            if spec.create.is_some() {
                needed.texts.insert(vec![text_name("new", &[spec.name])]);
            }
        }
        for check_type in CheckType::ALL {
            needed.texts.insert(vec![text_name("word", &["check_type", check_type.as_str()])]);
            service_fields(check_type, true, false).iter().for_each(|field| needed.field("", field));
        }
        needed
    }

    /// Objects are named in the plural by a text, not by a rule that makes one of a name.
    #[rstest]
    #[case("incident_policy_ids", "Incident policies", "Störungsregeln")]
    #[case("service_ids", "Services", "Dienste")]
    #[case("recurrence.rrule", "Recurrence rule (RRULE)", "Wiederholungsregel (RRULE)")]
    #[case("steps.1.contact_ids.0", "Contacts", "Kontakte")]
    #[case("of_the_installation", "Of the installation", "Of the installation")]
    fn a_member_has_a_label(#[case] path: &str, #[case] english: &str, #[case] german: &str) {
        for (locale, expected) in [("en", english), ("de", german)] {
            assert_eq!(label_of(ConsoleTexts::of(locale), path), expected);
        }
    }

    /// No label is a name of the API in words: each field of a form and each member that is shown has a text, in every language.
    #[test]
    fn everything_shown_has_a_text() {
        for locale in LANGUAGES {
            let texts = ConsoleTexts::of(locale);
            let missing: Vec<Vec<String>> = needed()
                .texts
                .into_iter()
                .filter(|names| names.iter().all(|name| texts.text_or(name, "").is_empty()))
                .collect();
            assert!(missing.is_empty(), "{locale}: {missing:#?}");
        }
    }

    /// Every explanation of a field is shown somewhere.
    #[test]
    fn every_explanation_is_of_a_field() {
        let names = names_in(include_str!("../../languages/en.ftl"));
        let helps = needed().helps;
        let others: Vec<&String> =
            names.iter().filter(|name| name.starts_with("help-") && !helps.contains(*name)).collect();
        assert!(others.is_empty(), "{others:?}");
    }

    /// Enumerations are translated, and nothing else is.
    #[test]
    fn only_words_of_the_api_are_translated() {
        let members: BTreeSet<String> = needed().words.into_iter().map(|(member, _)| member).collect();
        let translated: BTreeSet<String> = WORD_MEMBERS.iter().map(|member| (*member).to_owned()).collect();
        assert_eq!(members, translated);
    }
}
