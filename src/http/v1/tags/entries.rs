//! Entries of a list of tags (contract 4.3.6), each of which names a tag by its id or by its name.
//!
//! Only the form of entries is read here. The store checks whether the tags exist, with one query.

use serde_json::{Map, Value};

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::tag::{Tag, TagName, looks_like_id};

/// A tag, as an entry names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http::v1) enum TagEntry {
    /// The tag with this id, or else with this name. The entry never creates a tag.
    Existing(Id, Option<TagName>),
    /// The tag with this name, which may be created.
    Named(TagName),
}

impl TagEntry {
    fn read(value: &Value) -> Result<Self, FieldRule> {
        let text = match value {
            Value::String(text) => text.trim(),
            Value::Null => return Err(FieldRule::NotNull),
            _ => return Err(FieldRule::String),
        };
        if text.is_empty() {
            return Err(FieldRule::MinLength(1));
        }
        match text.parse().ok().filter(|_| looks_like_id(text)) {
            Some(id) => Ok(Self::Existing(id, text.parse().ok())),
            None => text.parse().map(Self::Named).map_err(|_| FieldRule::TagForm),
        }
    }

    /// Returns the id that the entry may mean.
    pub(in crate::http::v1) const fn id(&self) -> Option<Id> {
        match self {
            Self::Existing(id, _) => Some(*id),
            Self::Named(_) => None,
        }
    }

    /// Returns the name that the entry may mean.
    pub(in crate::http::v1) const fn name(&self) -> Option<&TagName> {
        match self {
            Self::Existing(_, name) => name.as_ref(),
            Self::Named(name) => Some(name),
        }
    }

    /// Returns the tag of the entry among the known ones.
    pub(in crate::http::v1) fn find<'a>(&self, known: &'a [Tag]) -> Option<&'a Tag> {
        let by_id = |id: Id| known.iter().find(|tag| tag.id == id);
        let by_name = |name: &TagName| known.iter().find(|tag| tag.name == *name);
        self.id().and_then(by_id).or_else(|| self.name().and_then(by_name))
    }

    /// Returns the error for an entry that names no existing tag and must not create one.
    pub(in crate::http::v1) fn unknown(&self) -> FieldRule {
        FieldRule::TagUnknown(match self {
            Self::Existing(id, _) => id.to_string(),
            Self::Named(name) => name.label(),
        })
    }
}

/// The entries of a list; each is a tag, or the error of the entry.
pub(in crate::http::v1) type Entries = Vec<Result<TagEntry, FieldRule>>;

/// Reads the entries of `tags`, at most `most`. `None` if the list is missing, or invalid as a whole.
pub(in crate::http::v1) fn read_entries(
    body: &Map<String, Value>,
    most: usize,
) -> (Option<Entries>, FieldErrors) {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let entries = fields.skippable("tags").and_then(|field| field.list(most));
    let entries = entries.map(|entries| entries.iter().map(|entry| TagEntry::read(entry.value())).collect());
    (entries, errors.into_inner())
}
