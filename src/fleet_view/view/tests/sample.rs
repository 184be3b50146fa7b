//! Services for tests, the same ones in every run.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::fleet_view::fleet_facts::{FleetFacts, IncidentPresence, MeasuredState};
use crate::fleet_view::list_by_age::AgeListQuery;
use crate::fleet_view::view::FleetView;
use crate::fleet_view::visible_tags::VisibleTags;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{OverrideStatus, PauseReason, ServicePause, ServiceStatus, StatusOverride};
use crate::model::service_outline::{ServiceOutline, SettingsOutline};
use crate::model::tag::{Tag, TagName, TagSource};
use crate::model::verdict::Verdict;

/// Codes of the locations.
pub(super) const LOCATIONS: [&str; 3] = ["fra", "nyc", "sin"];

/// An answer that says nothing.
const ANSWERED: MeasuredState = MeasuredState {
    verdict: Verdict::Unknown,
    is_flapping: false,
    since: None,
    uptime_ppm: None,
    is_answered: true,
};

const FILTERS: [&str; 25] = [
    "uptime<99.5",
    "uptime>99.9",
    "status:down",
    "status:up",
    "status:degraded,unknown,paused",
    "tag:env:prod",
    "tag:env,team:pay",
    "tag:none",
    "type:http,dns",
    "type:manual",
    "in:fra",
    "in:nyc,xxx",
    "name~checkout",
    "target~EXAMPLE.com",
    "shop",
    "straSSE",
    "straße",
    "health/77",
    "since>10m",
    "since<30m",
    "is:paused",
    "is:maintenance,flapping",
    "is:acknowledged",
    "is:unwatched",
    "has:incident",
];
const ORDERS: [&str; 7] = ["", "", "sort:name", "sort:-name", "sort:since", "sort:-since", "sort:-status"];

/// Services and their tags.
pub(super) struct SampleFleet {
    pub(super) services: Vec<FleetFacts>,
    pub(super) tags: BTreeMap<i64, Tag>,
}

/// Numbers that look random (xorshift).
pub(super) struct SampleNumbers(u64);

fn tags(labels: &[&str]) -> BTreeMap<i64, Tag> {
    let tag = |(label, row): (&&str, i64)| {
        let name: TagName = label.parse().unwrap();
        let (source, created_at) = (TagSource::User, Timestamp::from_ms(0));
        let color = format!("#0000{row:02x}");
        (row, Tag { row, id: Id::tag(), organisation: 1, name, color, source, created_at })
    };
    labels.iter().zip(1..).map(tag).collect()
}

fn settings(assigned_probes: Option<Vec<String>>) -> SettingsOutline {
    SettingsOutline {
        interval_seconds: 60,
        timeout_seconds: 10,
        retries: 0,
        assigned_probes,
        recovery_checks: 1,
    }
}

/// A view of these services.
pub(super) fn sample_view(fleet: &SampleFleet) -> FleetView {
    let tags: Vec<Tag> = fleet.tags.values().cloned().collect();
    let locations = LOCATIONS.map(str::to_owned).into();
    FleetView::of_services(fleet.services.iter().cloned(), &tags, locations, Timestamp::from_ms(0))
}

/// Services with the names `service-a` to `service-h`, each a case of its own.
pub(super) fn lettered_fleet(now: Timestamp) -> SampleFleet {
    let ago = |minutes: i64| Some(now.plus_ms(-60_000 * minutes));
    let service = |letter: char, verdict: Verdict, since: Option<Timestamp>, tags: &[i64]| {
        let is_c = letter == 'c';
        let measured = MeasuredState { verdict, since, is_flapping: is_c, ..ANSWERED };
        let outline = ServiceOutline {
            key: i64::from(u32::from(letter)),
            id: format!("{letter:a<21}").parse().unwrap(),
            organisation: 1,
            name: format!("service-{letter}"),
            check_type: if is_c { CheckType::Tcp } else { CheckType::Http },
            target: Some(format!("https://{letter}.example")),
            settings: Some(settings(is_c.then(|| vec!["nyc".to_owned()]))),
            pause: None,
            status_override: None,
            // The last letter is the oldest.
            created_at: Timestamp::from_ms(1_000 - i64::from(u32::from(letter))),
        };
        let (maintenance_since, incident) = (None, IncidentPresence::Absent);
        FleetFacts { outline, tags: tags.to_vec(), maintenance_since, incident, measured }
    };
    let mut services = vec![
        service('a', Verdict::Up, None, &[1]),
        service('b', Verdict::Down, ago(2), &[1, 3]),
        service('c', Verdict::Degraded, ago(3), &[1]),
        service('d', Verdict::Unknown, ago(10), &[2]),
        service('e', Verdict::Up, None, &[4]),
        service('f', Verdict::Unknown, None, &[]),
        service('g', Verdict::Unknown, ago(1), &[]),
        service('h', Verdict::Down, ago(1), &[]),
    ];
    services[0].measured.uptime_ppm = Some(1_000_000);
    services[1].measured.uptime_ppm = Some(999_000);
    services[1].incident = IncidentPresence::Open;
    services[2].incident = IncidentPresence::Acknowledged;
    let manual = &mut services[5].outline;
    (manual.check_type, manual.target, manual.settings) = (CheckType::Manual, None, None);
    services[6].outline.pause = Some(ServicePause { reason: PauseReason::Manual, at: ago(20).unwrap() });
    services[7].maintenance_since = ago(30);
    SampleFleet { services, tags: tags(&["env:prod", "env", "team:shop", "test"]) }
}

/// Services of all kinds.
pub(super) fn sample_fleet(numbers: &mut SampleNumbers, count: usize) -> SampleFleet {
    let labels =
        ["env:prod", "env:test", "env", "team:shop", "team:pay", "team:\u{e4}rger", "tier:1", "canary"];
    let services = (1..=i64::try_from(count).unwrap()).map(|key| numbers.service(key)).collect();
    SampleFleet { services, tags: tags(&labels) }
}

