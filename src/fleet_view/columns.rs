//! The services of an organisation as columns: what a query asks for lies together, and costs few bytes a service.
//!
//! A service has the same row number as long as it exists. Two orders of the rows are kept up to date, by database key and by
//! name, so a service is found, and a page of the list is cut, without sorting.

use std::cmp::Ordering;

use crate::clock::Timestamp;
use crate::fleet_view::fleet_facts::{FleetFacts, IncidentPresence, MeasuredState};
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::location_sets::LocationSets;
use crate::fleet_view::packed_lists::{PackedLists, insert_tight, narrow, push_tight};
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::row_state::RowState;
use crate::fleet_view::tag_dictionary::{FleetTag, TagDictionary};
use crate::id::Id;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::tag::Tag;
use crate::model::verdict::Verdict;

/// Maximum number of bytes of a target that are searched.
const TARGET_MAX_BYTES: usize = 8_192;
/// Stands for an unknown time.
const NO_TIME: i64 = i64::MIN;
/// Stands for an unknown uptime.
const NO_UPTIME: u32 = u32::MAX;

/// The services of an organisation.
#[derive(Clone, Debug)]
pub(super) struct FleetColumns {
    alive: RowSet,
    keys: Vec<ServiceKey>,
    ids: Vec<Id>,
    since: Vec<i64>,
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
    /// Rows of deleted services, for new ones.
    free: Vec<u32>,
    tag_names: TagDictionary,
    location_sets: LocationSets,
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
            uptimes: Vec::new(),
            states: Vec::new(),
            texts: PackedLists::default(),
            text_parts: Vec::new(),
            tags: PackedLists::default(),
            locations: Vec::new(),
            revisions: Vec::new(),
            by_key: Vec::new(),
            by_name: Vec::new(),
            free: Vec::new(),
            tag_names: TagDictionary::default(),
            location_sets: LocationSets::new(locations),
        }
    }

    /// Adds a service that is not among them yet, without its place in the orders. [`Self::finish`] must follow.
    pub(super) fn append(&mut self, facts: &FleetFacts) {
        let row = self.new_row(facts);
        push_tight(&mut self.by_key, row);
        push_tight(&mut self.by_name, row);
    }

    /// Sorts the rows after services were appended.
    pub(super) fn finish(&mut self) {
        let (mut by_key, mut by_name) = (std::mem::take(&mut self.by_key), std::mem::take(&mut self.by_name));
        by_key.sort_unstable_by_key(|row| self.key(*row));
        by_name.sort_unstable_by(|a, b| self.compare_names(*a, *b));
        (self.by_key, self.by_name) = (by_key, by_name);
        self.texts.shrink();
        self.tags.shrink();
    }

    /// Adds or replaces a service; returns true if that changes its row, or what is searched.
    pub(super) fn put(&mut self, facts: &FleetFacts) -> bool {
        if let Some(row) = self.row_of(facts.outline.key) {
            let before = (self.shown(row), self.searched(row).to_vec(), self.location(row));
            self.by_name.remove(self.name_index(row));
            self.write(row, facts);
            self.insert_by_name(row);
            return before != (self.shown(row), self.searched(row).to_vec(), self.location(row));
        }
        let row = self.new_row(facts);
        let index = self.by_key.partition_point(|other| self.key(*other) < facts.outline.key);
        insert_tight(&mut self.by_key, index, row);
        self.insert_by_name(row);
        true
    }

    /// Removes a service; returns false if there is no such service.
    pub(super) fn remove(&mut self, key: ServiceKey) -> bool {
        let Ok(index) = self.by_key.binary_search_by_key(&key, |row| self.key(*row)) else { return false };
        let row = self.by_key[index];
        self.by_name.remove(self.name_index(row));
        self.by_key.remove(index);
        self.alive.remove(row);
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
        if state.is_measured() {
            let known = if measured.verdict == state.verdict { since } else { NO_TIME };
            self.since[index] = measured.since.map_or(known, Timestamp::ms);
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
            push_tight(&mut self.since, NO_TIME);
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
        self.since[index] = facts.since().map_or(NO_TIME, Timestamp::ms);
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
    }

    fn insert_by_name(&mut self, row: u32) {
        let index = self.name_index(row);
        insert_tight(&mut self.by_name, index, row);
    }

    /// The index of a row among the rows by name, or the one where it belongs.
    fn name_index(&self, row: u32) -> usize {
        self.by_name.partition_point(|other| self.compare_names(*other, row) == Ordering::Less)
    }

    fn compare_names(&self, a: u32, b: u32) -> Ordering {
        self.name(a).cmp(self.name(b)).then_with(|| self.id(a).cmp(&self.id(b)))
    }
}

/// Reading.
impl FleetColumns {
    /// The rows of all services.
    pub(super) const fn alive(&self) -> &RowSet {
        &self.alive
    }

    /// The number of services.
    pub(super) const fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The row of a service.
    pub(super) fn row_of(&self, key: ServiceKey) -> Option<u32> {
        let index = self.by_key.binary_search_by_key(&key, |row| self.key(*row)).ok()?;
        Some(self.by_key[index])
    }

