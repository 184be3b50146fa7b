//! The services of an organisation as columns: what a query asks for lies together, and costs few bytes a service.
//!
//! A service has the same row number as long as it exists. Three orders of the rows are kept up to date, by database key, by
//! name and by age, so a service is found, and a page of the list is cut, without sorting.

mod compact_time;
mod reading;
pub(super) mod row_search;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::fleet_view::columns::compact_time::CompactTime;
use crate::fleet_view::filter_sets::{FilterSets, RowFilter};
use crate::fleet_view::fleet_facts::{FleetFacts, IncidentPresence, MeasuredState};
use crate::fleet_view::location_sets::LocationSets;
use crate::fleet_view::packed_lists::{PackedLists, insert_tight, narrow, push_tight};
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::row_state::RowState;
use crate::fleet_view::tag_dictionary::TagDictionary;
use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::model::tag::Tag;

/// Maximum number of bytes of a target that are searched.
const TARGET_MAX_BYTES: usize = 8_192;
/// Stands for an unknown uptime.
const NO_UPTIME: u32 = u32::MAX;

/// The services of an organisation.
#[derive(Clone, Debug)]
pub(super) struct FleetColumns {
    alive: RowSet,
    keys: Vec<ServiceKey>,
    ids: Vec<Id>,
    since: Vec<CompactTime>,
    created: Vec<CompactTime>,
    uptimes: Vec<u32>,
    states: Vec<RowState>,
    /// Name and target in lower case, and the name as it is written if that differs.
    texts: PackedLists<u8>,
    text_parts: Vec<TextParts>,
    tags: PackedLists<u32>,
    locations: Vec<u32>,
    /// Revision of each service when the revisions were last compared.
    revisions: Vec<u32>,
    by_key: Vec<u32>,
    by_name: Vec<u32>,
    by_age: Vec<u32>,
    /// Rows of deleted services, for new ones.
    free: Vec<u32>,
    tag_names: TagDictionary,
    location_sets: LocationSets,
    filter_sets: FilterSets,
}

/// The ends of the parts of a text: the name in lower case, a line feed, and the target in lower case.
#[derive(Clone, Copy, Debug)]
struct TextParts {
    name: u16,
    searched: u16,
}

impl FleetColumns {
    /// Creates empty columns, for these locations.
    pub(super) fn new(locations: Vec<String>) -> Self {
        Self {
            alive: RowSet::default(),
            keys: Vec::new(),
            ids: Vec::new(),
            since: Vec::new(),
            created: Vec::new(),
            uptimes: Vec::new(),
            states: Vec::new(),
            texts: PackedLists::default(),
            text_parts: Vec::new(),
            tags: PackedLists::default(),
            locations: Vec::new(),
            revisions: Vec::new(),
            by_key: Vec::new(),
            by_name: Vec::new(),
            by_age: Vec::new(),
            free: Vec::new(),
            tag_names: TagDictionary::default(),
            location_sets: LocationSets::new(locations),
            filter_sets: FilterSets::default(),
        }
    }

    /// Adds a service that is not among them yet, without its place in the orders. [`Self::finish`] must follow.
    pub(super) fn append(&mut self, facts: &FleetFacts) {
        let row = self.new_row(facts);
        push_tight(&mut self.by_key, row);
        push_tight(&mut self.by_name, row);
        push_tight(&mut self.by_age, row);
    }

    /// Sorts the rows after services were appended.
    pub(super) fn finish(&mut self) {
        let (mut by_key, mut by_name) = (std::mem::take(&mut self.by_key), std::mem::take(&mut self.by_name));
        by_key.sort_unstable_by_key(|row| self.key(*row));
        by_name.sort_unstable_by(|a, b| self.compare_names(*a, *b));
        (self.by_key, self.by_name) = (by_key, by_name);
        let mut by_age = std::mem::take(&mut self.by_age);
        self.sort_by_age(&mut by_age);
        self.by_age = by_age;
        self.texts.shrink();
        self.tags.shrink();
    }