impl SampleNumbers {
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn is_one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn time(&mut self) -> Timestamp {
        super::NOW.plus_ms(-60_000 * i64::try_from(self.below(60)).unwrap())
    }

    fn service(&mut self, key: i64) -> FleetFacts {
        let incidents = [IncidentPresence::Open, IncidentPresence::Acknowledged];
        FleetFacts {
            outline: self.outline(key),
            tags: (1..=8).filter(|_| self.is_one_in(3)).collect(),
            maintenance_since: self.is_one_in(20).then(|| self.time()),
            incident: if self.is_one_in(10) { self.one_of(&incidents) } else { IncidentPresence::Absent },
            measured: self.measured(),
        }
    }

    fn outline(&mut self, key: i64) -> ServiceOutline {
        let check_type = self.one_of(&CheckType::ALL);
        let first = self.one_of(&["Shop", "pay", "Straße", "API", "\u{130}stanbul", "search"]);
        let second = self.one_of(&["checkout", "Login", "Backup", "feed"]);
        let host = self.one_of(&["example.com", "Example.ORG", "intern.example.net"]);
        let assigned = self.is_one_in(4).then(|| vec![self.one_of(&LOCATIONS).to_owned()]);
        let pause = ServicePause { reason: PauseReason::Manual, at: self.time() };
        let stated = StatusOverride {
            status: self.one_of(&OverrideStatus::ALL),
            reason: String::new(),
            at: self.time(),
            by: String::new(),
        };
        let is_manual = check_type == CheckType::Manual;
        ServiceOutline {
            key,
            id: self.id(),
            organisation: 1,
            name: format!("{first} {second} {:04}", self.below(2_000)),
            check_type,
            target: (!is_manual).then(|| format!("https://{second}.{host}/health/{key}")),
            settings: (!is_manual).then(|| settings(assigned)),
            pause: self.is_one_in(20).then_some(pause),
            status_override: self.is_one_in(20).then_some(stated),
            // Some services were created at the same time.
            created_at: Timestamp::from_ms(i64::try_from(self.below(5_000)).unwrap()),
        }
    }

    fn measured(&mut self) -> MeasuredState {
        MeasuredState {
            verdict: self.one_of(&Verdict::ALL),
            is_flapping: self.is_one_in(10),
            since: (!self.is_one_in(5)).then(|| self.time()),
            uptime_ppm: (!self.is_one_in(5))
                .then(|| 990_000 + 1_000 * u32::try_from(self.below(11)).unwrap()),
            is_answered: !self.is_one_in(10),
        }
    }

    fn id(&mut self) -> Id {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
        let text: String = (0..21).map(|_| char::from(self.one_of(letters))).collect();
        text.parse().unwrap()
    }

    /// A part of the services that a caller may see: mostly all.
    pub(super) fn visible(&mut self) -> VisibleTags {
        if self.is_one_in(3) { VisibleTags::of(vec![1, 8, 99]) } else { VisibleTags::ALL }
    }

    /// A query of a list by age.
    pub(super) fn age_query(&mut self) -> AgeListQuery {
        let texts = ["shop", "stra\u{df}e", "health/77", "e", "in\nhttps", "nothing"];
        let (statuses, types) = (self.below(3), self.below(3));
        AgeListQuery {
            tag: self.is_one_in(3).then(|| self.one_of(&["env:prod", "env", "none"]).parse().unwrap()),
            check_types: (0..types).map(|_| self.one_of(&CheckType::ALL)).collect(),
            statuses: (0..statuses).map(|_| self.one_of(&ServiceStatus::ALL)).collect(),
            text: self.is_one_in(2).then(|| self.one_of(&texts).to_owned()),
        }
    }

    /// A query with up to three filters.
    pub(super) fn query(&mut self) -> String {
        let mut words: Vec<String> = Vec::new();
        for _ in 0..self.below(4) {
            let sign = if self.is_one_in(4) { "-" } else { "" };
            words.push(format!("{sign}{}", self.one_of(&FILTERS)));
        }
        words.push(self.one_of(&ORDERS).to_owned());
        words.join(" ")
    }

    /// Changes, adds and removes some services, in the view as well.
    pub(super) fn change_some(&mut self, fleet: &mut SampleFleet, view: &FleetView) {
        for _ in 0..5 {
            let index = self.below(fleet.services.len());
            let key = fleet.services[index].outline.key;
            match self.below(4) {
                0 => {
                    fleet.services.remove(index);
                    assert!(view.change(|contents| contents.columns.remove(key)));
                    assert!(!view.change(|contents| contents.columns.remove(key)));
                }
                1 => {
                    let next = fleet.services.iter().map(|service| service.outline.key.abs()).max();
                    let next = next.unwrap_or_default() + 1;
                    // A service with a lower key may become visible later.
                    let added = self.service(if next % 3 == 0 { -next } else { next });
                    view.change(|contents| contents.columns.put(&added));
                    fleet.services.push(added);
                }
                2 => {
                    let mut changed = self.service(key);
                    let ServiceOutline { id, created_at, .. } = fleet.services[index].outline;
                    (changed.outline.id, changed.outline.created_at) = (id, created_at);
                    view.change(|contents| contents.columns.put(&changed));
                    fleet.services[index] = changed;
                }
                _ => {
                    // With the time of the edge, the row is as if it were read again.
                    let measured = MeasuredState { since: Some(self.time()), ..self.measured() };
                    view.change(|contents| contents.columns.set_measured(key, measured));
                    fleet.services[index].measured = measured;
                }
            }
        }
    }
}
