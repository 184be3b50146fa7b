//! The tags of an organisation, numbered in the order in which they were met. A number is never used for another tag.

use std::collections::HashMap;
use std::sync::Arc;

use crate::fleet_view::packed_lists::narrow;
use crate::model::tag::{Tag, TagName};

/// A tag as rows and facets show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetTag {
    /// Label: `key:value`, or only the key.
    pub label: Arc<str>,
    /// Colour as `#RRGGBB`.
    pub color: Arc<str>,
}

/// The tags of an organisation.
#[derive(Clone, Debug, Default)]
pub(super) struct TagDictionary {
    tags: Vec<DictionaryEntry>,
    numbers: HashMap<i64, u32>,
}

/// A tag; `None` before it is read, and after it was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DictionaryEntry(Option<NamedTag>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedTag {
    name: TagName,
    shown: FleetTag,
}

impl TagDictionary {
    /// The number of the tag with this database key.
    pub(super) fn number(&mut self, tag: i64) -> u32 {
        if let Some(number) = self.numbers.get(&tag) {
            return *number;
        }
        let number = narrow(self.tags.len());
        self.tags.push(DictionaryEntry(None));
        self.numbers.insert(tag, number);
        number
    }

    /// The number of the tag with this database key, if a service has or had it.
    pub(super) fn known_number(&self, tag: i64) -> Option<u32> {
        self.numbers.get(&tag).copied()
    }

    /// Takes the names and colours of all tags of the organisation. The others were deleted. Returns true if one of the earlier
    /// tags is another one now.
    pub(super) fn replace(&mut self, tags: &[Tag]) -> bool {
        let before: Vec<DictionaryEntry> =
            self.tags.iter_mut().map(|entry| DictionaryEntry(entry.0.take())).collect();
        for tag in tags {
            let number = self.number(tag.row) as usize;
            let shown = FleetTag { label: tag.name.label().into(), color: tag.color.as_str().into() };
            self.tags[number] = DictionaryEntry(Some(NamedTag { name: tag.name.clone(), shown }));
        }
        before.iter().zip(&self.tags).any(|(before, after)| before.0.is_some() && before != after)
    }

    /// The number of tags, including deleted ones.
    pub(super) const fn len(&self) -> usize {
        self.tags.len()
    }

    /// The tag with this number, if it exists.
    pub(super) fn shown(&self, number: u32) -> Option<&FleetTag> {
        self.named(number).map(|tag| &tag.shown)
    }

    /// The numbers of the tags with one of these names.
    pub(super) fn with_names(&self, names: &[TagName]) -> Vec<u32> {
        let is_wanted = |number: &u32| self.named(*number).is_some_and(|tag| names.contains(&tag.name));
        (0..narrow(self.tags.len())).filter(is_wanted).collect()
    }

    /// The tags with this key: their numbers, and their values in order. A tag without a value has an empty one.
    pub(super) fn values_of(&self, key: &str) -> Vec<TagValue> {
        let of_key = |number: u32| {
            let tag = self.named(number).filter(|tag| tag.name.key() == key)?;
            Some(TagValue { value: tag.name.value().unwrap_or_default().to_owned(), number })
        };
        let mut found: Vec<TagValue> = (0..narrow(self.tags.len())).filter_map(of_key).collect();
        found.sort();
        found
    }

    fn named(&self, number: u32) -> Option<&NamedTag> {
        self.tags.get(number as usize)?.0.as_ref()
    }
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TagValue {
    pub(super) value: String,
    pub(super) number: u32,
}
