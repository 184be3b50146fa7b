//! The obvious evaluation of a query, without columns: every filter looks at every service.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap};

use super::sample::{LOCATIONS, SampleFleet};
use crate::clock::Timestamp;
use crate::fleet_view::fleet_facts::{FleetFacts, IncidentPresence};
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::list_by_age::AgeListQuery;
use crate::fleet_view::query::{FilterCondition, FleetQuery, ServiceMark, SortField, TextPlace};
use crate::fleet_view::summary::{FleetFacets, FleetGroup, StatusTotals, TagCount, TypeCount};
use crate::fleet_view::tag_dictionary::FleetTag;
use crate::fleet_view::visible_tags::VisibleTags;
use crate::model::check::CheckType;
use crate::model::service::{ServiceKey, ServiceStatus};
use crate::model::service_outline::ServiceOutline;
use crate::model::tag::{Tag, TagName};

/// Services, and the obvious evaluation of queries.
pub(super) struct NaiveFleet<'a> {
    fleet: &'a SampleFleet,
    by_key: HashMap<ServiceKey, &'a FleetFacts>,
}

impl<'a> NaiveFleet<'a> {
    pub(super) fn of(fleet: &'a SampleFleet) -> Self {
        let by_key = fleet.services.iter().map(|service| (service.outline.key, service)).collect();
        Self { fleet, by_key }
    }