    /// Adds or replaces a service; returns true if that changes its row, or what is searched.
    pub(super) fn put(&mut self, facts: &FleetFacts) -> bool {
        if let Some(row) = self.row_of(facts.outline.key) {
            let before = (self.shown(row), self.searched(row).to_vec(), self.location(row));
            if facts.outline.name.to_lowercase().as_bytes() == self.name(row) {
                self.write(row, facts);
            } else {
                self.by_name.remove(self.name_index(row));
                self.write(row, facts);
                self.insert_by_name(row);
            }
            return before != (self.shown(row), self.searched(row).to_vec(), self.location(row));
        }
        let row = self.new_row(facts);
        let index = self.by_key.partition_point(|other| self.key(*other) < facts.outline.key);
        insert_tight(&mut self.by_key, index, row);
        self.insert_by_name(row);
        let index = self.age_index(row);
        insert_tight(&mut self.by_age, index, row);
        true
    }

    /// Removes a service; returns false if there is no such service.
    pub(super) fn remove(&mut self, key: ServiceKey) -> bool {
        let Ok(index) = self.by_key.binary_search_by_key(&key, |row| self.key(*row)) else { return false };
        let row = self.by_key[index];
        self.by_name.remove(self.name_index(row));
        self.by_age.remove(self.age_index(row));
        self.by_key.remove(index);
        self.alive.remove(row);
        self.filter_sets.note(row, |_| false);
        self.texts.set(row, &[]);
        self.tags.set(row, &[]);
        self.free.push(row);
        true
    }

    /// Takes the measured state of a service; returns true if its row has changed, the uptime apart. Without a time, the time of
    /// an unchanged verdict stays.
    pub(super) fn set_measured(&mut self, key: ServiceKey, measured: MeasuredState) -> bool {
        let Some(row) = self.row_of(key) else { return false };
        let index = row as usize;
        let (state, since) = (self.states[index], self.since[index]);
        self.states[index] = state.measured(&measured);
        self.uptimes[index] = measured.uptime_ppm.unwrap_or(NO_UPTIME);
        self.note_row(row);
        if state.is_measured() {
            let known = if measured.verdict == state.verdict { since } else { CompactTime::NONE };
            self.since[index] = measured.since.map_or(known, CompactTime::of);
        }
        (state, since) != (self.states[index], self.since[index])
    }

    /// Takes the open incidents of a service; returns true if its row has changed.
    pub(super) fn set_incident(&mut self, key: ServiceKey, incident: IncidentPresence) -> bool {
        let Some(row) = self.row_of(key) else { return false };
        std::mem::replace(&mut self.states[row as usize].incident, incident) != incident
    }

    /// Takes the revision of a service, when all are compared; returns true if it is another one than before.
    pub(super) fn set_revision(&mut self, key: ServiceKey, revision: i64) -> bool {
        // Revisions of one service never differ by as much as this would confuse.
        let revision = u32::try_from(revision & i64::from(u32::MAX)).unwrap_or_default();
        let row = self.row_of(key);
        row.is_none_or(|row| std::mem::replace(&mut self.revisions[row as usize], revision) != revision)
    }

    /// Takes the names and colours of all tags of the organisation; returns true if an earlier one has changed.
    pub(super) fn set_tags(&mut self, tags: &[Tag]) -> bool {
        self.tag_names.replace(tags)
    }

    /// Takes the codes of the present locations.
    pub(super) fn set_locations(&mut self, all: Vec<String>) {
        self.location_sets.set_all(all);
    }

    fn new_row(&mut self, facts: &FleetFacts) -> u32 {
        let row = self.free.pop().unwrap_or_else(|| {
            push_tight(&mut self.keys, 0);
            push_tight(&mut self.ids, facts.outline.id);
            push_tight(&mut self.since, CompactTime::NONE);
            push_tight(&mut self.created, CompactTime::NONE);
            push_tight(&mut self.uptimes, NO_UPTIME);
            push_tight(&mut self.states, RowState::of(facts));
            push_tight(&mut self.text_parts, TextParts { name: 0, searched: 0 });
            push_tight(&mut self.locations, 0);
            push_tight(&mut self.revisions, 0);
            narrow(self.keys.len() - 1)
        });
        self.alive.insert(row);
        self.write(row, facts);
        row
    }

