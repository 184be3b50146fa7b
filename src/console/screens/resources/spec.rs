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
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldSpec {
    /// Name of the member in the API; inner members are separated by dots.
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
    /// Whether a form without it is not sent.
    pub(super) is_required: bool,
    /// When the field can be set.
    pub(super) when: FieldTime,
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
    /// Structured data as JSON.
    Data,
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

/// A field that can be left out.
pub(super) const fn field(name: &'static str, kind: FieldKind) -> FieldSpec {
    FieldSpec { name, kind, is_required: false, when: FieldTime::Always }
}

/// A field that has to be entered.
pub(super) const fn needed(name: &'static str, kind: FieldKind) -> FieldSpec {
    FieldSpec { name, kind, is_required: true, when: FieldTime::Always }
}

/// A field that has to be entered, and cannot be changed later.
pub(super) const fn fixed(name: &'static str, kind: FieldKind) -> FieldSpec {
    FieldSpec { name, kind, is_required: true, when: FieldTime::Creation }
}

/// A field that is left out when the resource is created.
pub(super) const fn on_change(name: &'static str, kind: FieldKind) -> FieldSpec {
    FieldSpec { name, kind, is_required: false, when: FieldTime::Change }
}

/// A field that can be left out, and cannot be changed later.
pub(super) const fn on_creation(name: &'static str, kind: FieldKind) -> FieldSpec {
    FieldSpec { name, kind, is_required: false, when: FieldTime::Creation }
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
