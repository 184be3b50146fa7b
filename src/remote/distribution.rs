//! Distribution of definitions: each location receives only its own definitions, sealed to its key.
//!
//! The stored services are compared with the bucket, and only differences are written. Marks name the services
//! to compare ([`ChangeQueue`]); after a failure they are put back, so that missed changes are distributed
//! later.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::bus::connection::BusConnection;
use crate::bus::definition_bucket::{self, BucketChange, BucketDefinition, BucketEntry, DefinitionKey};
use crate::bus::messages::definition::{LocationDefinition, LocationSchedule, SealedDefinition};
use crate::bus::sealing::SealingKey;
use crate::bus::streams;
use crate::clock::Clock;
use crate::config::limits::BusLimits;
use crate::engine::definition::{DefinitionCompiler, PlannedChecks};
use crate::engine::registry::RegisteredLocation;
use crate::model::location::LocationCode;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::{Service, ServiceKey};
use crate::remote::assignments::{AssignmentRegistry, RemoteAssignment};
use crate::remote::counters::RemoteCounters;
use crate::remote::location_sync::RecipientKeys;
use crate::service_router::change_queue::{ChangeQueue, ChangedServices};
use crate::service_router::ownership::Ownership;
use crate::store::services::definitions::{self, OwnedService};
use crate::store::{Databases, MainError};

/// Services compared at a time.
const PAGE: u64 = 500;
/// The wait after a failure.
const RETRY: Duration = Duration::from_secs(1);
/// Purpose for which digests of definitions are signed.
const PURPOSE: &str = "definition of a location";

/// Distributes definitions to locations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DefinitionDistributor {
    /// Connection to the bus.
    pub connection: BusConnection,
    /// The databases; the main one has the services.
    pub databases: Databases,
    /// Plans the checks of each location.
    pub compiler: DefinitionCompiler,
    /// Marks of services to compare.
    pub changes: ChangeQueue,
    /// The partitions of this node, which distributes the definitions of their services.
    pub ownership: Ownership,
    /// The current assignments of locations.
    pub assignments: Arc<AssignmentRegistry>,
    /// The public keys of the locations.
    pub recipients: Arc<RecipientKeys>,
    /// Source of the wall time.
    pub clock: Clock,
    /// True once the locations are known.
    pub are_locations_known: watch::Receiver<bool>,
    /// Limits of the streams' sizes.
    pub limits: BusLimits,
    /// The partitions whose services have all been compared since this node took them.
    pub compared: watch::Sender<PartitionSet>,
    /// Counters of written definitions.
    pub counters: Arc<RemoteCounters>,
}

/// The known content of the bucket.
struct BucketState {
    /// The partitions with known content.
    partitions: PartitionSet,
    sender: SealingKey,
    entries: HashMap<DefinitionKey, BucketEntry>,
    /// Deleted definitions with their times: the bucket drops them after a while.
    taken_away: VecDeque<RemovedDefinition>,
    /// Keys of the entries of each service, needed when a service is deleted.
    definition_keys: HashMap<ServiceKey, Vec<DefinitionKey>>,
}

/// A deleted definition.
struct RemovedDefinition {
    definition_key: DefinitionKey,
    revision: u64,
    at: Instant,
}

/// The wanted definition of a service at a location.
struct WantedDefinition {
    definition_key: DefinitionKey,
    assigned: RemoteAssignment,
    json: Vec<u8>,
    recipient: String,
}

impl BucketState {
    /// Returns the change that deletes a definition.
    fn taking_away(&self, definition_key: DefinitionKey) -> BucketChange {
        BucketChange {
            replaces: self.entries.get(&definition_key).cloned(),
            definition_key,
            definition: None,
        }
    }

    fn digest(&self, definition_key: &DefinitionKey) -> Option<&str> {
        self.entries.get(definition_key)?.digest.as_deref()
    }

    /// Updates the known content, and drops expired deletions.
    fn note(&mut self, written: Vec<(DefinitionKey, BucketEntry)>) {
        let now = Instant::now();
        for (definition_key, entry) in written {
            if entry.digest.is_none() {
                let taken = RemovedDefinition {
                    definition_key: definition_key.clone(),
                    revision: entry.revision,
                    at: now,
                };
                self.taken_away.push_back(taken);
            }
            self.entries.insert(definition_key, entry);
        }
        while let Some(RemovedDefinition { definition_key, revision, .. }) =
            self.taken_away.pop_front_if(|taken| now.duration_since(taken.at) > definition_bucket::FORGOTTEN)
        {
            if self.entries.get(&definition_key).is_some_and(|entry| entry.revision == revision) {
                self.entries.remove(&definition_key);
            }
        }
    }

    /// Returns the keys of existing definitions.
    fn filled(&self) -> impl Iterator<Item = &DefinitionKey> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.digest.is_some())
            .map(|(definition_key, _)| definition_key)
    }
}

