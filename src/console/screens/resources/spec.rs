//! Descriptions of the resources that share one screen: a list, a form for a new one, and a form for each.

use crate::console::frame::ConsoleSection;
use crate::model::access::Permission;

/// A kind of resource.
#[derive(Debug)]
pub(super) struct ResourceSpec {
    /// Name of its texts, such as `contacts`.
    pub(super) name: &'static str,
    /// The section of the console in which it is.
    pub(super) section: ConsoleSection,
    /// Path of the list below `/console`; a segment in braces stands for an id.
    pub(super) screen: &'static str,
    /// Path of the list in the API, with the same ids.
    pub(super) api: &'static str,
    /// What a user needs to see it.
    pub(super) view: Permission,
    /// What a user needs to create one; `None` if the API creates none.
    pub(super) create: Option<Permission>,
    /// What a user needs to change one; `None` if the API changes none.
    pub(super) edit: Option<Permission>,
    /// What a user needs to delete one; `None` if the API deletes none.
    pub(super) delete: Option<Permission>,
    /// Paths of the values that the list shows; the first one is the link to the resource.
    pub(super) columns: &'static [&'static str],
    /// The fields of its form.
    pub(super) fields: &'static [FieldSpec],
    /// Actions on one resource.
    pub(super) actions: &'static [ActionSpec],
    /// Lists that belong to one resource, as paths below it.
    pub(super) lists: &'static [&'static str],
}

/// A field of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldSpec {
    /// Name of the member in the API; inner members are separated by dots.
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
    /// Whether a form without it is not sent.
    pub(super) is_required: bool,
    /// When the field can be set.
    pub(super) when: FieldTime,
    /// What is shown beside the field; empty for the text of its name.
    pub(super) label: &'static str,
    /// What explains the field; empty for the text of its name.
    pub(super) help: &'static str,
    /// What the form for a new resource holds at first.
    pub(super) preset: &'static str,
    /// Whether the order of rows matters, so that they can be moved.
    pub(super) is_ordered: bool,
}

/// When a field can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldTime {
    Always,
    Creation,
    Change,
}

/// What is entered into a field, and what the API gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A line.
    Text,
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
pub(super) struct ActionSpec {
    /// The last segment of its path in the API.
    pub(super) name: &'static str,
    /// What a user needs to run it.
    pub(super) permission: Permission,
    /// The fields of its form; none for a button.
    pub(super) fields: &'static [FieldSpec],
}

const fn spec(name: &'static str, kind: FieldKind, is_required: bool, when: FieldTime) -> FieldSpec {
    FieldSpec { name, kind, is_required, when, label: "", help: "", preset: "", is_ordered: false }
}

/// A field that can be left out.
pub(super) const fn field(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, false, FieldTime::Always)
}

/// A field that has to be entered.
pub(super) const fn needed(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, true, FieldTime::Always)
}

/// A field that has to be entered, and cannot be changed later.
pub(super) const fn fixed(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, true, FieldTime::Creation)
}

/// A field that is left out when the resource is created.
pub(super) const fn on_change(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, false, FieldTime::Change)
}

/// A field that can be left out, and cannot be changed later.
pub(super) const fn on_creation(name: &'static str, kind: FieldKind) -> FieldSpec {
    spec(name, kind, false, FieldTime::Creation)
}

impl FieldSpec {
    /// The field with what the form for a new resource holds at first.
    pub(super) const fn preset(self, preset: &'static str) -> Self {
        Self { preset, ..self }
    }

    /// The field with rows whose order matters.
    pub(super) const fn ordered(self) -> Self {
        Self { is_ordered: true, ..self }
    }

    /// The path of the field below `prefix`, which is empty for a field of the form itself.
    pub(super) fn path(&self, prefix: &str) -> String {
        if prefix.is_empty() { self.name.to_owned() } else { format!("{prefix}.{}", self.name) }
    }

    /// The fields in it.
    pub(super) const fn inner(&self) -> &'static [Self] {
        match self.kind {
            FieldKind::Group(fields) | FieldKind::Rows(fields) | FieldKind::Settings(fields) => fields,
            _ => &[],
        }
    }

    /// Returns true if the field is in the form at this time.
    pub(super) fn is_shown(&self, time: FieldTime) -> bool {
        self.when == FieldTime::Always || self.when == time
    }
}

/// An action on a resource.
pub(super) const fn action(
    name: &'static str,
    permission: Permission,
    fields: &'static [FieldSpec],
) -> ActionSpec {
    ActionSpec { name, permission, fields }
}

impl ResourceSpec {
    /// The text of the screen that takes the place of the list, which is then at `/all`; `None` if the list is shown first.
    pub(super) fn first_screen(&self) -> Option<&'static str> {
        match self.name {
            "incidents" => Some("board"),
            "maintenances" => Some("calendar"),
            _ => None,
        }
    }

    /// Returns the ids in a path below `/console` if this is the path of the list, and the segments after it.
    pub(super) fn matches<'a>(&self, segments: &[&'a str]) -> Option<ResourcePlace<'a>> {
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
pub(super) struct ResourcePlace<'a> {
    pub(super) ids: Vec<&'a str>,
    pub(super) rest: Vec<&'a str>,
}

impl ResourcePlace<'_> {
    /// Fills the ids into a path pattern.
    pub(super) fn path(&self, pattern: &str) -> String {
        let mut ids = self.ids.iter();
        let filled = pattern.split('/').skip(1).map(|segment| {
            let id = segment.starts_with('{').then(|| ids.next()).flatten();
            format!("/{}", id.copied().unwrap_or(segment))
        });
        filled.collect()
    }
}
