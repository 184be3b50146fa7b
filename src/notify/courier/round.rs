//! What is under way: tries that run, what of them is not written down yet, and the lanes of their channels.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, timeout_at};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::lifecycle::digests;
use crate::model::notification::Channel;
use crate::model::notification::delivery::{Delivery, TryOutcome};
use crate::model::notification::line::Line;
use crate::notify::carrier::Carried;
use crate::notify::courier::parts::{Courier, Done};
use crate::notify::lane::{Consequence, Lane, Sign};
use crate::store::notifications::courier::{Ended, bring_forward, due, put_off, store_tries};
use crate::store::{MainError, contacts, notification_channels, organisations};

/// Most messages under way at once, over all channels.
const UNDER_WAY: usize = 256;
/// Most messages read at once that are not under way: a channel takes few at a time, and the next look comes soon.
const READ: usize = 64;
/// The time for which ends are gathered, so that one commit takes many.
const GATHER: Duration = Duration::from_millis(10);
/// The time for which a channel that is switched off is left alone, in milliseconds.
const SWITCHED_OFF_MS: i64 = 60_000;

/// Most attempts to write down what came of tries: whatever is lost here is sent again.
const WRITES: u32 = 15;
/// The wait between two of them.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// Where one message is under way at a time: about one subject, in one line of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    channel: i64,
    line: Line,
    subject: String,
}

impl Place {
    fn of(delivery: &Delivery, line: Line) -> Self {
        Self { channel: delivery.channel, line, subject: delivery.message.subject_id().to_owned() }
    }
}

/// What is under way.
pub(super) struct Round<'a> {
    courier: &'a Courier,
    lanes: HashMap<i64, Lane>,
    places: HashSet<Place>,
    running: FuturesUnordered<LocalBoxFuture<'a, Done>>,
}

/// What is due, with what its requests are made of.
struct Ready {
    deliveries: Vec<Delivery>,
    channels: HashMap<i64, Channel>,
    organisations: HashMap<i64, Id>,
    /// The addresses of the contacts that messages are for.
    addresses: HashMap<i64, String>,
}

impl<'a> Round<'a> {
    /// Nothing is under way.
    pub(super) fn new(courier: &'a Courier) -> Self {
        Self { courier, lanes: HashMap::new(), places: HashSet::new(), running: FuturesUnordered::new() }
    }

    /// Begins the tries that are due and have room. Returns true if there was one.
    pub(super) async fn send_due(&mut self) -> Result<bool, MainError> {
        let room = UNDER_WAY.saturating_sub(self.running.len());
        if room == 0 {
            return Ok(false);
        }
        let now = self.courier.guard.now();
        let ready = self.ready(now, room).await?;
        let gathered = self.gather(&ready, now).await;
        if gathered.has_made_one {
            // What is due is read anew.
            return Ok(true);
        }
        let mut has_sent = false;
        let mut put_off: HashMap<i64, Timestamp> = HashMap::new();
        for delivery in ready.deliveries {
            let Some(channel) = ready.channels.get(&delivery.channel) else { continue };
            if gathered.failed.contains(&channel.key) && waits_for_digest(channel, &delivery) {
                continue;
            }
            let lane = self.lanes.entry(channel.key).or_default();
            lane.note_change(channel.updated_at);
            let is_expired = self.courier.is_expired(&delivery, now);
            if let Some(until) = lane.closed_until(now) {
                put_off.insert(channel.key, until);
                continue;
            }
            if !channel.is_enabled && !is_expired {
                put_off.insert(channel.key, now.plus_ms(SWITCHED_OFF_MS));
                continue;
            }
            let place = Place::of(&delivery, channel.line(delivery.contact));
            if lane.is_full() || self.running.len() >= UNDER_WAY || !self.places.insert(place) {
                continue;
            }
            lane.depart();
            has_sent = true;
            let organisation = ready.organisations.get(&channel.organisation).copied();
            let recipient = delivery.contact.and_then(|contact| ready.addresses.get(&contact).cloned());
            self.running.push(self.courier.attempt(delivery, channel.clone(), (organisation, recipient)));
        }
        self.put_off(put_off).await?;
        Ok(has_sent)
    }

    /// Makes digests of what waits for them and is due.
    async fn gather(&self, ready: &Ready, now: Timestamp) -> GatheredDigests {
        let is_busy = |channel: &Channel, delivery: &Delivery| {
            self.places.contains(&Place::of(delivery, channel.line(delivery.contact)))
        };
        let waiting = ready.deliveries.iter().filter(|delivery| {
            let channel = ready.channels.get(&delivery.channel).filter(|channel| channel.is_enabled);
            channel.is_some_and(|channel| waits_for_digest(channel, delivery) && !is_busy(channel, delivery))
        });
        let mut gathered = GatheredDigests::default();
        for channel in each_once(waiting.map(|delivery| delivery.channel)) {
            match self.make_digest(&ready.channels[&channel], now).await {
                Ok(has_made_one) => gathered.has_made_one |= has_made_one,
                Err(error) => {
                    tracing::warn!(%error, "a digest waits: it cannot be made at the moment");
                    gathered.failed.insert(channel);
                }
            }
        }
        gathered
    }

    async fn make_digest(&self, channel: &Channel, now: Timestamp) -> Result<bool, MainError> {
        let places = self.places.iter().filter(|place| place.channel == channel.key);
        let busy: Vec<String> = places.map(|place| place.subject.clone()).collect();
        let transaction = self.courier.databases.main.begin().await?;
        let has_made_one = digests::gather(&transaction, channel, &busy, now).await?;
        transaction.commit().await?;
        Ok(has_made_one)
    }

