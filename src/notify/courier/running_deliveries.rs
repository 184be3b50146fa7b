//! The work in progress: running attempts, results that are not stored yet, and the circuits of their channels.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, timeout_at};

use crate::clock::Timestamp;
use crate::lifecycle::digests;
use crate::model::notification::NotificationChannel;
use crate::model::notification::delivery::{DeliveryOutcome, FaultOwner};
use crate::model::notification::fair_share::{DueMessage, OccupiedSlots, SLOTS, choose_next};
use crate::notify::circuit_breaker::{ChannelSign, CircuitBreaker, FailureSource, TryPass};
use crate::notify::courier::attempt::{Courier, FinishedTry, PlannedTry};
use crate::notify::courier::channel_turns::{ChannelTurns, UnreadableMessages};
use crate::store::notifications::courier::{TryRecord, bring_forward, store_tries};
use crate::store::notifications::due::{due_messages, expired_messages, read_messages};
use crate::store::notifications::order::{OutOfOrder, out_of_order, queue_up};
use crate::store::{MainError, contacts, notification_channels, organisations};

/// Maximum number of attempts that start at one poll.
const BEGIN: usize = 128;
/// Maximum number of messages of each sort that are read per channel; running messages are among them, because they are
/// still due.
const READ: u64 = 48;
/// Maximum number of results that are stored at once.
const WRITE: usize = 256;
/// The time for which results are collected, so that one commit stores many.
const GATHER: Duration = Duration::from_millis(10);
/// Maximum number of tries to store results: a message whose result is lost is sent again.
const WRITES: u32 = 15;
/// The wait between two tries to store results.
const WRITE_AGAIN: Duration = Duration::from_secs(2);
/// Maximum number of expired messages that are given up at once.
const GIVE_UP: u64 = 500;
/// The time for which an expired message may still get its last attempt, in milliseconds.
const LAST_TRY_MS: i64 = 60_000;

pub(super) struct RunningDeliveries<'a> {
    courier: &'a Courier,
    circuits: HashMap<i64, CircuitBreaker>,
    slots: OccupiedSlots,
    turns: ChannelTurns,
    unreadable: UnreadableMessages,
    /// True if the last poll found due messages, or may have found only a part of them.
    has_due: bool,
    running: FuturesUnordered<LocalBoxFuture<'a, FinishedTry>>,
}

impl<'a> RunningDeliveries<'a> {
    /// Creates an empty collection: no attempt is running.
    pub(super) fn new(courier: &'a Courier) -> Self {
        Self {
            courier,
            circuits: HashMap::new(),
            slots: OccupiedSlots::default(),
            turns: ChannelTurns::default(),
            unreadable: UnreadableMessages::default(),
            has_due: false,
            running: FuturesUnordered::new(),
        }
    }

    /// Returns true if no attempt is running.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns true if the last poll found due messages, whether they were started or not, or may have found only a part.
    pub(super) const fn has_due(&self) -> bool {
        self.has_due
    }

    /// Starts the due attempts for which there is capacity. Returns true if an attempt was started or a digest was
    /// created.
    pub(super) async fn send_due(&mut self) -> Result<bool, MainError> {
        if self.slots.total() >= SLOTS {
            return Ok(false);
        }
        let now = self.courier.guard.now();
        let reader = self.courier.databases.main.reader();
        let channels = self.turns.next(reader, now, &mut self.circuits, &self.slots).await?;
        let wanted = self.unreadable.without(channels);
        let mut due = due_messages(reader, now, &wanted, READ).await?;
        due.retain(|message| !self.slots.is_under_way(message));
        self.has_due = !due.is_empty() || self.turns.has_more();
        let keys: Vec<i64> = each_once(due.iter().map(|message| message.channel)).into_iter().collect();
        let channels = notification_channels::readable_with_keys(reader, &keys).await?;
        let channels: HashMap<i64, NotificationChannel> =
            channels.into_iter().map(|channel| (channel.key, channel)).collect();
        keys.iter().filter(|key| !channels.contains_key(key)).for_each(|key| self.turns.leave_out(*key));
        let gathered = self.gather(&due, &channels, now).await;
        if gathered.has_made_one {
            // The digest is a new due message, so the due messages are read again.
            return Ok(true);
        }
        due.retain(|message| {
            let channel = channels.get(&message.channel).filter(|channel| channel.is_enabled);
            channel.is_some_and(|channel| {
                !gathered.failed.contains(&channel.key) || !waits_for_digest(channel, message)
            })
        });
        let chosen = self.choose(due, &channels, now);
        self.begin(chosen, channels).await
    }