#[derive(Debug, thiserror::Error)]
enum DistributionProblem {
    #[error(transparent)]
    Store(#[from] MainError),
    #[error("definition bucket: {0}")]
    Bucket(String),
}

impl DefinitionDistributor {
    /// Distributes until the future is dropped.
    pub async fn run(mut self) {
        // While no location is known, no definition would be wanted, and all would be deleted.
        if self.are_locations_known.wait_for(|is_known| *is_known).await.is_err() {
            return;
        }
        loop {
            let partitions = self.ownership.watched();
            let entries = match definition_bucket::entries(&self.connection, partitions).await {
                Ok(entries) => entries,
                Err(error) => {
                    tracing::warn!(error, "cannot read the definitions of remote locations; retrying");
                    // The bus may have been unavailable at the start, or has lost its streams.
                    if let Err(error) = streams::prepare(self.connection.jetstream(), &self.limits).await {
                        tracing::warn!(%error, "cannot prepare the NATS streams; retrying");
                    }
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            };
            let sender = SealingKey::random();
            let mut known = BucketState {
                partitions,
                sender,
                entries,
                taken_away: VecDeque::new(),
                definition_keys: HashMap::new(),
            };
            self.changes.mark_all();
            self.follow(&mut known).await;
        }
    }

    /// Processes marks until a write fails, or the partitions change: then the content of the bucket is unknown.
    async fn follow(&self, known: &mut BucketState) {
        loop {
            let marks = self.changes.take().await;
            if self.ownership.watched() != known.partitions {
                return;
            }
            let Err(problem) = self.process_marks(&marks, known).await else { continue };
            tracing::warn!(error = %problem, "cannot send definitions to remote locations; retrying");
            self.changes.put_back(marks);
            tokio::time::sleep(RETRY).await;
            if matches!(problem, DistributionProblem::Bucket(_)) {
                return;
            }
        }
    }

    async fn process_marks(
        &self,
        marks: &ChangedServices,
        known: &mut BucketState,
    ) -> Result<(), DistributionProblem> {
        if marks.all {
            return self.compare_all(known).await;
        }
        let ours = |key: &ServiceKey| known.partitions.contains(Partition::of(*key));
        let keys: Vec<ServiceKey> = marks.services.keys().copied().filter(ours).collect();
        let found = definitions::with_keys(self.databases.main.reader(), &keys).await?;
        let there = found.keys();
        let mut differences = self.compare(&found.services, known)?;
        for key in keys.iter().filter(|key| !there.contains(key)) {
            differences.extend(self.compare_one(*key, Vec::new(), known)?);
        }
        self.write(differences, known).await
    }

    async fn compare_all(&self, known: &mut BucketState) -> Result<(), DistributionProblem> {
        let mut after = ServiceKey::MIN;
        let mut stale: HashSet<DefinitionKey> = known.filled().cloned().collect();
        // An entry whose service is not found again is stale, unless the row of the service cannot be read.
        let mut before = std::mem::take(&mut known.definition_keys);
        loop {
            let main = self.databases.main.reader();
            let page = definitions::page(main, known.partitions, after, PAGE).await?;
            let Some(last) = page.last else { break };
            after = last;
            let unreadable = page.unreadable.iter().filter_map(|key| before.remove_entry(key));
            known.definition_keys.extend(unreadable);
            let differences = self.compare(&page.services, known)?;
            self.write(differences, known).await?;
            for key in page.keys() {
                for definition_key in known.definition_keys.get(&key).into_iter().flatten() {
                    stale.remove(definition_key);
                }
            }
        }
        // Entries of deleted services and locations.
        let is_wanted = |location: &LocationCode, key| {
            let definition_keys = known.definition_keys.get(&key);
            definition_keys.is_some_and(|definition_keys| {
                definition_keys.iter().any(|definition_key| definition_key.location == *location)
            })
        };
        self.assignments.retain(is_wanted, self.clock.now());
        let stale = stale.into_iter().map(|definition_key| known.taking_away(definition_key)).collect();
        self.write(stale, known).await?;
        // There may be no receiver.
        self.compared.send_replace(known.partitions);
        Ok(())
    }

    fn compare(
        &self,
        page: &[OwnedService],
        known: &mut BucketState,
    ) -> Result<Vec<BucketChange>, DistributionProblem> {
        let mut differences = Vec::new();
        for OwnedService { service, organisation } in page {
            let planned = self.compiler.planned_checks(service, *organisation).inspect_err(|error| {
                tracing::error!(
                    service = %service.id,
                    %error,
                    "cannot define the service for remote locations"
                );
            });
            let Ok(planned) = planned else {
                // The definitions of this service are left unchanged.
                let definition_keys = known
                    .filled()
                    .filter(|definition_key| definition_key.service == service.id)
                    .cloned()
                    .collect();
                known.definition_keys.insert(service.key, definition_keys);
                continue;
            };
            let wanted = planned.map_or_else(Vec::new, |planned| self.wanted(service, &planned));
            differences.extend(self.compare_one(service.key, wanted, known)?);
        }
        Ok(differences)
    }

    /// Returns the definition of this service for each remote location.
    fn wanted(&self, service: &Service, planned: &PlannedChecks) -> Vec<WantedDefinition> {
        let PlannedChecks { plan, locations, target, timeout_seconds, config } = planned;
        let of_slot = |(slot, known): (usize, &Arc<RegisteredLocation>)| {
            let location = known.location.code.clone();
            let recipient = self.recipients.key_of(&location).filter(|_| known.is_remote())?;
            let own = plan.of_location(slot)?;
            let version =
                LocationDefinition::version_of(service.check_type, target, *timeout_seconds, config);
            let definition = LocationDefinition {
                service: service.id,
                key: service.key,
                name: service.name.clone(),
                check_type: service.check_type.as_str().into(),
                version,
                revision: service.revision,
                target: target.clone(),
                config: config.clone(),
                rhythm: LocationSchedule::of(&own, *timeout_seconds),
            };
            let assigned = RemoteAssignment {
                id: service.id,
                version,
                role: plan.locations[slot].role,
                interval_ms: plan.interval_ms,
            };
            let json = serde_json::to_vec(&definition).ok()?;
            let definition_key =
                DefinitionKey { location, partition: Partition::of(service.key), service: service.id };
            Some(WantedDefinition { definition_key, assigned, json, recipient })
        };
        locations.iter().enumerate().filter_map(of_slot).collect()
    }

    /// Compares one service and updates its assignments at once; returns the changes to write.
    fn compare_one(
        &self,
        key: ServiceKey,
        wanted: Vec<WantedDefinition>,
        known: &mut BucketState,
    ) -> Result<Vec<BucketChange>, DistributionProblem> {
        let mut differences = Vec::new();
        // A definition that is too large is deleted: the location must not continue with the secrets of an older one.
        let (wanted, too_large): (Vec<WantedDefinition>, Vec<WantedDefinition>) =
            wanted.into_iter().partition(|wanted| self.fits(wanted));
        for WantedDefinition { definition_key, .. } in too_large {
            tracing::error!(
                location = %definition_key.location,
                service = %definition_key.service,
                "definition too large to send; the location does not check the service"
            );
            self.counters.too_large.add(1);
        }
        let definition_keys: Vec<DefinitionKey> =
            wanted.iter().map(|wanted| wanted.definition_key.clone()).collect();
        let before = known.definition_keys.insert(key, definition_keys.clone()).unwrap_or_default();
        for definition_key in
            before.into_iter().filter(|definition_key| !definition_keys.contains(definition_key))
        {
            self.assignments.set(&definition_key.location, key, None, self.clock.now());
            differences.push(known.taking_away(definition_key));
        }
        for WantedDefinition { definition_key, assigned, json, recipient } in wanted {
            self.assignments.set(&definition_key.location, key, Some(assigned), self.clock.now());
            let digest = self.digest(&json, &recipient);
            if known.digest(&definition_key) == Some(&*digest) {
                continue;
            }
            let sealed = SealedDefinition::new(&json, &known.sender, &recipient);
            let sealed = sealed.map_err(|error| DistributionProblem::Bucket(error.to_string()))?;
            // Two texts can always be written as JSON.
            let sealed = serde_json::to_vec(&sealed).unwrap_or_default();
            let definition = Some(BucketDefinition { digest, sealed });
            differences.push(BucketChange {
                replaces: known.entries.get(&definition_key).cloned(),
                definition_key,
                definition,
            });
        }
        Ok(differences)
    }

    fn fits(&self, wanted: &WantedDefinition) -> bool {
        let largest = usize::try_from(self.limits.definition_bytes).unwrap_or(0);
        SealedDefinition::sealed_bytes(wanted.json.len()) + definition_bucket::HEADER_BYTES <= largest
    }

    async fn write(
        &self,
        differences: Vec<BucketChange>,
        known: &mut BucketState,
    ) -> Result<(), DistributionProblem> {
        let count = differences.len() as u64;
        if count > 0 {
            let changed = definition_bucket::change(&self.connection, differences).await;
            known.note(changed.map_err(DistributionProblem::Bucket)?);
            self.counters.distributed.add(count);
        }
        Ok(())
    }

    /// Returns a digest that is equal exactly if content and recipient are. It reveals nothing without the
    /// installation's key.
    fn digest(&self, json: &[u8], recipient: &str) -> String {
        let message = [recipient.as_bytes(), json].join(&0);
        self.compiler.sealer.sign(PURPOSE, &message).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
