//! Groups that follow a tag (contract 4.14.4): children to create, delete and rename. Pure; the store applies the
//! changes.
//!
//! A group has one managed child per service with its tag. Children that members put into such a group are left
//! alone, with one exception: when a tag is set on the group, an existing child of a service with the tag becomes the
//! managed child of this service.

use std::collections::{HashMap, HashSet};

use crate::model::component::{Component, ComponentKey};
use crate::model::service::{NamedService, ServiceKey};
use crate::model::translated_text::TranslatedText;

/// A service and a tag that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaggedService {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Database key of the tag.
    pub tag: i64,
}

/// The input of a synchronisation: groups, services, and the present children of the groups.
#[derive(Clone, Copy, Debug)]
pub struct GroupSynchronisation<'a> {
    /// Groups to synchronise; a group without a tag keeps no managed child.
    pub groups: &'a [Component],
    /// Services that may need a child.
    pub services: &'a [NamedService],
    /// The tags that services carry.
    pub carried: &'a HashSet<TaggedService>,
    /// Present children of the groups. Unmanaged children are listed only for a group whose tag was just set, because
    /// they can become managed.
    pub children: &'a [Component],
    /// Code of the language under which the names of services are stored in components.
    pub locale: &'a str,
}

/// The changes that a synchronisation has to make.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SyncChanges {
    /// New children; their order is assigned when they are stored.
    pub added: Vec<Component>,
    /// Children that became managed, or were renamed.
    pub changed: Vec<Component>,
    /// Keys of managed children whose service does not have the tag.
    pub removed: Vec<ComponentKey>,
}

/// A group and a service in it.
type Place = (ComponentKey, ServiceKey);

impl GroupSynchronisation<'_> {
    /// Returns the changes after which every group shows the services of its tag.
    #[must_use]
    pub fn changes(&self) -> SyncChanges {
        let mut changes = SyncChanges::default();
        let mut present = self.keep_managed(&mut changes);
        self.adopt(&mut present, &mut changes);
        for group in self.groups {
            let Some(tag) = group.sync_tag else { continue };
            let missing = self.services.iter().filter(|service| {
                let carried = TaggedService { service: service.key, tag };
                self.carried.contains(&carried) && !present.contains(&(group.key, service.key))
            });
            changes.added.extend(missing.map(|service| self.child_of(group, service)));
        }
        changes
    }

    /// Keeps managed children whose service has the tag, renames them like the service, and removes the others. Returns
    /// the group and service of each child that stays.
    fn keep_managed(&self, changes: &mut SyncChanges) -> HashSet<Place> {
        let mut present = HashSet::new();
        let names = self.names();
        for child in self.children.iter().filter(|child| child.is_sync_managed) {
            let (Some(parent), Some(service)) = (child.parent, child.service) else { continue };
            if !self.follows(parent, service) {
                changes.removed.push(child.key);
                continue;
            }
            present.insert((parent, service));
            let followed = rename_child(child, names.get(&service));
            if followed != *child {
                changes.changed.push(followed);
            }
        }
        present
    }

    /// Makes the first unmanaged child of a service with the tag the managed one, if the service has none in the group.
    fn adopt(&self, present: &mut HashSet<Place>, changes: &mut SyncChanges) {
        let names = self.names();
        for child in self.children.iter().filter(|child| !child.is_sync_managed && !child.is_group) {
            let (Some(parent), Some(service)) = (child.parent, child.service) else { continue };
            if !self.follows(parent, service) || !present.insert((parent, service)) {
                continue;
            }
            let name = names.get(&service);
            let has_own_name = child.has_own_name && Some(&child.name) != name;
            let adopted = Component { is_sync_managed: true, has_own_name, ..child.clone() };
            changes.changed.push(rename_child(&adopted, name));
        }
    }

    /// Returns true if the group follows a tag that the service carries.
    fn follows(&self, group: ComponentKey, service: ServiceKey) -> bool {
        let group = self.groups.iter().find(|known| known.key == group);
        let tag = group.and_then(|group| group.sync_tag);
        tag.is_some_and(|tag| self.carried.contains(&TaggedService { service, tag }))
    }

    fn names(&self) -> HashMap<ServiceKey, TranslatedText> {
        let name = |service: &NamedService| TranslatedText::single(self.locale, service.name.as_str());
        self.services.iter().map(|service| (service.key, name(service))).collect()
    }

    fn child_of(&self, group: &Component, service: &NamedService) -> Component {
        let name = TranslatedText::single(self.locale, service.name.as_str());
        Component {
            parent: Some(group.key),
            service: Some(service.key),
            is_visible: group.sync_new_visible,
            show_uptime_bars: group.show_uptime_bars,
            is_sync_managed: true,
            ..Component::new(group.page, name, group.created_at)
        }
    }
}

