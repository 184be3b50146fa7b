//! A location follows its definitions: received services are checked from then on, deleted ones no longer.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use crate::agent::archive::DefinitionArchive;
use crate::agent::catalogue::{CheckedService, CheckedVersion, ServiceCatalogue};
use crate::bus::connection::BusConnection;
use crate::bus::definitions::{DefinitionChange, DefinitionEvent, DefinitionSubscription};
use crate::bus::messages::definition::{LocationDefinition, SealedDefinition};
use crate::bus::sealing::SealingKey;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::engine::definition::{PlannedChecks, WatchDefinition, compile_checks};
use crate::engine::registry::LocationRegistry;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::location::LocationCode;

/// Number of heartbeats of an idle delivery after which the delivery counts as complete.
const IDLE_HEARTBEATS: u32 = 2;
/// The wait before the engine is asked again.
const RETRY: Duration = Duration::from_secs(1);

/// Follows the definitions of one location. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct DefinitionFollower {
    pub(super) connection: BusConnection,
    pub(super) code: LocationCode,
    pub(super) key: SealingKey,
    pub(super) engine: Engine,
    /// The registry, which has this location only.
    pub(super) roster: Arc<LocationRegistry>,
    pub(super) catalogue: Arc<ServiceCatalogue>,
    pub(super) archive: DefinitionArchive,
    pub(super) clock: Clock,
    /// Number of definitions passed to the engine.
    pub(super) applied: Arc<AtomicI64>,
}

impl DefinitionFollower {
    /// Continues with the services checked before this start.
    pub(super) async fn resume(&self) {
        let stored = self.archive.read();
        if !stored.is_empty() {
            tracing::info!(services = stored.len(), "resuming checks of known services");
        }
        for entry in stored {
            let Some(definition) = self.open(entry.id, &entry.sealed) else { continue };
            if self.apply(definition).await {
                self.catalogue.put(entry);
            }
        }
    }

    /// Follows until the future is dropped.
    pub(super) async fn run(self) {
        loop {
            match DefinitionSubscription::listen(&self.connection, &self.code).await {
                Ok(mut following) => self.follow(&mut following).await,
                Err(error) => tracing::debug!(error, "cannot subscribe to service definitions; retrying"),
            }
            sleep(RETRY).await;
        }
    }

    async fn follow(&self, following: &mut DefinitionSubscription) {
        loop {
            let mut pass = match following.ask().await {
                Ok(count) => {
                    tracing::info!(services = count, "receiving service definitions");
                    DefinitionResync {
                        old: self.catalogue.ids().into_iter().collect(),
                        named: 0,
                        idle: 0,
                        is_over: count == 0,
                    }
                }
                Err(error) => {
                    tracing::debug!(error, "cannot request service definitions; retrying");
                    sleep(RETRY).await;
                    continue;
                }
            };
            if pass.is_over {
                self.end_pass(&mut pass).await;
            }
            loop {
                match following.next().await {
                    None => return,
                    Some(DefinitionEvent::Lost) => break,
                    Some(DefinitionEvent::Foreign) => {
                        tracing::debug!("message ignored: not a service definition");
                    }
                    Some(DefinitionEvent::Idle) => self.note_idle(&mut pass).await,
                    Some(DefinitionEvent::Change(change)) => self.apply_change(change, &mut pass).await,
                }
            }
        }
    }

    /// Counts a heartbeat, and ends the transmission after several without a definition: if a definition
    /// changed in transit, the number of pending definitions may have been wrong.
    async fn note_idle(&self, pass: &mut DefinitionResync) {
        pass.idle += 1;
        if !pass.is_over && pass.named > 0 && pass.idle >= IDLE_HEARTBEATS {
            pass.is_over = true;
            self.end_pass(pass).await;
        }
    }

    async fn apply_change(&self, change: DefinitionChange, pass: &mut DefinitionResync) {
        let DefinitionChange { service, revision, definition, pending, .. } = change;
        (pass.named, pass.idle) = (pass.named + 1, 0);
        pass.old.remove(&service);
        let opened =
            definition.as_ref().and_then(|sealed| Some((self.open(service, sealed)?, sealed.clone())));
        match opened {
            Some((definition, sealed)) => self.check(definition, sealed, revision).await,
            None => self.forget(service).await,
        }
        if pending == 0 && !pass.is_over {
            pass.is_over = true;
            self.end_pass(pass).await;
        }
    }

    /// Ends a complete transmission: services that it did not contain are no longer checked.
    async fn end_pass(&self, pass: &mut DefinitionResync) {
        for gone in pass.old.drain() {
            self.forget(gone).await;
        }
        self.catalogue.complete();
    }

    async fn check(&self, definition: LocationDefinition, sealed: Bytes, revision: u64) {
        let is_same = |known: &CheckedService| known.revision == revision && known.sealed == sealed;
        if self.catalogue.get(definition.service).as_ref().is_some_and(is_same) {
            return;
        }
        let since = CheckedVersion { at: self.clock.now(), version: definition.version };
        let (id, key) = (definition.service, definition.key);
        if self.apply(definition).await {
            self.catalogue.put(CheckedService { id, key, revision, sealed, versions: vec![since] });
        } else {
            self.forget(id).await;
        }
    }

    async fn forget(&self, service: Id) {
        let Some(gone) = self.catalogue.remove(service) else { return };
        if self.engine.retire(service, gone.key, self.applied.load(Ordering::Relaxed)).await.is_err() {
            tracing::warn!(%service, "cannot stop checking the service: the engine has stopped");
        }
    }

    fn open(&self, service: Id, sealed: &[u8]) -> Option<LocationDefinition> {
        let opened = SealedDefinition::read(sealed).and_then(|sealed| sealed.open(&self.key));
        match opened {
            Ok(definition) if definition.service == service => Some(definition),
            Ok(_) => {
                tracing::error!(%service, "definition ignored: it belongs to another service");
                None
            }
            Err(error) => {
                tracing::error!(%service, %error, "cannot open the sealed definition of the service");
                None
            }
        }
    }

    /// Checks the service by this definition from now on; returns false if that is not possible.
    async fn apply(&self, given: LocationDefinition) -> bool {
        let service = given.service;
        let Some(definition) = self.definition(given) else {
            tracing::error!(
                %service,
                "cannot check the service: unknown settings; upgrade this location if it is older than the nodes"
            );
            return false;
        };
        self.engine.apply(Arc::new(definition)).await.is_ok()
    }

    fn definition(&self, given: LocationDefinition) -> Option<WatchDefinition> {
        let check_type: CheckType = given.check_type.parse().ok()?;
        let planned = PlannedChecks {
            plan: given.rhythm.plan()?,
            locations: self.roster.all(),
            target: given.target,
            timeout_seconds: given.rhythm.timeout_seconds,
            config: given.config,
        };
        Some(WatchDefinition {
            key: given.key,
            id: given.service,
            organisation: 0,
            name: given.name.into(),
            check_type,
            // This number grows with every change, unlike the revision of the stored service, or that of a
            // bucket that was created again.
            revision: self.applied.fetch_add(1, Ordering::Relaxed) + 1,
            task: Some(compile_checks(check_type, planned).ok()?),
            heartbeat: None,
            is_paused: false,
            in_planned_maintenance: false,
            stated: None,
        })
    }
}

/// A complete transmission of all definitions.
struct DefinitionResync {
    /// Services that were checked before, and that this transmission has not contained yet.
    old: HashSet<Id>,
    /// Number of received definitions.
    named: u64,
    /// Number of heartbeats since the last definition.
    idle: u32,
    is_over: bool,
}