    fn choose(
        &mut self,
        due: Vec<DueMessage>,
        channels: &HashMap<i64, NotificationChannel>,
        now: Timestamp,
    ) -> Vec<(DueMessage, TryPass)> {
        let Self { circuits, slots, .. } = self;
        choose_next(due, slots, BEGIN, |message| {
            let circuit = circuits.entry(message.channel).or_default();
            if let Some(channel) = channels.get(&message.channel) {
                circuit.note_change(channel.updated_at);
            }
            circuit.admit(message.tries == 0, now)
        })
    }

    /// Starts these attempts. Returns true if at least one was started.
    async fn begin(
        &mut self,
        chosen: Vec<(DueMessage, TryPass)>,
        channels: HashMap<i64, NotificationChannel>,
    ) -> Result<bool, MainError> {
        if chosen.is_empty() {
            return Ok(false);
        }
        let reader = self.courier.databases.main.reader();
        let keys: Vec<i64> = chosen.iter().map(|(message, _)| message.key).collect();
        let (mut readable, unreadable) = read_messages(reader, &keys).await?;
        for (key, error) in &unreadable {
            tracing::error!(%error, "cannot read a message; it stays queued");
            let channel = chosen.iter().find(|(message, _)| message.key == *key);
            self.unreadable.note(channel.map_or(0, |(message, _)| message.channel), *key);
            self.courier.counters.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        let order = self.order(&chosen).await?;
        let owners = each_once(channels.values().map(|channel| channel.organisation));
        let owners = organisations::ids(reader, &owners).await?;
        let contact_keys = each_once(readable.values().filter_map(|delivery| delivery.contact));
        let contact_keys: Vec<i64> = contact_keys.into_iter().collect();
        let contacts = contacts::with_keys(reader, &contact_keys).await?;
        let addresses: HashMap<i64, String> =
            contacts.into_iter().map(|contact| (contact.key, contact.email)).collect();
        let mut has_begun = false;
        for (message, pass) in chosen {
            let channel = channels.get(&message.channel).cloned();
            let delivery = readable.remove(&message.key).filter(|delivery| delivery.due_at.is_some());
            let (Some(delivery), Some(channel)) = (delivery, channel) else {
                self.give_back(&message, pass);
                continue;
            };
            if order.too_early.contains(&message.key) {
                self.give_back(&message, pass);
                continue;
            }
            has_begun = true;
            let planned = PlannedTry {
                is_overtaken: order.too_late.contains(&message.key),
                organisation: owners.get(&channel.organisation).copied(),
                recipient: delivery.contact.and_then(|contact| addresses.get(&contact).cloned()),
                delivery,
                channel,
                message,
                pass,
            };
            self.running.push(self.courier.attempt(planned));
        }
        Ok(has_begun)
    }

    /// Returns the chosen messages that would arrive out of order. Messages that are too early are queued again.
    async fn order(&self, chosen: &[(DueMessage, TryPass)]) -> Result<OutOfOrder, MainError> {
        let main = &self.courier.databases.main;
        let again = chosen.iter().filter(|(message, _)| message.tries > 0);
        let again: Vec<i64> = again.map(|(message, _)| message.key).collect();
        let order = out_of_order(main.reader(), &again).await?;
        if !order.too_early.is_empty() {
            let transaction = main.begin().await?;
            queue_up(&transaction, &order.too_early).await?;
            transaction.commit().await?;
        }
        Ok(order)
    }

    fn give_back(&mut self, message: &DueMessage, pass: TryPass) {
        self.slots.release(message);
        if let Some(circuit) = self.circuits.get_mut(&message.channel) {
            circuit.give_back(pass);
        }
    }

    /// Creates digests of the messages that wait for one and are due.
    async fn gather(
        &self,
        due: &[DueMessage],
        channels: &HashMap<i64, NotificationChannel>,
        now: Timestamp,
    ) -> GatheredDigests {
        let waiting = due.iter().filter(|message| {
            let channel = channels.get(&message.channel).filter(|channel| channel.is_enabled);
            channel.is_some_and(|channel| waits_for_digest(channel, message))
                && !self.slots.is_queued_behind(message)
        });
        let mut gathered = GatheredDigests::default();
        for channel in each_once(waiting.map(|message| message.channel)) {
            match self.make_digest(&channels[&channel], now).await {
                Ok(has_made_one) => gathered.has_made_one |= has_made_one,
                Err(error) => {
                    tracing::warn!(
                        channel = %channels[&channel].id,
                        %error,
                        "cannot create a digest; retrying"
                    );
                    gathered.failed.insert(channel);
                }
            }
        }
        gathered
    }

    async fn make_digest(&self, channel: &NotificationChannel, now: Timestamp) -> Result<bool, MainError> {
        let busy: Vec<String> = self.slots.subjects(channel.key).map(ToOwned::to_owned).collect();
        let transaction = self.courier.databases.main.begin().await?;
        let has_made_one = digests::gather(&transaction, channel, &busy, now).await?;
        transaction.commit().await?;
        Ok(has_made_one)
    }

    /// Waits for an attempt to end, at most `longest` (but at least `GATHER`), and stores the results of the attempts
    /// that have ended.
    pub(super) async fn settle(&mut self, longest: Duration) -> Result<(), MainError> {
        let mut done = Vec::new();
        let mut until = Instant::now() + longest.max(GATHER);
        while done.len() < WRITE {
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

    async fn write_down(&mut self, done: Vec<FinishedTry>) -> Result<(), MainError> {
        let now = self.courier.guard.now();
        let ended: Vec<TryRecord> = done.iter().map(|done| self.courier.ended(done, now)).collect();
        let mut reachable = BTreeSet::new();
        for done in &done {
            self.courier.counters.note(done.kind, done.carried.outcome);
            let channel = done.message.channel;
            let circuit = self.circuits.entry(channel).or_default();
            if circuit.note_end(done.pass, sign_of(done), now) {
                reachable.insert(channel);
            }
        }
        self.circuits.retain(|_, circuit| !circuit.is_idle(now));
        let open = self.circuits.values().filter(|circuit| circuit.is_open()).count();
        self.courier.counters.open_circuits.store(open as u64, Ordering::Relaxed);
        let mut writes = 1;
        while let Err(error) = self.store(&ended, &reachable, now).await {
            if writes == WRITES {
                return Err(error);
            }
            tracing::warn!(%error, "cannot store the outcome of deliveries; retrying");
            tokio::time::sleep(WRITE_AGAIN).await;
            writes += 1;
        }
        for done in &done {
            self.slots.release(&done.message);
        }
        Ok(())
    }

    async fn store(
        &self,
        ended: &[TryRecord],
        reachable: &BTreeSet<i64>,
        now: Timestamp,
    ) -> Result<(), MainError> {
        let transaction = self.courier.databases.main.begin().await?;
        store_tries(&transaction, ended).await?;
        for channel in reachable {
            bring_forward(&transaction, *channel, now).await?;
        }
        transaction.commit().await
    }

    /// Gives up expired messages that got no last attempt, because their channel is switched off or its circuit is open.
    /// Also stops skipping unreadable channels.
    pub(super) async fn give_up_expired(&mut self) -> Result<(), MainError> {
        self.turns.take_in_again();
        let Some(now) = self.courier.guard.trusted_now() else { return Ok(()) };
        let main = &self.courier.databases.main;
        let mut expired = expired_messages(main.reader(), now, now.plus_ms(-LAST_TRY_MS), GIVE_UP).await?;
        expired.retain(|message| !self.slots.is_under_way(message));
        if expired.is_empty() {
            return Ok(());
        }
        let ended: Vec<TryRecord> = expired.iter().map(|message| TryRecord::expired(message, now)).collect();
        let transaction = main.begin().await?;
        store_tries(&transaction, &ended).await?;
        transaction.commit().await
    }
}

/// The result of creating due digests.
#[derive(Default)]
struct GatheredDigests {
    has_made_one: bool,
    /// Channels without a digest because of an error: their messages keep waiting for one.
    failed: BTreeSet<i64>,
}

/// Returns true for a message that a digest may contain.
fn waits_for_digest(channel: &NotificationChannel, message: &DueMessage) -> bool {
    channel.routing.digest_above.is_some() && message.is_held && message.contact.is_none()
}

/// Returns the effect of an attempt on its channel. A final refusal concerns the message only.
fn sign_of(done: &FinishedTry) -> ChannelSign {
    let source = match done.carried.owner {
        FaultOwner::Channel => FailureSource::Channel,
        FaultOwner::Recipient => FailureSource::Recipient(done.message.contact),
        FaultOwner::Message => FailureSource::Message(done.message.key),
        FaultOwner::Sender => return ChannelSign::Nothing,
    };
    match done.carried.outcome {
        DeliveryOutcome::Delivered => ChannelSign::Taken,
        DeliveryOutcome::Failed => ChannelSign::Failed { source, retry_after: done.carried.retry_after },
        DeliveryOutcome::Refused | DeliveryOutcome::Unconfirmed => ChannelSign::Nothing,
    }
}

fn each_once(keys: impl Iterator<Item = i64>) -> BTreeSet<i64> {
    keys.collect()
}
