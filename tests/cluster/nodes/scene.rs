//! A scene: nodes, a website, and a service for each of its pages, checked every second without a second attempt.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use watchkeeper::model::history::MeasuredStatus;

use crate::bus::history::History;
use crate::bus::node::Nodes;
use crate::bus::patience;
use crate::bus::rhythm::Rhythm;
use crate::bus::site::Site;
use crate::nodes::JOINED;
use crate::support::client::Client;
use crate::support::{create_watched, service};

/// The shortest interval of all, in milliseconds.
pub(super) const INTERVAL_MS: i64 = 1_000;

/// Services in one answer, at most.
const PAGE: usize = 100;
/// Until a status is known, or another one, by all nodes.
const KNOWN: Duration = Duration::from_secs(20);
/// Until everything that was measured is stored, at the latest, and as a rule.
const STORED: Duration = Duration::from_secs(30);
const USUALLY_STORED: Duration = Duration::from_secs(5);

/// A service and its page.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) id: String,
    pub(super) page: String,
}

/// Nodes that watch a website.
pub(super) struct Scene {
    pub(super) nodes: Nodes,
    pub(super) site: Site,
    pub(super) services: Vec<Watched>,
}

/// The settings of every service.
pub(super) fn settings() -> Value {
    json!({"interval_seconds": INTERVAL_MS / 1_000, "timeout_seconds": 5, "retries": 0})
}

impl Scene {
    /// Nodes that share the partitions evenly, and this number of services that are up; `None` without nats-server or
    /// PostgreSQL.
    pub(super) async fn start(nodes: usize, services: usize) -> Option<Self> {
        Some(Self::of(Nodes::start(nodes).await?, services).await)
    }

    /// The same with nodes that run already.
    pub(super) async fn of(nodes: Nodes, services: usize) -> Self {
        let mut scene = Self { nodes, site: Site::start(), services: Vec::new() };
        scene.nodes.until_even(&scene.everybody(), JOINED).await;
        for number in 0..services {
            scene.add(number % scene.nodes.count(), &format!("page-{number}"));
        }
        for node in scene.everybody() {
            scene.until_all(node, "up").await;
        }
        scene
    }

    /// Creates a service by way of this node.
    pub(super) fn add(&mut self, node: usize, page: &str) -> Watched {
        let id = create_watched(&self.nodes.client(node), &self.site.url(page), &settings());
        let watched = Watched { id, page: page.to_owned() };
        self.services.push(watched.clone());
        watched
    }

    /// The numbers of all nodes.
    pub(super) fn everybody(&self) -> Vec<usize> {
        (0..self.nodes.count()).collect()
    }

    /// The status of every service, by its id, as this node lists them; `None` while some of them have no owner that answers.
    pub(super) fn statuses(&self, node: usize) -> Option<BTreeMap<String, String>> {
        let client = self.nodes.client(node);
        let mut statuses = BTreeMap::new();
        for page in 1.. {
            let answer = client.get(&format!("/v1/services?per_page={PAGE}&page={page}"));
            if answer.status == 503 {
                return None;
            }
            let listed = answer.expect(200).data();
            let listed = listed.as_array().unwrap();
            statuses.extend(listed.iter().map(|service| {
                let text = |key: &str| service[key].as_str().unwrap().to_owned();
                (text("id"), text("status"))
            }));
            if listed.len() < PAGE {
                break;
            }
        }
        Some(statuses)
    }

    /// Waits until this node says that all services have this status.
    pub(super) async fn until_all(&self, node: usize, status: &str) {
        self.until_these(node, &self.services, status).await;
    }

