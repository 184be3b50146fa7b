//! The first reading of all services of an organisation, which takes long if there are many.
//!
//! It can be dropped at any time, as when a client gives up, and the next caller continues with the services that are left. What
//! changes meanwhile is found by the first refresh.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::{Instant, timeout};

use crate::clock::Timestamp;
use crate::fleet_view::columns::FleetColumns;
use crate::fleet_view::follower::{COMPARED_EVERY, FleetFollower, STATES_EVERY};
use crate::fleet_view::owner_absence::OwnerAbsence;
use crate::fleet_view::reader::{CHUNK, ConcernedServices, FleetReader, HISTORY_PATIENCE};
use crate::fleet_view::revision_log::RevisionLog;
use crate::fleet_view::state_notes::StateNotes;
use crate::fleet_view::view::{FleetContents, FleetView};
use crate::model::service::ServiceKey;
use crate::store::commit_log::WrittenData;
use crate::store::{MainError, StoreError, services, tags};

/// Number of parts that are read at the same time: each waits for two databases and the engine in turn. Fewer than the reading
/// connections of a SQLite database, so that requests do not wait for them.
const PARTS_AT_ONCE: usize = 3;

/// All services of an organisation, as far as they have been read.
pub(in crate::fleet_view) struct FirstRead {
    follower: FleetFollower,
    columns: FleetColumns,
    absence: OwnerAbsence,
    /// All services at the beginning, with their revisions.
    revisions: Vec<(ServiceKey, i64)>,
    /// Number of these that have been read.
    read: usize,
}

impl FirstRead {
    /// Begins with what changes from now on.
    pub(in crate::fleet_view) async fn begin(
        reader: FleetReader,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let main = &reader.databases().main;
        let stamp = main.own_changes().stamp();
        let verdicts = reader.router.engine.verdict_changes().position();
        let changes = timeout(HISTORY_PATIENCE, reader.begin_progress()).await.ok().and_then(Result::ok);
        let concerned = ConcernedServices {
            maintenances: reader.maintenances().await?,
            incidents: reader.incidents().await?,
        };
        let mut columns = FleetColumns::new(reader.locations());
        columns.set_tags(&tags::all(main.reader(), reader.organisation).await?);
        let revisions = services::revisions(main.reader(), reader.organisation).await?;
        let mut absence = OwnerAbsence::default();
        absence.update(reader.router.ownership.unowned(), now);
        let at = Instant::now();
        let follower = FleetFollower {
            reader,
            stamp,
            changes,
            concerned,
            unread: WrittenData::default(),
            services: BTreeSet::new(),
            states: StateNotes::default(),
            verdicts,
            silent: BTreeSet::new(),
            swept: ServiceKey::MIN,
            states_as_of: None,
            read_states_at: at + STATES_EVERY,
            silent_at: at,
            compare_at: at + COMPARED_EVERY,
        };
        Ok(Self { follower, columns, absence, revisions, read: 0 })
    }

    /// Reads the services that are left.
    pub(in crate::fleet_view) async fn read_rest(&mut self, now: Timestamp) -> Result<(), MainError> {
        let Self { follower, columns, absence, revisions, read } = self;
        let FleetFollower { reader, concerned, silent, .. } = follower;
        let unwatched = absence.unwatched();
        let rest = revisions[*read..].chunks(CHUNK);
        let mut parts = stream::iter(rest)
            .map(|part| {
                let keys: Vec<ServiceKey> = part.iter().map(|(key, _)| *key).collect();
                let (reader, concerned) = (&*reader, &*concerned);
                async move {
                    let facts = reader.facts(&keys, concerned, unwatched, now).await?;
                    Ok::<_, MainError>((keys.len(), facts))
                }
            })
            .buffered(PARTS_AT_ONCE);
        while let Some((keys, facts)) = parts.try_next().await? {
            for facts in facts {
                if !facts.measured.is_answered && absence.since(facts.outline.key).is_none() {
                    silent.insert(facts.outline.key);
                }
                columns.append(&facts);
            }
            *read += keys;
        }
        Ok(())
    }

    /// Returns the view, and the follower that keeps it up to date, after all services were read.
    pub(in crate::fleet_view) fn finish(self, now: Timestamp) -> (FleetFollower, FleetView) {
        let Self { mut follower, mut columns, absence, revisions, .. } = self;
        // The times of some statuses could not be read: all states are read again once the history answers.
        if follower.reader.failure().is_some() {
            follower.changes = None;
        }
        columns.finish();
        for (key, revision) in revisions {
            columns.set_revision(key, revision);
        }
        let log = RevisionLog::new(now.ms());
        (follower, FleetView::new(FleetContents { columns, log, absence }))
    }
}