    fn tags(&self, service: &FleetFacts) -> Vec<&'a Tag> {
        service.tags.iter().map(|row| &self.fleet.tags[row]).collect()
    }

    /// The services that the query finds, in order.
    pub(super) fn search(
        &self,
        query: &FleetQuery,
        visible: &VisibleTags,
        now: Timestamp,
    ) -> Vec<ServiceKey> {
        let is_visible = |service: &FleetFacts| {
            visible.tags().is_none_or(|tags| service.tags.iter().any(|tag| tags.contains(tag)))
        };
        let passes = |service: &FleetFacts| {
            let mut filters = query.filters.iter();
            filters.all(|filter| {
                let is_known = !matches!(filter.condition, FilterCondition::Unknown(_));
                is_known && self.meets(service, &filter.condition, now) != filter.is_negated
            })
        };
        let services = self.fleet.services.iter();
        let mut found: Vec<&FleetFacts> =
            services.filter(|service| is_visible(service) && passes(service)).collect();
        found.sort_by(|a, b| compare(a, b, query));
        found.iter().map(|service| service.outline.key).collect()
    }

    /// The services of a list by age, in order.
    pub(super) fn list(&self, query: &AgeListQuery, visible: &VisibleTags) -> Vec<ServiceKey> {
        let has_text = |outline: &ServiceOutline, text: &String| {
            let is_in = |whole: &str| whole.to_lowercase().contains(text.as_str());
            is_in(&outline.name) || outline.target.as_deref().is_some_and(is_in)
        };
        let passes = |service: &&FleetFacts| {
            let FleetFacts { outline, tags, .. } = service;
            let is_tagged = |name: &TagName| self.tags(service).iter().any(|tag| tag.name == *name);
            let is_visible = visible.tags().is_none_or(|seen| tags.iter().any(|tag| seen.contains(tag)));
            let has_type = query.check_types.is_empty() || query.check_types.contains(&outline.check_type);
            let has_status = query.statuses.is_empty() || query.statuses.contains(&service.status());
            let has_tag = query.tag.as_ref().is_none_or(is_tagged);
            let has_text = query.text.as_ref().is_none_or(|text| has_text(outline, text));
            is_visible && has_type && has_status && has_tag && has_text
        };
        let mut found: Vec<&FleetFacts> = self.fleet.services.iter().filter(passes).collect();
        found.sort_by_key(|service| (service.outline.created_at, service.outline.id));
        found.iter().map(|service| service.outline.key).collect()
    }

    fn meets(&self, service: &FleetFacts, condition: &FilterCondition, now: Timestamp) -> bool {
        let outline = &service.outline;
        let age = service.since().map(|since| now.ms_since(since));
        match condition {
            FilterCondition::Status(wanted) => match service.status() {
                ServiceStatus::Operational => {
                    wanted.contains(&ServiceStatus::Operational) || wanted.contains(&ServiceStatus::Up)
                }
                status => wanted.contains(&status),
            },
            FilterCondition::Tag(names) => self.tags(service).iter().any(|tag| names.contains(&tag.name)),
            FilterCondition::CheckType(types) => types.contains(&outline.check_type),
            FilterCondition::Location(codes) => {
                let settings = outline.settings.as_ref().filter(|_| outline.check_type.is_probed());
                settings.is_some_and(|settings| match &settings.assigned_probes {
                    Some(assigned) => assigned.iter().any(|code| codes.contains(code)),
                    None => LOCATIONS.iter().any(|code| codes.iter().any(|wanted| wanted == code)),
                })
            }
            FilterCondition::Mark(marks) => marks.iter().any(|mark| match mark {
                ServiceMark::Flapping => service.measured.is_flapping,
                ServiceMark::Paused => outline.pause.is_some(),
                ServiceMark::Maintenance | ServiceMark::Silenced => service.maintenance_since.is_some(),
                ServiceMark::Acknowledged => service.incident == IncidentPresence::Acknowledged,
                ServiceMark::Unwatched => false,
            }),
            FilterCondition::OpenIncident => service.incident != IncidentPresence::Absent,
            FilterCondition::LongerThan(ms) => age.is_some_and(|age| age > *ms),
            FilterCondition::ShorterThan(ms) => age.is_some_and(|age| age < *ms),
            FilterCondition::UptimeAbove(ppm) => service.measured.uptime_ppm.is_some_and(|one| one > *ppm),
            FilterCondition::UptimeBelow(ppm) => service.measured.uptime_ppm.is_some_and(|one| one < *ppm),
            FilterCondition::Unknown(_) => false,
            FilterCondition::Text(search) => {
                let is_in = |text: &str| text.to_lowercase().contains(&search.text.to_lowercase());
                let in_name = is_in(&outline.name);
                let in_target = outline.target.as_deref().is_some_and(is_in);
                match search.place {
                    TextPlace::Anywhere => in_name || in_target,
                    TextPlace::Name => in_name,
                    TextPlace::Target => in_target,
                }
            }
        }
    }

    pub(super) fn facets(&self, found: &[ServiceKey]) -> FleetFacets {
        let services: Vec<&FleetFacts> = found.iter().map(|key| self.by_key[key]).collect();
        let mut statuses = StatusTotals::default();
        let mut tags: BTreeMap<i64, usize> = BTreeMap::new();
        for service in &services {
            statuses.0[service.status() as usize] += 1;
            service.tags.iter().for_each(|tag| *tags.entry(*tag).or_default() += 1);
        }
        let count = |check_type| services.iter().filter(|one| one.outline.check_type == check_type).count();
        let types = CheckType::ALL.map(|check_type| TypeCount { check_type, services: count(check_type) });
        let tags = tags.into_iter().map(|(tag, services)| TagCount { tag: self.shown(tag), services });
        let mut tags: Vec<TagCount> = tags.collect();
        tags.sort_by_key(|count| (Reverse(count.services), count.tag.label.clone()));
        let check_types = types.into_iter().filter(|count| count.services > 0).collect();
        FleetFacets { statuses, check_types, tags }
    }

    pub(super) fn groups(&self, found: &[ServiceKey], key: &str) -> Vec<FleetGroup> {
        let mut groups: BTreeMap<Option<String>, StatusTotals> = BTreeMap::new();
        for service in found.iter().map(|key| self.by_key[key]) {
            let tags = self.tags(service).into_iter().filter(|tag| tag.name.key() == key);
            let values = tags.map(|tag| Some(tag.name.value().unwrap_or_default().to_owned()));
            let mut values: Vec<Option<String>> = values.collect();
            if values.is_empty() {
                values.push(None);
            }
            for value in values {
                groups.entry(value).or_default().0[service.status() as usize] += 1;
            }
        }
        let bad = [ServiceStatus::Down, ServiceStatus::Degraded, ServiceStatus::Unknown];
        let mut groups: Vec<FleetGroup> =
            groups.into_iter().map(|(value, statuses)| FleetGroup { value, statuses }).collect();
        groups.sort_by_key(|group| {
            let counts = bad.map(|status| Reverse(group.statuses.of(status)));
            (counts, group.value.is_none(), group.value.clone())
        });
        groups
    }

    pub(super) fn row(&self, key: ServiceKey) -> FleetRow {
        let service = self.by_key[&key];
        let mut tags: Vec<FleetTag> = service.tags.iter().map(|tag| self.shown(*tag)).collect();
        tags.sort_by_key(|tag| tag.label.clone());
        FleetRow {
            key,
            id: service.outline.id,
            name: service.outline.name.clone(),
            check_type: service.outline.check_type,
            status: service.status(),
            since: service.since(),
            uptime_ppm: service.measured.uptime_ppm,
            is_paused: service.outline.pause.is_some(),
            in_maintenance: service.maintenance_since.is_some(),
            is_flapping: service.measured.is_flapping,
            incident: service.incident,
            is_answered: service.measured.is_answered,
            owner_away_since: None,
            tags,
        }
    }

    fn shown(&self, tag: i64) -> FleetTag {
        let tag = &self.fleet.tags[&tag];
        FleetTag { label: tag.name.label().into(), color: tag.color.as_str().into() }
    }
}

fn compare(a: &FleetFacts, b: &FleetFacts, query: &FleetQuery) -> Ordering {
    let name = |service: &FleetFacts| (service.outline.name.to_lowercase(), service.outline.id);
    let turned = |order: Ordering| if query.sort.is_descending { order.reverse() } else { order };
    let by_name = name(a).cmp(&name(b));
    match query.sort.field {
        SortField::Status => turned(rank(a).cmp(&rank(b))).then(by_name),
        SortField::Name => turned(by_name),
        SortField::Since => {
            let known = a.since().is_none().cmp(&b.since().is_none());
            known.then(turned(b.since().cmp(&a.since()))).then(a.outline.id.cmp(&b.outline.id))
        }
    }
}

fn rank(service: &FleetFacts) -> usize {
    let order = [
        ServiceStatus::Down,
        ServiceStatus::Degraded,
        ServiceStatus::Unknown,
        ServiceStatus::Maintenance,
        ServiceStatus::Up,
        ServiceStatus::Paused,
    ];
    let status = match service.status() {
        ServiceStatus::Operational => ServiceStatus::Up,
        status => status,
    };
    order.iter().position(|one| *one == status).unwrap()
}
