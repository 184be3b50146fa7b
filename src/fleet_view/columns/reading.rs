//! Reading the columns.

use crate::clock::Timestamp;
use crate::fleet_view::columns::compact_time::CompactTime;
use crate::fleet_view::columns::{FleetColumns, NO_UPTIME, TextParts};
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::location_sets::LocationSets;
use crate::fleet_view::row_set::RowSet;
use crate::fleet_view::row_state::RowState;
use crate::fleet_view::tag_dictionary::{FleetTag, TagDictionary};
use crate::id::Id;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::{ServiceAddress, ServiceKey};
use crate::model::verdict::Verdict;

impl FleetColumns {
    /// The rows of all services.
    pub(in crate::fleet_view) const fn alive(&self) -> &RowSet {
        &self.alive
    }

    /// The number of services.
    pub(in crate::fleet_view) const fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The row of a service.
    pub(in crate::fleet_view) fn row_of(&self, key: ServiceKey) -> Option<u32> {
        let index = self.by_key.binary_search_by_key(&key, |row| self.key(*row)).ok()?;
        Some(self.by_key[index])
    }

    /// The services in these partitions.
    pub(in crate::fleet_view) fn in_partitions(&self, partitions: PartitionSet) -> Vec<ServiceKey> {
        let keys = self.by_key.iter().map(|row| self.key(*row));
        keys.filter(|key| partitions.contains(Partition::of(*key))).collect()
    }

    /// All services, in the order of their keys.
    pub(in crate::fleet_view) fn service_keys(&self) -> impl Iterator<Item = ServiceKey> {
        self.by_key.iter().map(|row| self.key(*row))
    }

    /// The next services behind this one, in the order of their keys.
    pub(in crate::fleet_view) fn keys_behind(&self, key: ServiceKey, limit: usize) -> Vec<ServiceKey> {
        let first = self.by_key.partition_point(|row| self.key(*row) <= key);
        self.by_key[first..].iter().take(limit).map(|row| self.key(*row)).collect()
    }

    /// The address of a service.
    pub(in crate::fleet_view) fn address(&self, key: ServiceKey) -> Option<ServiceAddress> {
        self.row_of(key).map(|row| ServiceAddress { id: self.id(row), key })
    }

    /// The database key of a row.
    pub(in crate::fleet_view) fn key(&self, row: u32) -> ServiceKey {
        self.keys[row as usize]
    }

    /// The id of a row.
    pub(in crate::fleet_view) fn id(&self, row: u32) -> Id {
        self.ids[row as usize]
    }

    /// The small facts of a row.
    pub(in crate::fleet_view) fn state(&self, row: u32) -> RowState {
        self.states[row as usize]
    }

    /// The verdict about a service.
    pub(in crate::fleet_view) fn verdict(&self, key: ServiceKey) -> Option<Verdict> {
        self.row_of(key).map(|row| self.state(row).verdict)
    }

    /// The time since which a row has its status.
    pub(in crate::fleet_view) fn since(&self, row: u32) -> Option<Timestamp> {
        self.since[row as usize].time()
    }

    /// The uptime of a row over 30 days, in millionths.
    pub(in crate::fleet_view) fn uptime_ppm(&self, row: u32) -> Option<u32> {
        Some(self.uptimes[row as usize]).filter(|uptime| *uptime != NO_UPTIME)
    }

    /// The name of a row in lower case.
    pub(in crate::fleet_view) fn name(&self, row: u32) -> &[u8] {
        &self.texts.get(row)[..usize::from(self.text_parts[row as usize].name)]
    }

    /// The target of a row in lower case.
    pub(in crate::fleet_view) fn target(&self, row: u32) -> &[u8] {
        &self.searched(row)[usize::from(self.text_parts[row as usize].name) + 1..]
    }

    /// Name and target of a row in lower case, with a line feed between them.
    pub(in crate::fleet_view) fn searched(&self, row: u32) -> &[u8] {
        &self.texts.get(row)[..usize::from(self.text_parts[row as usize].searched)]
    }

    /// The numbers of the tags of a row.
    pub(in crate::fleet_view) fn tags(&self, row: u32) -> &[u32] {
        self.tags.get(row)
    }

    /// The number of the list of locations of a row.
    pub(in crate::fleet_view) fn location(&self, row: u32) -> u32 {
        self.locations[row as usize]
    }

    /// The names of tags.
    pub(in crate::fleet_view) const fn tag_names(&self) -> &TagDictionary {
        &self.tag_names
    }

    /// The lists of locations.
    pub(in crate::fleet_view) const fn location_sets(&self) -> &LocationSets {
        &self.location_sets
    }

    /// All rows, by name and id.
    pub(in crate::fleet_view) fn by_name(&self) -> &[u32] {
        &self.by_name
    }

    /// All rows, by creation time and id.
    pub(in crate::fleet_view) fn by_age(&self) -> &[u32] {
        &self.by_age
    }

    /// The row of a service, as lists show it.
    pub(in crate::fleet_view) fn shown(&self, row: u32) -> FleetRow {
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
    pub(in crate::fleet_view) fn bytes(&self) -> usize {
        let orders = [&self.by_key, &self.by_name, &self.by_age];
        let numbers = [&self.uptimes, &self.locations, &self.revisions, &self.free].into_iter().chain(orders);
        self.alive.bytes()
            + self.filter_sets.bytes()
            + self.texts.bytes()
            + self.tags.bytes()
            + self.keys.capacity() * size_of::<ServiceKey>()
            + self.ids.capacity() * size_of::<Id>()
            + (self.since.capacity() + self.created.capacity()) * size_of::<CompactTime>()
            + self.states.capacity() * size_of::<RowState>()
            + self.text_parts.capacity() * size_of::<TextParts>()
            + numbers.map(|column| column.capacity() * size_of::<u32>()).sum::<usize>()
    }
}