    /// Waits until this node says that these services have this status.
    pub(super) async fn until_these(&self, node: usize, those: &[Watched], status: &str) {
        let begin = Instant::now();
        loop {
            let statuses = self.statuses(node);
            let differs = those.iter().filter_map(|one| {
                let statuses = statuses
                    .as_ref()
                    .map(|statuses| statuses.get(&one.id).map_or("unknown to it", String::as_str));
                let known = statuses.unwrap_or("not told");
                (known != status).then(|| format!("{} is {known}", one.page))
            });
            let differs: Vec<String> = differs.collect();
            if differs.is_empty() {
                return;
            }
            let waited = begin.elapsed();
            assert!(waited < patience(KNOWN), "not {status}, says node {node} after {waited:?}: {differs:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// The visits of a service's page in this time.
    pub(super) fn rhythm(&self, watched: &Watched, from_ms: i64, until_ms: i64) -> Rhythm {
        Rhythm::between(&self.site.visits(&watched.page), from_ms, until_ms)
    }

    /// Every page was visited at least once in any time this long; in the quick form the machine may be busy with other tests, and
    /// whether a due time was left out is for [`assert_no_due_time_is_missing`] to say.
    #[track_caller]
    pub(super) fn assert_no_gap_above(&self, longest_ms: i64, from_ms: i64, until_ms: i64) {
        let longest = patience(Duration::from_millis(longest_ms.unsigned_abs()));
        let longest_ms = i64::try_from(longest.as_millis()).unwrap();
        for watched in &self.services {
            let rhythm = self.rhythm(watched, from_ms, until_ms);
            let found = rhythm.longest_ms();
            assert!(
                found <= longest_ms,
                "{}: nobody came for {found} ms, of {}",
                watched.page,
                rhythm.as_told()
            );
        }
    }

    /// Waits until as much is stored as was measured. Of each page the checks count up to a moment between its last two
    /// visits, when none was under way. Up to `lost` of them may be lost where the test says why: then the wait is short.
    pub(super) async fn until_stored(&self, lost: usize) -> History {
        self.until_stored_by(lost, || History::read(&self.nodes.postgres)).await
    }

    /// The same by the results that the first node returns, some of which may be sealed by now.
    pub(super) async fn until_told(&self, lost: usize) -> History {
        let ids: Vec<String> = self.services.iter().map(|watched| watched.id.clone()).collect();
        self.until_stored_by(lost, || History::told(&self.nodes.postgres, &self.nodes.client(0), &ids)).await
    }

    async fn until_stored_by(&self, lost: usize, read: impl Fn() -> History) -> History {
        // The check that has just changed a status is then one of those that count.
        sleep(2 * Duration::from_millis(INTERVAL_MS.unsigned_abs())).await;
        let wanted = self.services.iter().map(|watched| self.wanted(watched)).collect();
        until_these_are_stored(wanted, lost, read).await
    }

    /// The same of all checks: every node is stopped, so none is under way. Where many are, no moment would do.
    pub(super) async fn stored_at_the_end(&mut self, lost: usize) -> History {
        for node in self.everybody() {
            self.nodes.server_mut(node).terminate().await;
        }
        let wanted = self.services.iter().map(|watched| Wanted {
            watched,
            until_ms: i64::MAX,
            visits: self.site.visits(&watched.page).len(),
        });
        until_these_are_stored(wanted.collect(), lost, || History::read(&self.nodes.postgres)).await
    }

    fn wanted<'s>(&self, watched: &'s Watched) -> Wanted<'s> {
        let visits = self.site.visits(&watched.page);
        let [.., before, last] = visits[..] else { panic!("{} was hardly visited", watched.page) };
        Wanted { watched, until_ms: i64::midpoint(before, last), visits: visits.len() - 1 }
    }
}

/// The checks of a service that are to be stored.
struct Wanted<'s> {
    watched: &'s Watched,
    until_ms: i64,
    visits: usize,
}

impl Wanted<'_> {
    /// Says what is stored, if that is neither as much nor up to `lost` less.
    fn differs(&self, history: &History, lost: usize) -> Option<String> {
        let checks = history.checks(&self.watched.id).iter();
        let stored = checks.filter(|check| check.checked_ms <= self.until_ms).count();
        let is_right = stored <= self.visits && stored + lost >= self.visits;
        (!is_right).then(|| format!("{}: {} visits, {stored} stored", self.watched.page, self.visits))
    }
}

async fn until_these_are_stored(wanted: Vec<Wanted<'_>>, lost: usize, read: impl Fn() -> History) -> History {
    let begin = Instant::now();
    loop {
        let history = read();
        assert_eq!(history.doubled, Vec::<String>::new(), "checks are stored more than once");
        let waited = begin.elapsed();
        let lost = if waited < USUALLY_STORED { 0 } else { lost };
        let differs: Vec<String> = wanted.iter().filter_map(|one| one.differs(&history, lost)).collect();
        if differs.is_empty() {
            return history;
        }
        assert!(waited < patience(STORED), "after {waited:?}: {differs:#?}");
        sleep(Duration::from_millis(200)).await;
    }
}

/// Every due time since the first check has its check.
#[track_caller]
pub(super) fn assert_no_due_time_is_missing(history: &History, watched: &Watched) {
    // The first check is at once, between two due times.
    let mut due: Vec<i64> = history.checks(&watched.id).iter().skip(1).map(|one| one.scheduled_ms).collect();
    due.sort_unstable();
    let holes: Vec<&[i64]> = due.windows(2).filter(|pair| pair[1] - pair[0] != INTERVAL_MS).collect();
    assert!(holes.is_empty(), "{}: no check between {holes:?}", watched.page);
}

/// No status was stored twice in a row, and the verdicts are up, then down and up again this number of times.
#[track_caller]
pub(super) fn assert_outages(history: &History, watched: &Watched, outages: usize) {
    let statuses = history.statuses(&watched.id);
    let is_repeated = statuses.windows(2).any(|pair| pair[0] == pair[1]);
    assert!(!is_repeated, "{}: a change is there twice: {statuses:?}", watched.page);
    let mut expected = vec![MeasuredStatus::Up];
    for _ in 0..outages {
        expected.extend([MeasuredStatus::Down, MeasuredStatus::Up]);
    }
    assert_eq!(history.verdicts(&watched.id), expected, "{}: {statuses:?}", watched.page);
    let not_up = history.checks(&watched.id).iter().filter(|check| !check.is_up).count();
    assert!((not_up > 0) == (outages > 0), "{}: {not_up} checks found it not up", watched.page);
}

/// The service as this client gets it.
pub(super) fn told(client: &Client, watched: &Watched) -> Value {
    client.get(&service(&watched.id)).expect(200).data()
}