    async fn ready(&self, now: Timestamp, room: usize) -> Result<Ready, MainError> {
        let reader = self.courier.databases.main.reader();
        let busy = self.lanes.iter().filter(|(_, lane)| lane.is_full());
        let busy: Vec<i64> = busy.map(|(channel, _)| *channel).collect();
        // Those that are under way are due still.
        let under_way = self.places.iter().filter(|place| !busy.contains(&place.channel)).count();
        let limit = u64::try_from(room.min(READ) + under_way).unwrap_or(u64::MAX);
        let deliveries = due(reader, now, &busy, limit).await?;
        if deliveries.is_empty() {
            return Ok(Ready {
                deliveries,
                channels: HashMap::new(),
                organisations: HashMap::new(),
                addresses: HashMap::new(),
            });
        }
        let keys = each_once(deliveries.iter().map(|delivery| delivery.channel));
        let keys: Vec<i64> = keys.into_iter().collect();
        let channels = notification_channels::with_keys(reader, &keys).await?;
        let owners = each_once(channels.iter().map(|channel| channel.organisation));
        let organisations = organisations::ids(reader, &owners).await?;
        let channels = channels.into_iter().map(|channel| (channel.key, channel)).collect();
        let told = each_once(deliveries.iter().filter_map(|delivery| delivery.contact));
        let told: Vec<i64> = told.into_iter().collect();
        let contacts = contacts::with_keys(reader, &told).await?;
        let addresses = contacts.into_iter().map(|contact| (contact.key, contact.email)).collect();
        Ok(Ready { deliveries, channels, organisations, addresses })
    }

    /// Waits until a try ends, `longest` at most, and writes down those that have ended.
    pub(super) async fn settle(&mut self, longest: Duration) -> Result<(), MainError> {
        let mut done = Vec::new();
        let mut until = Instant::now() + longest.max(GATHER);
        while done.len() < UNDER_WAY {
            if self.running.is_empty() {
                if done.is_empty() {
                    tokio::time::sleep_until(until).await;
                }
                break;
            }
            let Ok(Some(ended)) = timeout_at(until, self.running.next()).await else { break };
            if done.is_empty() {
                until = until.min(Instant::now() + GATHER);
            }
            done.push(ended);
        }
        if done.is_empty() { Ok(()) } else { self.write_down(done).await }
    }

    async fn write_down(&mut self, done: Vec<Done>) -> Result<(), MainError> {
        let now = self.courier.guard.now();
        let ended: Vec<Ended> = done.iter().map(|done| self.courier.ended(done, now)).collect();
        let mut consequences = Vec::new();
        for Done { delivery, kind, carried, .. } in &done {
            self.courier.counters.note(*kind, carried.outcome);
            let lane = self.lanes.entry(delivery.channel).or_default();
            let consequence = lane.arrive(sign_of(carried), now);
            if lane.is_idle() {
                self.lanes.remove(&delivery.channel);
            }
            consequences.push((delivery.channel, consequence));
        }
        let open = self.lanes.values().filter(|lane| lane.is_open()).count();
        self.courier.counters.open_circuits.store(open as u64, Ordering::Relaxed);
        let mut writes = 1;
        while let Err(error) = self.store(&ended, &consequences, now).await {
            if writes == WRITES {
                return Err(error);
            }
            tracing::warn!(%error, "what came of messages cannot be written down at the moment");
            tokio::time::sleep(WRITE_AGAIN).await;
            writes += 1;
        }
        for done in &done {
            self.places.remove(&Place::of(&done.delivery, done.line));
        }
        Ok(())
    }

    async fn store(
        &self,
        ended: &[Ended],
        consequences: &[(i64, Consequence)],
        now: Timestamp,
    ) -> Result<(), MainError> {
        let transaction = self.courier.databases.main.begin().await?;
        store_tries(&transaction, ended).await?;
        for (channel, consequence) in consequences {
            match consequence {
                Consequence::None => {}
                Consequence::PutOff(until) => put_off(&transaction, *channel, *until).await?,
                Consequence::BringForward => bring_forward(&transaction, *channel, now).await?,
            }
        }
        transaction.commit().await
    }

    async fn put_off(&self, channels: HashMap<i64, Timestamp>) -> Result<(), MainError> {
        if channels.is_empty() {
            return Ok(());
        }
        let transaction = self.courier.databases.main.begin().await?;
        for (channel, until) in channels {
            put_off(&transaction, channel, until).await?;
        }
        transaction.commit().await
    }
}

/// What became of digests that were due.
#[derive(Default)]
struct GatheredDigests {
    has_made_one: bool,
    /// Channels of which none could be made: what waits for one waits on.
    failed: BTreeSet<i64>,
}

/// Returns true for a message that a digest may tell.
fn waits_for_digest(channel: &Channel, delivery: &Delivery) -> bool {
    channel.routing.digest_above.is_some() && delivery.hold.is_some() && delivery.contact.is_none()
}

fn sign_of(carried: &Carried) -> Sign {
    match carried.outcome {
        TryOutcome::Delivered => Sign::Good,
        TryOutcome::Failed if !carried.is_ours => Sign::Bad(carried.retry_after),
        TryOutcome::Failed | TryOutcome::Refused => Sign::Nothing,
    }
}

/// These keys, each once.
fn each_once(keys: impl Iterator<Item = i64>) -> BTreeSet<i64> {
    keys.collect()
}
