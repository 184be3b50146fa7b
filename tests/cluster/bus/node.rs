//! Several engine nodes: processes with data folders of their own, on one bus, one PostgreSQL and one secret key.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::bus::history::NAMES;
use crate::bus::{Bus, metric, patience};
use crate::support::client::Client;
use crate::support::databases::URLS;
use crate::support::eventually;
use crate::support::postgres::Postgres;
use crate::support::server::{OTHER_BINARY, Server};

/// Partitions that there are.
pub(crate) const PARTITIONS: u64 = 64;

/// Lines of each node's log that a failing test shows.
const SHOWN_LINES: usize = 80;

/// The nodes, by number. They end before the servers they need.
pub(crate) struct Nodes {
    servers: Vec<Server>,
    settings: Vec<(&'static str, String)>,
    pub(crate) postgres: Postgres,
    pub(crate) bus: Bus,
}

impl Nodes {
    /// So many nodes, at most three, which have shared the partitions; `None` without nats-server or PostgreSQL.
    pub(crate) async fn start(count: usize) -> Option<Self> {
        Self::start_with(count, &[]).await
    }

    /// The same with these settings.
    pub(crate) async fn start_with(count: usize, settings: &[(&'static str, &str)]) -> Option<Self> {
        let bus = Bus::start().await?;
        let postgres = Postgres::start()?;
        let orders = NAMES.map(|name| format!("CREATE DATABASE {name}"));
        postgres.answer("postgres", &orders.each_ref().map(String::as_str));
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let mut nodes = Self { servers: Vec::new(), settings, postgres, bus };
        for _ in 0..count {
            nodes.join();
        }
        Some(nodes)
    }

    /// From the next start on this node runs the program that was built with the tests, whatever it ran before.
    pub(crate) fn upgrade(&mut self, node: usize) {
        self.servers[node].unset(OTHER_BINARY);
    }

    /// Further settings for nodes that join later; they take precedence over the earlier ones.
    pub(crate) fn add_settings(&mut self, settings: Vec<(&'static str, String)>) {
        self.settings.extend(settings);
    }

    /// Other settings for nodes that join later.
    pub(crate) fn forget_settings(&mut self) {
        self.settings.clear();
    }

    /// Starts the next node; returns when it answers.
    pub(crate) fn join(&mut self) {
        self.join_by(self.postgres.port());
    }

    /// The same for a node that reaches PostgreSQL by this port.
    pub(crate) fn join_by(&mut self, port: u16) {
        let mut settings = self.bus.node_settings(self.servers.len()).to_vec();
        let url = |name| {
            self.postgres.url_of(name).replace(&format!(":{}/", self.postgres.port()), &format!(":{port}/"))
        };
        settings.extend(URLS.into_iter().zip(NAMES.map(url)));
        settings.push(("WATCHKEEPER_SECRET_KEY", "5e".repeat(32)));
        // Nothing is sealed while a test runs, so that every result is a row.
        settings.push(("WATCHKEEPER_COMPACTION__RESULT_SETTLE_MS", "3600000".into()));
        settings.extend(self.settings.iter().cloned());
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let server = match self.servers.first() {
            None => Server::embedded("", &settings),
            Some(first) => Server::joining(first.client().token.as_deref().unwrap(), &settings),
        };
        self.servers.push(server);
    }

    pub(crate) fn count(&self) -> usize {
        self.servers.len()
    }

    pub(crate) fn server(&self, number: usize) -> &Server {
        &self.servers[number]
    }

    pub(crate) fn server_mut(&mut self, number: usize) -> &mut Server {
        &mut self.servers[number]
    }

    pub(crate) fn client(&self, number: usize) -> Client {
        self.servers[number].client()
    }

    /// The numbers of all nodes but this one.
    pub(crate) fn others(&self, number: usize) -> Vec<usize> {
        (0..self.servers.len()).filter(|other| *other != number).collect()
    }

    /// One of a node's numbers, by its name without `watchkeeper_`.
    pub(crate) fn number(&self, node: usize, name: &str) -> u64 {
        metric(&self.servers[node], &format!("watchkeeper_{name}"))
    }

    /// Facts that a node was refused because their partitions had another owner meanwhile.
    pub(crate) fn fenced(&self, node: usize) -> u64 {
        let of = |kind| self.number(node, &format!("fenced_total{{kind=\"{kind}\"}}"));
        of("results") + of("changes")
    }

    /// Waits until one of them leads, and gives its number: it alone says so.
    pub(crate) async fn until_led(&self) -> usize {
        let organisation = self.server(0).organisation("business");
        let token = self.server(0).member(&organisation, "engine.view").token;
        let leads = |number: &usize| {
            let operator = Client { token: token.clone(), ..self.client(*number) };
            operator.get("/v1/engine").expect(200).data()["ownership"]["leads"] == true
        };
        eventually("a node leads", || (0..self.count()).find(leads)).await
    }

    /// Waits until these nodes own all partitions.
    pub(crate) async fn until_owned(&self, those: &[usize], limit: Duration) -> Duration {
        self.until_shares("all partitions are owned", those, limit, |_| true).await
    }

    /// Waits until these nodes own all partitions in even shares.
    pub(crate) async fn until_even(&self, those: &[usize], limit: Duration) -> Duration {
        let is_even = |owned: &[u64]| {
            owned.iter().max().zip(owned.iter().min()).is_some_and(|(most, least)| most - least <= 1)
        };
        self.until_shares("all partitions are shared evenly", those, limit, is_even).await
    }

    /// Waits until these nodes own all partitions in these shares, and never more than all.
    async fn until_shares(
        &self,
        what: &str,
        those: &[usize],
        limit: Duration,
        is_wanted: impl Fn(&[u64]) -> bool,
    ) -> Duration {
        let begin = Instant::now();
        loop {
            // One node is asked after the other. What both reads agree on was true at one moment between them.
            let owned = self.owned(those);
            let is_one_moment = self.owned(those) == owned;
            let sum: u64 = owned.iter().sum();
            assert!(
                sum <= PARTITIONS || !is_one_moment,
                "a partition has two owners: {those:?} own {owned:?}"
            );
            if is_one_moment && sum == PARTITIONS && is_wanted(&owned) {
                return begin.elapsed();
            }
            assert!(
                begin.elapsed() < patience(limit),
                "{what}: not within {limit:?}; {those:?} own {owned:?}"
            );
            sleep(Duration::from_millis(20)).await;
        }
    }

    fn owned(&self, those: &[usize]) -> Vec<u64> {
        those.iter().map(|node| self.number(*node, "partitions_owned")).collect()
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for (number, server) in self.servers.iter().enumerate() {
            let log = server.log();
            let lines: Vec<&str> = log.lines().collect();
            let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
            eprintln!("--- what node {number} said at last\n{}", shown.join("\n"));
        }
    }
}
