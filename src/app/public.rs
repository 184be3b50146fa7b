//! Sets up the public side: status pages by host, and the checks of their custom domains.

use std::net::TcpListener;
use std::sync::Arc;

use crate::config::Config;
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::server::{Visitors, WebServer, serve};
use crate::http::v1::state::AppState;
use crate::model::domain_names::DomainNames;
use crate::pages::host_cache::HostCache;
use crate::pages::{PageCaches, PageServer};
use crate::timetable::domains::DomainWatch;

/// Opens the server: status pages on their hosts, the API on all others.
pub(super) fn open(state: AppState, listeners: Vec<TcpListener>) -> anyhow::Result<WebServer> {
    let (visitors, listening) = (visitors(&state), state.engine.listening());
    let server = serve(state, listeners, &visitors)?;
    listening.open();
    Ok(server)
}

/// Returns the handler of requests to the hosts of status pages.
fn visitors(parts: &AppState) -> Visitors {
    let pages = PageServer {
        databases: parts.databases.clone(),
        router: parts.router.clone(),
        clock: parts.clock.clone(),
        names: Arc::clone(&parts.domain_names),
        hosts: HostCache::new(parts.router.host_changes.clone()),
        config: Arc::clone(&parts.config),
        cache: PageCaches::default(),
    };
    Arc::new(move |request, host| pages.receive(request, host))
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
