//! Status pages of a server that does not run: shown from the databases alone, as they were when it was last alive.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app::Foundation;
use crate::app::public::{AccessParts, domain_names, page_access};
use crate::app::{locations, notify};
use crate::clock::{Clock, Timestamp};
use crate::model::partition::PartitionSet;
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::host_cache::HostCache;
use crate::pages::live::LivePages;
use crate::pages::page_server::{PageCaches, PageServer};
use crate::pages::state_source::{RecordedStates, StateSource};
use crate::service_router::host_changes::HostChanges;
use crate::store::history::{changes, recent};
use crate::store::{clock_mark, probe_locations};

/// Longest wait for a part of the history.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pages as the databases have them.
pub struct StoredPages {
    /// Renders the pages. Its clock stands at the time when the server was last alive.
    pub server: PageServer,
    /// Start of the last measurement, which is the time of all states.
    pub measured_until: Timestamp,
}

/// Reads the last states of all services.
///
/// # Errors
/// When a database fails.
pub async fn open(foundation: &Foundation) -> anyhow::Result<StoredPages> {
    let Foundation { config, clock, databases, sealer } = foundation;
    databases.prepare_history().await?;
    let history = databases.history.clone().with_long_timeout();
    let (reader, now) = (history.reader(), clock.now());
    let measured = recent::last_fresh(reader).await?;
    let mark = clock_mark::find(databases.main.reader()).await?.map(|mark| mark.newest);
    let alive_until = measured.max(mark).unwrap_or(now).min(now);
    let measured_until = measured.unwrap_or(alive_until).min(now);
    let last = changes::latest_of(reader, PartitionSet::ALL).await?;
    let changes = last.into_iter().map(|change| (change.service, change)).collect();
    let clock = Clock::fixed(alive_until);
    let config = Arc::new(config.clone());
    let carrier = notify::carrier(foundation)?;
    let access = page_access(AccessParts { databases, carrier, sealer, config: &config, clock: &clock });
    let states = RecordedStates {
        databases: databases.clone(),
        locations: Arc::new(location_names(foundation).await?),
        changes: Arc::new(changes),
        measured_until,
    };
    let server = PageServer {
        databases: databases.clone(),
        states: StateSource::Recorded(Box::new(states)),
        names: Arc::new(domain_names(&config)),
        hosts: HostCache::new(HostChanges::default()),
        config,
        sealer: sealer.clone(),
        cache: PageCaches::for_export(PATIENCE),
        live: LivePages::new(0),
        drawing: HeavyTasks::default(),
        access,
        clock,
    };
    Ok(StoredPages { server, measured_until })
}

/// Returns the display names of all locations in use, by code.
async fn location_names(foundation: &Foundation) -> anyhow::Result<HashMap<String, String>> {
    let local = locations::roster(&foundation.config)?;
    let local = local.all().into_iter().map(|known| known.location.clone()).collect::<Vec<_>>();
    let remote = probe_locations::list(foundation.databases.main.reader()).await?;
    let remote = remote.into_iter().filter(|stored| stored.is_enabled).map(|stored| stored.location);
    Ok(local.into_iter().chain(remote).map(|location| (location.code.to_string(), location.name)).collect())
}