    /// The services in these partitions.
    pub(super) fn in_partitions(&self, partitions: PartitionSet) -> Vec<ServiceKey> {
        let keys = self.by_key.iter().map(|row| self.key(*row));
        keys.filter(|key| partitions.contains(Partition::of(*key))).collect()
    }

    /// All services, in the order of their keys.
    pub(super) fn service_keys(&self) -> impl Iterator<Item = ServiceKey> {
        self.by_key.iter().map(|row| self.key(*row))
    }

    /// The next services behind this one, in the order of their keys.
    pub(super) fn keys_behind(&self, key: ServiceKey, limit: usize) -> Vec<ServiceKey> {
        let first = self.by_key.partition_point(|row| self.key(*row) <= key);
        self.by_key[first..].iter().take(limit).map(|row| self.key(*row)).collect()
    }

    /// The address of a service.
    pub(super) fn address(&self, key: ServiceKey) -> Option<ServiceAddress> {
        self.row_of(key).map(|row| ServiceAddress { id: self.id(row), key })
    }

    /// The database key of a row.
    pub(super) fn key(&self, row: u32) -> ServiceKey {
        self.keys[row as usize]
    }

    /// The id of a row.
    pub(super) fn id(&self, row: u32) -> Id {
        self.ids[row as usize]
    }

    /// The small facts of a row.
    pub(super) fn state(&self, row: u32) -> RowState {
        self.states[row as usize]
    }

    /// The verdict about a service.
    pub(super) fn verdict(&self, key: ServiceKey) -> Option<Verdict> {
        self.row_of(key).map(|row| self.state(row).verdict)
    }

    /// The time since which a row has its status.
    pub(super) fn since(&self, row: u32) -> Option<Timestamp> {
        Some(self.since[row as usize]).filter(|ms| *ms != NO_TIME).map(Timestamp::from_ms)
    }

    /// The uptime of a row over 30 days, in millionths.
    pub(super) fn uptime_ppm(&self, row: u32) -> Option<u32> {
        Some(self.uptimes[row as usize]).filter(|uptime| *uptime != NO_UPTIME)
    }

    /// The name of a row in lower case.
    pub(super) fn name(&self, row: u32) -> &[u8] {
        &self.texts.get(row)[..usize::from(self.text_parts[row as usize].name)]
    }

    /// The target of a row in lower case.
    pub(super) fn target(&self, row: u32) -> &[u8] {
        &self.searched(row)[usize::from(self.text_parts[row as usize].name) + 1..]
    }

    /// Name and target of a row in lower case, with a line feed between them.
    pub(super) fn searched(&self, row: u32) -> &[u8] {
        &self.texts.get(row)[..usize::from(self.text_parts[row as usize].searched)]
    }

    /// The numbers of the tags of a row.
    pub(super) fn tags(&self, row: u32) -> &[u32] {
        self.tags.get(row)
    }

    /// The number of the list of locations of a row.
    pub(super) fn location(&self, row: u32) -> u32 {
        self.locations[row as usize]
    }

    /// The names of tags.
    pub(super) const fn tag_names(&self) -> &TagDictionary {
        &self.tag_names
    }

    /// The lists of locations.
    pub(super) const fn location_sets(&self) -> &LocationSets {
        &self.location_sets
    }

    /// All rows, by name and id.
    pub(super) fn by_name(&self) -> &[u32] {
        &self.by_name
    }

    /// The row of a service, as lists show it.
    pub(super) fn shown(&self, row: u32) -> FleetRow {
        let state = self.state(row);
        let written = &self.texts.get(row)[usize::from(self.text_parts[row as usize].searched)..];
        let name = if written.is_empty() { self.name(row) } else { written };
        let tags = self.tags(row).iter().filter_map(|tag| self.tag_names.shown(*tag));
        let mut tags: Vec<FleetTag> = tags.cloned().collect();
        tags.sort_by(|a, b| a.label.cmp(&b.label));
        FleetRow {
            key: self.key(row),
            id: self.id(row),
            name: String::from_utf8_lossy(name).into_owned(),
            check_type: state.check_type,
            status: state.status,
            since: self.since(row),
            uptime_ppm: self.uptime_ppm(row),
            is_paused: state.is_paused,
            in_maintenance: state.in_maintenance,
            is_flapping: state.is_flapping,
            incident: state.incident,
            is_answered: state.is_answered,
            owner_away_since: None,
            tags,
        }
    }

    /// The bytes that the services occupy, without the names of tags and locations.
    pub(super) fn bytes(&self) -> usize {
        let numbers =
            [&self.uptimes, &self.locations, &self.revisions, &self.by_key, &self.by_name, &self.free];
        self.alive.bytes()
            + self.texts.bytes()
            + self.tags.bytes()
            + self.keys.capacity() * size_of::<ServiceKey>()
            + self.ids.capacity() * size_of::<Id>()
            + self.since.capacity() * size_of::<i64>()
            + self.states.capacity() * size_of::<RowState>()
            + self.text_parts.capacity() * size_of::<TextParts>()
            + numbers.iter().map(|column| column.capacity() * size_of::<u32>()).sum::<usize>()
    }
}