    fn write(&mut self, row: u32, facts: &FleetFacts) {
        let (index, outline) = (row as usize, &facts.outline);
        self.keys[index] = outline.key;
        self.ids[index] = outline.id;
        self.created[index] = CompactTime::of(outline.created_at);
        self.since[index] = facts.since().map_or(CompactTime::NONE, CompactTime::of);
        self.states[index] = RowState::of(facts);
        self.uptimes[index] = facts.measured.uptime_ppm.unwrap_or(NO_UPTIME);
        let mut text = outline.name.to_lowercase();
        let is_lower = text == outline.name;
        let name = text.len();
        text.push('\n');
        let target = outline.target.as_deref().unwrap_or_default().to_lowercase();
        text.push_str(&target[..target.floor_char_boundary(TARGET_MAX_BYTES)]);
        let searched = text.len();
        if !is_lower {
            text.push_str(&outline.name);
        }
        let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        self.text_parts[index] = TextParts { name: short(name), searched: short(searched) };
        self.texts.set(row, text.as_bytes());
        let mut tags: Vec<u32> = facts.tags.iter().map(|tag| self.tag_names.number(*tag)).collect();
        tags.sort_unstable();
        self.tags.set(row, &tags);
        self.locations[index] = self.location_sets.number(outline);
        self.note_row(row);
    }

    /// Updates the sets of the filters in use after a row was written.
    fn note_row(&mut self, row: u32) {
        let (state, tags) = (self.states[row as usize], self.tags.get(row));
        self.filter_sets.note(row, |filter| passes(state, tags, filter));
    }

    /// Sorts rows from the oldest to the newest.
    pub(super) fn sort_by_age(&self, rows: &mut [u32]) {
        rows.sort_unstable_by_key(|row| self.age_key(*row));
    }

    fn insert_by_name(&mut self, row: u32) {
        let index = self.name_index(row);
        insert_tight(&mut self.by_name, index, row);
    }

    /// The index of a row among the rows by name, or the one where it belongs.
    fn name_index(&self, row: u32) -> usize {
        self.by_name.partition_point(|other| self.compare_names(*other, row) == Ordering::Less)
    }

    /// The index of a row among the rows by age, or the one where it belongs.
    fn age_index(&self, row: u32) -> usize {
        self.by_age.partition_point(|other| self.age_key(*other) < self.age_key(row))
    }

    /// Rows in the order of this value are those of `GET /v1/services`.
    fn age_key(&self, row: u32) -> (CompactTime, Id) {
        (self.created[row as usize], self.id(row))
    }

    /// Returns the rows that a filter finds.
    pub(super) fn rows_with(&self, filter: RowFilter) -> Arc<RowSet> {
        self.filter_sets.rows(filter, || {
            let mut rows = self.alive.clone();
            rows.retain(|row| passes(self.state(row), self.tags(row), filter));
            rows
        })
    }

    /// Returns the rows that one of these filters finds.
    pub(super) fn rows_with_any(&self, filters: impl Iterator<Item = RowFilter>) -> RowSet {
        let mut found = RowSet::default();
        filters.for_each(|filter| found.add_all(&self.rows_with(filter)));
        found
    }

    fn compare_names(&self, a: u32, b: u32) -> Ordering {
        self.name(a).cmp(self.name(b)).then_with(|| self.id(a).cmp(&self.id(b)))
    }
}

/// Returns true if a row with these facts passes a filter.
fn passes(state: RowState, tags: &[u32], filter: RowFilter) -> bool {
    match filter {
        RowFilter::Status(status) => state.status == status,
        RowFilter::CheckType(check_type) => state.check_type == check_type,
        RowFilter::Tag(number) => tags.contains(&number),
        RowFilter::Unanswered => !state.is_answered,
    }
}
