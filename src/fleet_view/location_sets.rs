//! The locations that check services. Many services have the same ones, so each different list is stored once.

use std::collections::HashMap;

use crate::fleet_view::packed_lists::narrow;
use crate::model::service_outline::ServiceOutline;

/// The lists of locations; a service has the number of its list.
#[derive(Clone, Debug)]
pub(super) struct LocationSets {
    lists: Vec<LocationList>,
    numbers: HashMap<LocationList, u32>,
    /// Codes of the locations that check services without an assignment.
    all: Vec<String>,
}

/// The locations that check a service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LocationList {
    /// None: the service is not checked by locations.
    Nowhere,
    /// All locations.
    Everywhere,
    /// Those with these codes.
    Assigned(Vec<String>),
}

impl LocationList {
    fn of(service: &ServiceOutline) -> Self {
        match &service.settings {
            Some(settings) if service.check_type.is_probed() => {
                settings.assigned_probes.clone().map_or(Self::Everywhere, Self::Assigned)
            }
            _ => Self::Nowhere,
        }
    }
}

impl LocationSets {
    /// Creates an empty collection, for these locations.
    pub(super) fn new(all: Vec<String>) -> Self {
        Self { lists: Vec::new(), numbers: HashMap::new(), all }
    }

    /// The number of the list of a service.
    pub(super) fn number(&mut self, service: &ServiceOutline) -> u32 {
        let list = LocationList::of(service);
        if let Some(number) = self.numbers.get(&list) {
            return *number;
        }
        let number = narrow(self.lists.len());
        self.lists.push(list.clone());
        self.numbers.insert(list, number);
        number
    }

    /// Takes the present locations.
    pub(super) fn set_all(&mut self, all: Vec<String>) {
        self.all = all;
    }

    /// For each number, whether its list contains one of these codes.
    pub(super) fn containing(&self, codes: &[String]) -> Vec<bool> {
        let is_wanted = |code: &String| codes.iter().any(|wanted| wanted.eq_ignore_ascii_case(code));
        let contains = |list: &LocationList| match list {
            LocationList::Nowhere => false,
            LocationList::Everywhere => self.all.iter().any(is_wanted),
            LocationList::Assigned(assigned) => assigned.iter().any(is_wanted),
        };
        self.lists.iter().map(contains).collect()
    }
}
