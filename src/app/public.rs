//! Sets up the public side: status pages by host, and the checks of their custom domains.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::config::Config;
use crate::config::listen_address::ListenAddress;
use crate::console::ConsoleServer;
use crate::http::console_entry::ConsoleEntry;
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::listeners::{ServerSockets, listen_on};
use crate::http::server::{Visitors, WebServer, serve};
use crate::http::v1::state::AppState;
use crate::model::domain_names::DomainNames;
use crate::model::secret::SecretSealer;
use crate::notify::carrier::MessageSender;
use crate::pages::access::page_access::{AccessAttempts, PageAccess};
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::host_cache::HostCache;
use crate::pages::live::LivePages;
use crate::pages::page_server::{PageCaches, PageServer};
use crate::pages::state_source::StateSource;
use crate::store::Databases;
use crate::subscribers::access_mailer::AccessMailer;
use crate::supervise::ActorKind;
use crate::timetable::domains::DomainWatch;

const LIVE_PAGES: ActorKind = ActorKind::restarting("live_pages");
const LIVE_CONSOLE: ActorKind = ActorKind::restarting("live_console");

/// Opens the sockets; the returned settings contain the actual port.
pub(super) fn listen(config: Config) -> anyhow::Result<(ServerSockets, Config)> {
    let optional =
        |address: Option<ListenAddress>| address.map(listen_on).transpose().map(Option::unwrap_or_default);
    let (https, http) = (optional(config.acme.https_listen)?, optional(config.acme.http_listen)?);
    let sockets = ServerSockets { plain: listen_on(config.listen)?, https, http };
    let port = sockets.plain.first().context("there is no listener")?.local_addr()?.port();
    Ok((sockets, Config { listen: config.listen.with_port(port), ..config }))
}

/// The server, and the tasks that follow open status pages and screens of the console.
pub(super) struct PublicSide {
    server: WebServer,
    live: LivePages,
    console: ConsoleServer,
    following: [JoinHandle<()>; 2],
}

impl PublicSide {
    /// Opens the server: status pages on their hosts, the API and the console on all others.
    pub(super) fn open(state: AppState, sockets: ServerSockets) -> anyhow::Result<Self> {
        let (pages, listening) = (page_server(&state), state.engine.listening());
        let (live, supervisor) = (pages.live.clone(), state.supervisor.clone());
        let shown = pages.clone();
        let visitors: Visitors =
            Arc::new(move |request, from, body| shown.receive(request, &from.host, from.client, body));
        let fleets = Arc::clone(&state.fleets);
        let console = ConsoleServer::new(fleets, pages.clone(), state.config.rate_limit_per_minute);
        let (asked, followed) = (console.clone(), console.clone());
        let entry: ConsoleEntry = Arc::new(move |request| asked.receive(request));
        let server = serve(state, sockets, &visitors, entry)?;
        let pages = supervisor.spawn(LIVE_PAGES, move || {
            let pages = pages.clone();
            async move { pages.follow().await }
        });
        let screens = supervisor.spawn(LIVE_CONSOLE, move || {
            let console = followed.clone();
            async move { console.follow().await }
        });
        listening.open();
        Ok(Self { server, live, console, following: [pages, screens] })
    }

    /// Ends the streams of open pages, and waits for the requests under way.
    pub(super) async fn stop(&self) {
        self.live.close();
        self.console.close();
        self.following.iter().for_each(JoinHandle::abort);
        self.server.stop().await;
    }
}

fn page_server(parts: &AppState) -> PageServer {
    PageServer {
        databases: parts.databases.clone(),
        states: StateSource::Owners(Box::new(parts.router.clone())),
        clock: parts.clock.clone(),
        names: Arc::clone(&parts.domain_names),
        hosts: HostCache::new(parts.router.host_changes.clone()),
        config: Arc::clone(&parts.config),
        sealer: parts.compiler.sealer.clone(),
        cache: PageCaches::default(),
        live: LivePages::new(parts.config.events.page_listeners),
        drawing: HeavyTasks::default(),
        access: page_access(AccessParts {
            databases: &parts.databases,
            carrier: parts.carrier.clone(),
            sealer: &parts.compiler.sealer,
            config: &parts.config,
            clock: &parts.clock,
        }),
    }
}

/// The parts that decide who may read a page.
pub(super) struct AccessParts<'a> {
    pub(super) databases: &'a Databases,
    pub(super) carrier: MessageSender,
    pub(super) sealer: &'a SecretSealer,
    pub(super) config: &'a Arc<Config>,
    pub(super) clock: &'a Clock,
}

pub(super) fn page_access(parts: AccessParts<'_>) -> PageAccess {
    let AccessParts { databases, carrier, sealer, config, clock } = parts;
    PageAccess {
        sealer: sealer.clone(),
        clock: clock.clone(),
        attempts: AccessAttempts::default(),
        hashing: HeavyTasks::default(),
        databases: databases.clone(),
        mailer: AccessMailer::new(
            databases.clone(),
            carrier,
            sealer.clone(),
            Arc::clone(config),
            clock.clone(),
        ),
    }
}

/// Returns the watch that checks custom domains.
pub(super) fn domain_watch(parts: &AppState) -> DomainWatch {
    DomainWatch {
        databases: parts.databases.clone(),
        guard: Arc::clone(&parts.guard),
        names: Arc::clone(&parts.domain_names),
        toolbox: Arc::clone(&parts.toolbox),
        ownership: parts.router.ownership.clone(),
        host_changes: parts.router.host_changes.clone(),
    }
}

pub(super) fn limiter(config: &Config) -> Arc<RateLimiter> {
    Arc::new(RateLimiter::new(config.rate_limit_per_minute, config.limits.http.rate_limit_addresses))
}

/// Returns the host names of this installation.
pub(super) fn domain_names(config: &Config) -> DomainNames {
    DomainNames {
        pages: config.statuspage_host_name(),
        edge: config.edge_host(),
        api: config.api_hosts(),
        txt_label: config.compat.domain_txt_label.clone(),
    }
}