/// The child with the name of its service, or unchanged if a client has named it or `name` is `None`.
fn rename_child(child: &Component, name: Option<&TranslatedText>) -> Component {
    let name = name.filter(|_| !child.has_own_name).unwrap_or(&child.name);
    Component { name: name.clone(), ..child.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::id::Id;

    const TAG: i64 = 7;

    fn text(name: &str) -> TranslatedText {
        TranslatedText::single("en", name)
    }

    fn group(sync_tag: Option<i64>) -> Component {
        let new = Component::new(1, text("Shops"), Timestamp::from_ms(0));
        Component { key: 10, is_group: true, sync_tag, ..new }
    }

    fn child(key: ComponentKey, service: ServiceKey, name: &str) -> Component {
        let new = Component::new(1, text(name), Timestamp::from_ms(0));
        Component { key, parent: Some(10), service: Some(service), ..new }
    }

    fn managed(key: ComponentKey, service: ServiceKey, name: &str) -> Component {
        Component { is_sync_managed: true, ..child(key, service, name) }
    }

    /// The changes for a group when the services 1 `One` and 2 `Two` have the tag.
    fn changes(group: &Component, children: &[Component]) -> SyncChanges {
        let named = |(key, name): (i64, &str)| NamedService { key, id: Id::random(), name: name.into() };
        let services = [(1, "One"), (2, "Two")].map(named);
        let carried = [1, 2].map(|service| TaggedService { service, tag: TAG }).into();
        let groups = std::slice::from_ref(group);
        GroupSynchronisation { groups, services: &services, carried: &carried, children, locale: "en" }
            .changes()
    }

    fn names(components: &[Component]) -> Vec<(ComponentKey, &str)> {
        components.iter().map(|child| (child.key, child.name.text("en", "en"))).collect()
    }

    #[test]
    fn services_without_a_child_get_one_and_children_without_the_tag_are_removed() {
        let found = changes(&group(Some(TAG)), &[managed(20, 1, "One"), managed(21, 3, "Three")]);
        assert_eq!((names(&found.added), found.removed), (vec![(0, "Two")], vec![21]));
        assert!(found.changed.is_empty());
        let found = changes(&group(None), &[managed(20, 1, "One")]);
        assert_eq!((found.added.len(), found.removed), (0, vec![20]));
    }

    #[test]
    fn a_child_follows_the_name_of_its_service_unless_it_was_named() {
        let named = Component { has_own_name: true, ..managed(21, 2, "Mine") };
        let found = changes(&group(Some(TAG)), &[managed(20, 1, "Old"), named]);
        assert_eq!(names(&found.changed), [(20, "One")]);
        assert!(found.added.is_empty() && found.removed.is_empty());
    }

    #[test]
    fn an_existing_child_of_the_service_becomes_managed() {
        let by_hand = Component { has_own_name: true, ..child(21, 2, "Mine") };
        let found = changes(&group(Some(TAG)), &[child(20, 1, "Old"), by_hand, child(22, 1, "Second")]);
        assert_eq!(names(&found.changed), [(20, "One"), (21, "Mine")]);
        assert!(found.changed.iter().all(|child| child.is_sync_managed));
        assert!(found.added.is_empty() && found.removed.is_empty());
        let beside = changes(&group(Some(TAG)), &[child(20, 1, "Old"), managed(21, 1, "One")]);
        assert!(beside.changed.is_empty(), "there is a managed one already");
    }

    #[test]
    fn an_adopted_child_with_the_name_of_its_service_follows_it() {
        let by_hand = Component { has_own_name: true, ..child(20, 1, "One") };
        let found = changes(&group(Some(TAG)), &[by_hand]);
        assert!(!found.changed[0].has_own_name);
    }
}
