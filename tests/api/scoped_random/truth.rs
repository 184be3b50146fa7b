//! Resources of two organisations, read by an unscoped client, and the part that an access scope shows: the rule of
//! docs/access-scopes.md, implemented independently of the server.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::client::Client;

/// Something that a scope shows or does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thing {
    pub(super) kind: &'static str,
    pub(super) id: String,
    /// Unique name of the resource.
    pub(super) words: Vec<String>,
    /// True if it belongs to the organisation of the scopes.
    pub(super) is_own: bool,
    /// Services that it is about.
    services: Vec<String>,
    /// Tags that it carries or consists of.
    tags: Vec<String>,
    /// The page of a component.
    pub(super) page: Option<String>,
    /// The group of a component.
    parent: Option<String>,
}

/// The ids of what a scope shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(BTreeSet<String>);

impl Seen {
    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// Both together.
    pub(super) fn with(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }
}

/// Everything there is.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) things: Vec<Thing>,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|row| text(&row["id"])).collect()
}

fn rows(client: &Client, path: &str) -> Vec<Value> {
    let list = client.get(&format!("{path}?per_page=100")).expect(200).json();
    assert!(list["meta"]["total"].as_u64().unwrap() <= 100, "{path} outgrows a page");
    list["data"].as_array().unwrap().clone()
}

impl Truth {
    /// Reads what both organisations have; the first is that of the scopes.
    pub(super) fn read(admins: &[Client; 2]) -> Self {
        let mut things = Vec::new();
        for (client, is_own) in admins.iter().zip([true, false]) {
            for (kind, path) in [
                ("service", "/v1/services"),
                ("tag", "/v1/tags"),
                ("incident", "/v1/incidents"),
                ("maintenance", "/v1/maintenances"),
                ("page", "/v1/statuspages"),
                ("scope", "/v1/access-scopes"),
            ] {
                things.extend(rows(client, path).iter().map(|row| Thing::of(kind, row, is_own)));
            }
            let pages: Vec<String> = things
                .iter()
                .filter(|thing| thing.kind == "page" && thing.is_own == is_own)
                .map(|thing| thing.id.clone())
                .collect();
            for page in pages {
                for row in rows(client, &format!("/v1/statuspages/{page}/components")) {
                    let page = Some(page.clone());
                    things.push(Thing { page, ..Thing::of("component", &row, is_own) });
                }
            }
        }
        Self { things }
    }

    /// The ids of a kind, of the organisation of the scopes or of the other one.
    pub(super) fn ids(&self, kind: &str, is_own: bool) -> Vec<String> {
        let same = self.things.iter().filter(|thing| thing.kind == kind && thing.is_own == is_own);
        same.map(|thing| thing.id.clone()).collect()
    }

    /// Resources that a scope shows.
    pub(super) fn seen(&self, scope: &str) -> Seen {
        let own = || self.things.iter().filter(|thing| thing.is_own);
        let scope = own().find(|thing| thing.id == scope).unwrap();
        let mut seen: BTreeSet<String> = scope.tags.iter().cloned().chain([scope.id.clone()]).collect();
        let services: Vec<&Thing> = own()
            .filter(|thing| thing.kind == "service" && thing.tags.iter().any(|tag| scope.tags.contains(tag)))
            .collect();
        for service in &services {
            seen.insert(service.id.clone());
            seen.extend(service.tags.iter().cloned());
        }
        let about = own()
            .filter(|thing| thing.services.iter().any(|id| services.iter().any(|service| service.id == *id)));
        let groups: BTreeMap<&String, &String> =
            own().filter_map(|thing| Some((&thing.id, thing.parent.as_ref()?))).collect();
        for thing in about {
            seen.insert(thing.id.clone());
            seen.extend(thing.page.clone());
            let mut above = groups.get(&thing.id);
            while let Some(group) = above {
                seen.insert((*group).clone());
                above = groups.get(group);
            }
        }
        Seen(seen)
    }

    /// Unseen resources still exist unchanged, and so do unseen links of seen resources.
    pub(super) fn check_untouched(&self, after: &Self, seen: &Seen, about: &str) {
        for before in &self.things {
            let now = after.things.iter().find(|thing| thing.id == before.id);
            if !seen.contains(&before.id) {
                assert_eq!(now, Some(before), "{about}");
            }
            for service in before.services.iter().filter(|service| !seen.contains(service)) {
                let is_kept = now.is_some_and(|now| now.services.contains(service));
                assert!(is_kept, "{about}: {before:?} has lost {service}");
            }
        }
    }

    fn count(&self, seen: &Seen, is_counted: impl Fn(&Thing) -> bool) -> usize {
        self.things.iter().filter(|thing| seen.contains(&thing.id) && is_counted(thing)).count()
    }

    /// The total of the list at this address, if it has one.
    pub(super) fn total(&self, target: &str, seen: &Seen) -> Option<usize> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let of_kind = |kind: &'static str| move |thing: &Thing| thing.kind == kind;
        let asked: Vec<&str> = path.trim_start_matches("/v1/").split('/').collect();
        let kind = match asked.as_slice() {
            ["services"] | ["services", _] => "service",
            ["tags"] => "tag",
            ["incidents"] | ["services", _, "incidents"] => "incident",
            ["maintenances"] | ["services", _, "maintenances"] => "maintenance",
            ["statuspages"] => "page",
            ["statuspages", page, "components"] => {
                return query.starts_with("per_page").then(|| self.components_on(page, seen));
            }
            _ => return None,
        };
        let about = match asked.as_slice() {
            ["services", _] => return None,
            ["services", service, _] => Some(*service),
            _ => None,
        };
        let filter = query.strip_prefix("service_ids=").filter(|ids| !ids.contains(','));
        if !(query.is_empty() || query.starts_with("per_page=") || filter.is_some()) {
            return None;
        }
        if filter.is_some() && !matches!(kind, "incident" | "maintenance") {
            return None;
        }
        let is_about = |thing: &Thing, service: Option<&str>| {
            service.is_none_or(|id| seen.contains(id) && thing.services.iter().any(|other| other == id))
        };
        let is_kind = of_kind(kind);
        Some(self.count(seen, |thing| is_kind(thing) && is_about(thing, about) && is_about(thing, filter)))
    }

    /// Services that carry a tag.
    pub(super) fn carrying(&self, tag: &str, seen: &Seen) -> usize {
        self.count(seen, |thing| thing.kind == "service" && thing.tags.iter().any(|other| other == tag))
    }

    /// Components on a page, groups included.
    pub(super) fn components_on(&self, page: &str, seen: &Seen) -> usize {
        self.count(seen, |thing| thing.kind == "component" && thing.page.as_deref() == Some(page))
    }
}

impl Thing {
    fn of(kind: &'static str, row: &Value, is_own: bool) -> Self {
        // A tag is called by its value, a component that follows a tag like its service.
        let is_named = row["is_sync_managed"] != true;
        let words = [&row["name"], &row["title"], &row["value"]].into_iter().filter(|_| is_named);
        let mut services = ids(&row["services"]);
        services.extend(text(&row["service"]["id"]));
        Self {
            kind,
            id: text(&row["id"]).unwrap(),
            words: words.filter_map(text).collect(),
            is_own,
            services,
            tags: ids(&row["tags"]),
            page: None,
            parent: text(&row["parent_id"]),
        }
    }
}
