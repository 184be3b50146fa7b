//! Locations in other processes: they keep their own schedules, the engine hears their results and asks them to look.
//!
//! What they send has been checked and recorded by whoever brings it here; what goes to them leaves through the recipient
//! that the roster holds for each.

use std::sync::Arc;

use actix::{Context, Handler, Message};

use crate::clock::Timestamp;
use crate::engine::fleet::Fleet;
use crate::engine::roster::Urged;
use crate::engine::service::ServiceActor;
use crate::engine::service::watching::Watching;
use crate::engine::{Engine, EngineStopped};
use crate::id::Id;
use crate::model::history::CheckRecord;
use crate::model::verdict::Vote;
use crate::model::watch::{Heard, Urge};

/// What an engine elsewhere asks of this process, which is one of its locations.
#[derive(Clone, Copy, Debug, Message)]
#[rtype(result = "()")]
pub struct Heed {
    /// The service.
    pub id: Id,
    /// It is to be looked at at once.
    pub look_now: bool,
    /// It is to be looked at more often for so many milliseconds.
    pub hurry_ms: i64,
}

/// Results of a service from locations in other processes, which are recorded already.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct ServiceResults {
    /// The service.
    pub id: Id,
    /// The results, oldest first.
    pub records: Arc<[CheckRecord]>,
}

/// Results of many services, on their way through the fleet.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Hear(Vec<ServiceResults>);

impl Engine {
    /// Takes in results from locations in other processes, which are recorded already. One message to the fleet, however
    /// many services there are. What was heard before may be told again, and changes nothing.
    ///
    /// # Errors
    /// [`EngineStopped`].
    pub async fn hear(&self, results: Vec<ServiceResults>) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(Hear(results)).await?)
    }

    /// Does what an engine elsewhere asks of this process, which is one of its locations.
    ///
    /// # Errors
    /// [`EngineStopped`].
    pub async fn heed(&self, heed: Heed) -> Result<(), EngineStopped> {
        Ok(self.fleet.send(heed).await?)
    }
}

impl Handler<Hear> for Fleet {
    type Result = ();

    /// A service that is gone, or whose mailbox is full, does without: the results are in the history.
    fn handle(&mut self, Hear(results): Hear, _: &mut Context<Self>) {
        for of_service in results {
            let service = of_service.id;
            if self.address_of(service).is_some_and(|address| address.try_send(of_service).is_err()) {
                tracing::debug!(%service, "a service does not hear results that are recorded");
            }
        }
    }
}

impl Handler<ServiceResults> for ServiceActor {
    type Result = ();

    /// The timer is set once, after the last of them: a location that was cut off may send many.
    fn handle(&mut self, ServiceResults { records, .. }: ServiceResults, ctx: &mut Context<Self>) {
        let now = self.now();
        self.set_votes_aside();
        for record in records.iter() {
            self.hear(record, now);
        }
        self.set_timer(ctx);
    }
}

impl Handler<Heed> for Fleet {
    type Result = ();

    fn handle(&mut self, heed: Heed, _: &mut Context<Self>) {
        if self.address_of(heed.id).is_some_and(|address| address.try_send(heed).is_err()) {
            tracing::debug!(service = %heed.id, "a request to look now is lost; the service looks when its turn comes");
        }
    }
}

impl Handler<Heed> for ServiceActor {
    type Result = ();

    fn handle(&mut self, Heed { look_now, hurry_ms, .. }: Heed, ctx: &mut Context<Self>) {
        let now = self.now();
        if let Watching::Checked(watch) = &mut self.watching {
            let effects = watch.heed(look_now, hurry_ms, now);
            self.apply(effects, ctx);
        }
    }
}

impl ServiceActor {
    /// A result under the id of this service that is another's, or from a location that is not one of its own, is not heard.
    fn hear(&mut self, record: &CheckRecord, now: Timestamp) {
        if record.service != self.definition.key {
            return;
        }
        let Some(known) = self.shard.roster.find(record.location.as_str()) else { return };
        let Some(task) = &self.definition.task else { return };
        let Some(slot) = task.locations.iter().position(|key| *key == known.key) else { return };
        let Watching::Checked(watch) = &mut self.watching else { return };
        let status = record.measurement.status;
        let count = known.finished(self.definition.check_type, status);
        match watch.hear(slot, Vote { status, checked_at: record.checked_at }, now) {
            Heard::Vote(effects) => {
                count.add(1);
                self.shard.figures.note_result(record, self.watching.measured_until());
                self.carry_out(effects);
            }
            Heard::Late => {
                count.add(1);
                self.shard.figures.note_late_result(record);
            }
            Heard::Nothing => {}
        }
    }

    /// Lets a location in another process know; it may not be reached, and then keeps to its own schedule.
    pub(super) fn urge(&self, urge: Urge, now: Timestamp) {
        let Urge { slot, look_now, hurry_until } = urge;
        let key = self.definition.task.as_ref().and_then(|task| task.locations.get(slot));
        let Some(known) = key.and_then(|key| self.shard.roster.get(*key)) else { return };
        let location = known.location.code.clone();
        let hurry_ms = hurry_until.ms_since(now).max(0);
        known.urge(Urged { location, service: self.definition.id, look_now, hurry_ms });
    }
}
