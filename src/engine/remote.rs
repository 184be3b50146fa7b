//! Locations in other processes: they keep their own schedules; the engine receives their results and requests checks.
//!
//! Their results have been validated and recorded before they arrive here; requests to them are sent through the
//! recipient that the registry holds for each location.

use std::sync::Arc;

use actix::{Context, Handler, Message};

use crate::clock::Timestamp;
use crate::engine::fleet::Fleet;
use crate::engine::registry::LocationCheckRequest;
use crate::engine::service::ServiceActor;
use crate::engine::service::watch_machine::WatchMachine;
use crate::engine::{Engine, EngineStopped};
use crate::id::Id;
use crate::model::history::CheckRecord;
use crate::model::verdict::LocationVote;
use crate::model::watch::{ArrivalOutcome, RecheckRequest};

/// A check request of the engine to this process, which is a remote location.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct IncomingCheckRequest {
    /// Public id of the service.
    pub id: Id,
    /// True if the service has to be checked at once.
    pub check_now: bool,
    /// Milliseconds for which the service has to be checked more often.
    pub fast_rechecks_ms: i64,
}

/// Results of a service from locations in other processes, which are already recorded.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct ServiceResults {
    /// Public id of the service.
    pub id: Id,
    /// The results, oldest first.
    pub records: Arc<[CheckRecord]>,
}

/// Results of many services, as a message to the fleet.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct IncomingResults(Vec<ServiceResults>);

impl Engine {
    /// Takes results from locations in other processes, which are already recorded. Sends one message to the fleet for any
    /// number of services. Results that were received before are ignored.
    pub async fn take_remote_results(&self, results: Vec<ServiceResults>) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(IncomingResults(results)).await?)
    }

    /// Carries out a check request of the engine to this process, which is a remote location.
    pub async fn handle_check_request(&self, request: IncomingCheckRequest) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(request).await?)
    }
}

impl Handler<IncomingResults> for Fleet {
    type Result = ();

    /// A service that was deleted or whose mailbox is full is skipped: the results are in the history.
    fn handle(&mut self, IncomingResults(results): IncomingResults, _: &mut Context<Self>) {
        for of_service in results {
            let service = of_service.id;
            if self.address_of(service).is_some_and(|address| address.try_send(of_service).is_err()) {
                tracing::debug!(
                    %service,
                    "results of a remote location not processed: the service actor is busy"
                );
            }
        }
    }
}

impl Handler<ServiceResults> for ServiceActor {
    type Result = ();

    /// Sets the timer once, after the last result: a location that was disconnected may send many.
    fn handle(&mut self, ServiceResults { records, .. }: ServiceResults, ctx: &mut Context<Self>) {
        let now = self.now();
        self.set_votes_aside();
        for record in records.iter() {
            self.hear(record, now);
        }
        self.set_timer(ctx);
    }
}

impl Handler<IncomingCheckRequest> for Fleet {
    type Result = ();

    fn handle(&mut self, request: IncomingCheckRequest, _: &mut Context<Self>) {
        if self.address_of(request.id).is_some_and(|address| address.try_send(request).is_err()) {
            tracing::debug!(service = %request.id, "check request dropped: the service actor is busy");
        }
    }
}

impl Handler<IncomingCheckRequest> for ServiceActor {
    type Result = ();

    fn handle(
        &mut self,
        IncomingCheckRequest { check_now, fast_rechecks_ms, .. }: IncomingCheckRequest,
        ctx: &mut Context<Self>,
    ) {
        let now = self.now();
        if let WatchMachine::Checked(watch) = &mut self.watching {
            let effects = watch.apply_recheck_request(check_now, fast_rechecks_ms, now);
            self.apply(effects, ctx);
        }
    }
}

impl ServiceActor {
    /// Ignores a result of another service with the same id, or of a location that does not check the service.
    fn hear(&mut self, record: &CheckRecord, now: Timestamp) {
        if record.service != self.definition.key {
            return;
        }
        let Some(known) = self.shard.roster.find(record.location.as_str()) else { return };
        let Some(task) = &self.definition.task else { return };
        let Some(slot) = task.locations.iter().position(|key| *key == known.key) else { return };
        let WatchMachine::Checked(watch) = &mut self.watching else { return };
        let status = record.measurement.status;
        let count = known.finished(self.definition.check_type, status);
        match watch.take_remote_result(slot, LocationVote { status, checked_at: record.checked_at }, now) {
            ArrivalOutcome::Vote(effects) => {
                count.add(1);
                self.shard.figures.note_result(record, self.watching.measured_until());
                self.carry_out(effects);
            }
            ArrivalOutcome::Late => {
                count.add(1);
                self.shard.figures.note_late_result(record);
            }
            ArrivalOutcome::Nothing => {}
        }
    }

    /// Sends the request to a location in another process. A location that cannot be reached keeps to its own
    /// schedule.
    pub(super) fn request_check(&self, request: RecheckRequest, now: Timestamp) {
        let RecheckRequest { slot, check_now, fast_rechecks_until } = request;
        let key = self.definition.task.as_ref().and_then(|task| task.locations.get(slot));
        let Some(known) = key.and_then(|key| self.shard.roster.get(*key)) else { return };
        let location = known.location.code.clone();
        let fast_rechecks_ms = fast_rechecks_until.ms_since(now).max(0);
        known.send_request(LocationCheckRequest {
            location,
            service: self.definition.id,
            check_now,
            fast_rechecks_ms,
        });
    }
}
