//! Descriptions of the resources that share one screen: a list, a form for a new one, and a form for each.

use serde_json::Value;

use crate::console::frame::ConsoleSection;
use crate::model::access::Permission;
use crate::model::notification::ChannelKind;

/// A kind of resource.
#[derive(Debug)]
pub(in crate::console) struct ResourceSpec {
    /// Name of its texts, such as `contacts`.
    pub(in crate::console) name: &'static str,
    /// The section of the console in which it is.
    pub(in crate::console) section: ConsoleSection,
    /// Path of the list below `/console`; a segment in braces stands for an id.
    pub(in crate::console) screen: &'static str,
    /// Path of the list in the API, with the same ids.
    pub(in crate::console) api: &'static str,
    /// What a user needs to see it.
    pub(in crate::console) view: Permission,
    /// What a user needs to create one; `None` if the API creates none.
    pub(in crate::console) create: Option<Permission>,
    /// What a user needs to change one; `None` if the API changes none.
    pub(in crate::console) edit: Option<Permission>,
    /// What a user needs to delete one; `None` if the API deletes none.
    pub(in crate::console) delete: Option<Permission>,
    /// Paths of the values that the list shows; the first one is the link to the resource.
    pub(in crate::console) columns: &'static [&'static str],
    /// The fields of its form.
    pub(in crate::console) fields: &'static [FieldSpec],
    /// Actions on one resource.
    pub(in crate::console) actions: &'static [ActionSpec],
    /// Lists that belong to one resource, as paths below it.
    pub(in crate::console) lists: &'static [&'static str],
}

/// A field of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) struct FieldSpec {
    /// Name of the member in the API; inner members are separated by dots.
    pub(in crate::console) name: &'static str,
    pub(in crate::console) kind: FieldKind,
    /// Whether a form without it is not sent.
    pub(in crate::console) is_required: bool,
    /// When the field can be set.
    pub(in crate::console) when: FieldTime,
    /// What is shown beside the field; empty for the text of its name.
    pub(in crate::console) label: &'static str,
    /// What explains the field; empty for the text of its name.
    pub(in crate::console) help: &'static str,
    /// What the form for a new resource holds at first.
    pub(in crate::console) preset: &'static str,
    /// Whether the order of rows matters, so that they can be moved.
    pub(in crate::console) is_ordered: bool,
    /// The catalogue that has the label and the help.
    pub(in crate::console) catalogue: Option<FieldCatalogue>,
}

/// A catalogue of the API whose fields are in forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) enum FieldCatalogue {
    /// Check types.
    Check,
    /// The settings of this kind of channel.
    Channel(ChannelKind),
}

impl FieldCatalogue {
    /// The name of the translated label of a field; that of its help ends with `-help`.
    pub(in crate::console) fn text_name(self, field: &str) -> String {
        match self {
            Self::Check => format!("check-{field}"),
            Self::Channel(kind) => format!("channel-{kind}-{field}"),
        }
    }
}

/// When a field can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) enum FieldTime {
    Always,
    Creation,
    Change,
}

/// What is entered into a field, and what the API gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) enum FieldKind {
    /// A line.
    Text,
    /// A line, with the blanks at its ends.
    Exact,
    /// Several lines.
    Long,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A line that is not shown.
    Secret,
    /// A time in UTC.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words.
    Words(&'static [&'static str]),
    /// The id of a resource in this list of the API.
    Reference(&'static str),
    /// Ids of resources in this list of the API.
    References(&'static str),
    /// Permissions.
    Permissions,
    /// A list of texts, one on each line.
    Lines,
    /// Ids of resources in this list of the API, in an order; the same one may be there several times.
    Order(&'static str),
    /// Texts by name, one `name: value` on each line, which are not shown.
    SecretPairs,
    /// An object of these fields; there is none if all required ones are empty.
    Group(&'static [FieldSpec]),
    /// A list of objects of these fields.
    Rows(&'static [FieldSpec]),
    /// The kind of a channel, which is chosen before the form is shown.
    ChannelKind,
    /// The settings of a channel, of which `channel_settings` makes an object of fields.
    ChannelSettings,
    /// An object of these fields, of which the API keeps what is not sent.
    Settings(&'static [FieldSpec]),
}

/// An action on a resource.
#[derive(Debug)]
pub(in crate::console) struct ActionSpec {
    /// The last segment of its path in the API.
    pub(in crate::console) name: &'static str,
    /// What a user needs to run it.
    pub(in crate::console) permission: Permission,
    /// The fields of its form; none for a button.
    pub(in crate::console) fields: &'static [FieldSpec],
    /// What the stored resource must be for the action to have an effect.
    pub(in crate::console) conditions: &'static [StateCondition],
}

/// A member of a stored resource must have one of these values.
#[derive(Debug)]
pub(in crate::console) struct StateCondition {
    pub(in crate::console) member: &'static str,
    /// Words, or `true`, `false` and `null`.
    pub(in crate::console) values: &'static [&'static str],
}

impl ActionSpec {
    /// The action, which is offered only if the stored resource meets these conditions.
    pub(in crate::console) const fn only_if(self, conditions: &'static [StateCondition]) -> Self {
        Self { conditions, ..self }
    }

    /// Returns true if the action is offered for a resource.
    pub(in crate::console) fn applies_to(&self, stored: &Value) -> bool {
        self.conditions.iter().all(|condition| {
            let value = &stored[condition.member];
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            condition.values.contains(&text.as_str())
        })
    }
}

const fn spec(name: &'static str, kind: FieldKind, is_required: bool, when: FieldTime) -> FieldSpec {
    FieldSpec {
        name,
        kind,
        is_required,
        when,
        label: "",
        help: "",
        preset: "",
        is_ordered: false,
        catalogue: None,
    }
}

/// A field that can be left out.
pub(in crate::console) const fn field(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, false, FieldTime::Always)
}

/// A field that has to be entered.
pub(in crate::console) const fn needed(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, true, FieldTime::Always)
}

/// A field that has to be entered, and cannot be changed later.
pub(in crate::console) const fn fixed(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, true, FieldTime::Creation)
}

/// A field that is left out when the resource is created.
pub(in crate::console) const fn on_change(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, false, FieldTime::Change)
}

/// A field that can be left out, and cannot be changed later.
pub(in crate::console) const fn on_creation(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, false, FieldTime::Creation)
}

impl FieldSpec {
    /// The field with what the form for a new resource holds at first.
    pub(in crate::console) const fn preset(self, preset: &'static str) -> Self {
        Self { preset, ..self }
    }

    /// The field with rows whose order matters.
    pub(in crate::console) const fn ordered(self) -> Self {
        Self { is_ordered: true, ..self }
    }

    /// The path of the field below `prefix`, which is empty for a field of the form itself.
    pub(in crate::console) fn path(&self, prefix: &str) -> String {
        if prefix.is_empty() { self.name.to_owned() } else { format!("{prefix}.{}", self.name) }
    }

    /// The fields in it.
    pub(in crate::console) const fn inner(&self) -> &'static [Self] {
        match self.kind {
            FieldKind::Group(fields) | FieldKind::Rows(fields) | FieldKind::Settings(fields) => fields,
            _ => &[],
        }
    }

    /// Returns true if the field is in the form at this time.
    pub(in crate::console) fn is_shown(&self, time: FieldTime) -> bool {
        self.when == FieldTime::Always || self.when == time
    }
}

/// The condition that a member has one of these values.
pub(in crate::console) const fn state(
    member: &'static str,
    values: &'static [&'static str],
) -> StateCondition {
    StateCondition { member, values }
}

/// An action on a resource.
pub(in crate::console) const fn action(
    name: &'static str,
    permission: Permission,
    fields: &'static [FieldSpec],
) -> ActionSpec {
    ActionSpec { name, permission, fields, conditions: &[] }
}

impl ResourceSpec {
    /// The text of the screen that takes the place of the list, which is then at `/all`; `None` if the list is shown first.
    pub(in crate::console) fn first_screen(&self) -> Option<&'static str> {
        match self.name {
            "incidents" => Some("board"),
            "maintenances" => Some("calendar"),
            _ => None,
        }
    }

    /// Returns the ids in a path below `/console` if this is the path of the list, and the segments after it.
    pub(in crate::console) fn matches<'a>(&self, segments: &[&'a str]) -> Option<ResourcePlace<'a>> {
        let wanted: Vec<&str> = self.screen.split('/').skip(1).collect();
        let (own, rest) = (segments.get(..wanted.len())?, segments.get(wanted.len()..)?);
        let mut ids = Vec::new();
        for (wanted, given) in wanted.iter().zip(own) {
            if wanted.starts_with('{') {
                given.parse::<crate::id::Id>().ok()?;
                ids.push(*given);
            } else if wanted != given {
                return None;
            }
        }
        Some(ResourcePlace { ids, rest: rest.to_vec() })
    }
}

/// A list of resources, and the path after it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::console) struct ResourcePlace<'a> {
    pub(in crate::console) ids: Vec<&'a str>,
    pub(in crate::console) rest: Vec<&'a str>,
}

impl ResourcePlace<'_> {
    /// Fills the ids into a path pattern.
    pub(in crate::console) fn path(&self, pattern: &str) -> String {
        let mut ids = self.ids.iter();
        let filled = pattern.split('/').skip(1).map(|segment| {
            let id = segment.starts_with('{').then(|| ids.next()).flatten();
            format!("/{}", id.copied().unwrap_or(segment))
        });
        filled.collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::console::screens::resources::table::RESOURCES;

    /// Only actions that have an effect on the stored state are offered.
    #[rstest]
    #[case("statuspages", json!({"is_published": false}), &["publish"])]
    #[case("statuspages", json!({"is_published": true}), &["unpublish"])]
    #[case("maintenances", json!({"status": "scheduled"}), &["start", "cancel"])]
    #[case("maintenances", json!({"status": "in_progress"}), &["complete", "extend"])]
    #[case("maintenances", json!({"status": "completed"}), &["extend"])]
    #[case("maintenances", json!({"status": "cancelled"}), &[])]
    #[case("incidents", json!({"status": "identified", "acknowledged": null}), &["acknowledge", "updates", "resolve"])]
    #[case("incidents", json!({"status": "identified", "acknowledged": {"at": "…"}}), &["updates", "resolve"])]
    #[case("incidents", json!({"status": "resolved", "acknowledged": null}), &["updates"])]
    #[case("messages", json!({"status": "dead"}), &["redeliver"])]
    #[case("messages", json!({"status": "delivered"}), &[])]
    #[case("cover-requests", json!({"status": "accepted"}), &[])]
    #[case("channels", json!({}), &["test"])]
    fn only_actions_with_an_effect_are_offered(
        #[case] name: &str,
        #[case] stored: Value,
        #[case] expected: &[&str],
    ) {
        let spec = RESOURCES.iter().find(|spec| spec.name == name).unwrap();
        let offered = spec.actions.iter().filter(|action| action.applies_to(&stored));
        assert_eq!(offered.map(|action| action.name).collect::<Vec<_>>(), expected);
    }
}
