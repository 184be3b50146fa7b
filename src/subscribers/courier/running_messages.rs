//! The work in progress: messages that wait for their turn, running attempts, and results that are not stored yet.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, timeout_at};

use crate::clock::Timestamp;
use crate::model::notification::delivery::{
    DeliveryOutcome, DeliveryStatus, FailedDelivery, FaultOwner, next_try,
};
use crate::model::subscriber::delivery::{
    SubscriberAttempt, SubscriberChange, SubscriberDelivery, change_after,
};
use crate::notify::carrier::SendReport;
use crate::notify::circuit_breaker::{ChannelSign, CircuitBreaker, FailureSource, TryPass};
use crate::notify::courier::chance;
use crate::store::subscriber_deliveries::{self, AttemptRecord, DueRequest};
use crate::store::{MainError, Transaction, subscribers};
use crate::subscribers::courier::attempt::PreparedMessage;
use crate::subscribers::courier::mail_pool::MailPool;
use crate::subscribers::courier::news_cache::NewsCache;
use crate::subscribers::courier::subscriber_courier::SubscriberCourier;
use crate::subscribers::outgoing_mail::MailSender;

/// Maximum number of mails that are sent at the same time, each over its own connection.
const MAILS: usize = 12;
/// Maximum number of other messages that are sent at the same time.
const REQUESTS: usize = 64;
/// Maximum number of them that belong to one page, so that one page with silent receivers leaves room for the others.
const REQUESTS_OF_PAGE: usize = 16;
/// Number of messages of a page that are read at once.
const READ: u64 = 200;
/// A page with fewer read messages than this is read again.
const READ_BELOW: usize = 50;
/// The interval at which due messages are read.
const READ_EVERY: Duration = Duration::from_millis(100);
/// The time after which waiting messages are read again: a subscriber may have unsubscribed meanwhile.
const FRESH_FOR: Duration = Duration::from_secs(2);
/// The same while all due messages of the page wait here: new ones are noticed after this time.
const ALL_FRESH_FOR: Duration = Duration::from_millis(500);
/// Maximum number of results that are stored at once.
const WRITE: usize = 200;
/// The time for which results are collected, so that one commit stores many.
const GATHER: Duration = Duration::from_millis(25);
/// Maximum number of tries to store results: a message whose result is lost is sent again.
const WRITES: u32 = 15;
/// The wait between two tries to store results.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// The messages of a page, mails or others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PageLane {
    page: i64,
    is_mail: bool,
}

/// Messages of a lane as they were read together.
struct WaitingMessages {
    messages: VecDeque<SubscriberDelivery>,
    /// True if no other message of the lane was due.
    are_all: bool,
    read_at: Instant,
}

pub(super) struct RunningMessages<'a> {
    courier: &'a SubscriberCourier,
    mails: Option<MailSender>,
    pool: Rc<MailPool>,
    /// The circuit of the mail server.
    circuit: CircuitBreaker,
    cache: NewsCache,
    /// Messages that were read and wait for their turn.
    waiting: BTreeMap<PageLane, WaitingMessages>,
    /// Lanes of the messages that are being sent or whose results are not stored, by key.
    known: HashMap<i64, PageLane>,
    /// Number of messages that are being sent, by lane.
    active: HashMap<PageLane, usize>,
    /// The pages that had the last turn, for mails and for other messages.
    last_pages: HashMap<bool, i64>,
    running: FuturesUnordered<LocalBoxFuture<'a, FinishedMessage>>,
    read_at: Option<Instant>,
}

impl WaitingMessages {
    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < FRESH_FOR
    }

    /// Returns true if nothing has to be read yet.
    fn is_enough(&self) -> bool {
        let fresh_for = if self.are_all { ALL_FRESH_FOR } else { FRESH_FOR };
        self.read_at.elapsed() < fresh_for && (self.are_all || self.messages.len() >= READ_BELOW)
    }
}

struct FinishedMessage {
    delivery: SubscriberDelivery,
    lane: PageLane,
    report: SendReport,
    /// The permission of the mail server's circuit.
    pass: Option<TryPass>,
}

impl<'a> RunningMessages<'a> {
    /// Creates an empty collection: nothing is being sent.
    pub(super) fn new(courier: &'a SubscriberCourier) -> Self {
        Self {
            courier,
            mails: MailSender::of(&courier.config.mail),
            pool: Rc::default(),
            circuit: CircuitBreaker::default(),
            cache: NewsCache::default(),
            waiting: BTreeMap::new(),
            known: HashMap::new(),
            active: HashMap::new(),
            last_pages: HashMap::new(),
            running: FuturesUnordered::new(),
            read_at: None,
        }
    }

    /// Returns true if no attempt is running.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns true if due messages were read at this time or later, and none waits here.
    pub(super) fn is_empty_since(&self, since: Instant) -> bool {
        self.read_at.is_some_and(|at| at >= since) && self.waiting.is_empty()
    }

    /// Starts as many due messages as there is room for, of all pages in turn. Returns true if one was started.
    pub(super) async fn send_due(&mut self) -> Result<bool, MainError> {
        let now = self.courier.guard.now();
        if self.read_at.is_none_or(|at| at.elapsed() >= READ_EVERY) {
            self.read_waiting(now).await?;
            self.read_at = Some(Instant::now());
        }
        let mut has_started = false;
        for is_mail in [true, false] {
            while self.start_next(is_mail, now).await? {
                has_started = true;
            }
        }
        Ok(has_started)
    }

    /// Reads due messages of the pages of which few wait here.
    async fn read_waiting(&mut self, now: Timestamp) -> Result<(), MainError> {
        let main = self.courier.databases.main.reader();
        for is_mail in [true, false] {
            if is_mail && self.mails.is_none() {
                continue;
            }
            for page in subscriber_deliveries::pages_with_due(main, is_mail, now).await? {
                let lane = PageLane { page, is_mail };
                if self.waiting.get(&lane).is_some_and(WaitingMessages::is_enough) {
                    continue;
                }
                let sent = self.known.iter().filter(|(_, other)| **other == lane).map(|(key, _)| *key);
                let busy: Vec<i64> = sent.collect();
                let request = DueRequest { page, is_mail, busy: &busy, most: READ };
                let read_at = Instant::now();
                let messages = VecDeque::from(subscriber_deliveries::due(main, request, now).await?);
                let are_all = (messages.len() as u64) < READ;
                self.waiting.insert(lane, WaitingMessages { messages, are_all, read_at });
            }
        }
        // Pages without due messages were not read.
        self.waiting.retain(|_, waiting| !waiting.messages.is_empty() && waiting.is_fresh());
        Ok(())
    }

    /// Starts the next mail, or the next other message, of the page whose turn it is. Returns false without room or without
    /// messages.
    async fn start_next(&mut self, is_mail: bool, now: Timestamp) -> Result<bool, MainError> {
        let Some(lane) = self.next_lane(is_mail) else { return Ok(false) };
        let Some(waiting) = self.waiting.get_mut(&lane) else { return Ok(false) };
        let Some(first) = waiting.messages.front() else { return Ok(false) };
        let pass = if is_mail {
            let Some(pass) = self.circuit.admit(first.tries == 0, now) else { return Ok(false) };
            Some(pass)
        } else {
            None
        };
        let Some(delivery) = waiting.messages.pop_front() else { return Ok(false) };
        if waiting.messages.is_empty() {
            self.waiting.remove(&lane);
        }
        self.last_pages.insert(is_mail, lane.page);
        let prepared = self.courier.prepare(&mut self.cache, self.mails.as_ref(), &delivery, now).await;
        let prepared = match prepared {
            Err(MainError::Corrupt(error)) => {
                tracing::error!(delivery = %delivery.id, %error, "cannot read what a message to a subscriber says");
                PreparedMessage::GivenUp("The message cannot be read")
            }
            other => other?,
        };
        let (courier, pool) = (self.courier, Rc::clone(&self.pool));
        self.known.insert(delivery.key, lane);
        *self.active.entry(lane).or_default() += 1;
        self.running.push(Box::pin(async move {
            let origin = delivery.subscriber.origin;
            let report = courier.send(pool, prepared, delivery.id, origin, now).await;
            FinishedMessage { delivery, lane, report, pass }
        }));
        Ok(true)
    }

    /// The lane whose turn it is: of the next page, in the order of their keys, that has a message and room for it.
    fn next_lane(&self, is_mail: bool) -> Option<PageLane> {
        let all: usize = self.active.iter().filter(|(lane, _)| lane.is_mail == is_mail).map(|(_, n)| n).sum();
        if all >= if is_mail { MAILS } else { REQUESTS } {
            return None;
        }
        let has_room = |lane: &&PageLane| {
            let most = if is_mail { MAILS } else { REQUESTS_OF_PAGE };
            lane.is_mail == is_mail && self.active.get(lane).is_none_or(|active| *active < most)
        };
        let last = self.last_pages.get(&is_mail).copied().unwrap_or(i64::MIN);
        let lanes = || self.waiting.keys().filter(has_room);
        lanes().find(|lane| lane.page > last).or_else(|| lanes().next()).copied()
    }

    /// Waits for an attempt to end, at most `longest` (but at least `GATHER`), and stores the results of the attempts
    /// that have ended.
    pub(super) async fn settle(&mut self, longest: Duration) -> Result<(), MainError> {
        let mut done = Vec::new();
        let mut until = Instant::now() + longest.max(GATHER);
        while done.len() < WRITE {
            if self.running.is_empty() {
                if done.is_empty() {
                    self.pool.close_idle().await;
                    tokio::time::sleep_until(until).await;
                }
                break;
            }
            let Ok(Some(ended)) = timeout_at(until, self.running.next()).await else { break };
            if done.is_empty() {
                until = until.min(Instant::now() + GATHER);
            }
            self.note_end(&ended);
            let is_mail = ended.lane.is_mail;
            done.push(ended);
            // The next message takes the place at once, without waiting for the commit.
            let now = self.courier.guard.now();
            if let Err(error) = self.start_next(is_mail, now).await {
                // What has been sent is not sent again because of this.
                self.write_down(&done).await?;
                return Err(error);
            }
        }
        if done.is_empty() { Ok(()) } else { self.write_down(&done).await }
    }

    /// Waits for the running attempts to end, and stores their results; starts no others.
    pub(super) async fn drain(&mut self) -> Result<(), MainError> {
        self.waiting.clear();
        while !self.running.is_empty() {
            self.settle(GATHER).await?;
        }
        Ok(())
    }

    /// Notes the end of an attempt: its place is free. Its key stays known until the result is stored.
    fn note_end(&mut self, ended: &FinishedMessage) {
        let now = self.courier.guard.now();
        self.courier.counters.note(ended.delivery.subscriber.channel, ended.report.outcome);
        if let Some(active) = self.active.get_mut(&ended.lane) {
            *active = active.saturating_sub(1);
        }
        self.active.retain(|_, active| *active > 0);
        if let Some(pass) = ended.pass {
            self.circuit.note_end(pass, sign_of(ended), now);
        }
    }

    async fn write_down(&mut self, done: &[FinishedMessage]) -> Result<(), MainError> {
        let now = self.courier.guard.now();
        let mut writes = 1;
        while let Err(error) = self.store(done, now).await {
            if writes == WRITES {
                return Err(error);
            }
            tracing::warn!(%error, "cannot store the outcome of messages to subscribers; retrying");
            tokio::time::sleep(WRITE_AGAIN).await;
            writes += 1;
        }
        for ended in done {
            self.known.remove(&ended.delivery.key);
        }
        Ok(())
    }

    async fn store(&self, done: &[FinishedMessage], now: Timestamp) -> Result<(), MainError> {
        let is_doubted = self.courier.guard.trusted_now().is_none();
        let records: Vec<AttemptRecord> = done.iter().map(|ended| record(ended, now, is_doubted)).collect();
        let transaction = self.courier.databases.main.begin().await?;
        subscriber_deliveries::store_attempts(&transaction, &records, now).await?;
        for ended in done {
            apply_change(&transaction, ended, now).await?;
        }
        transaction.commit().await
    }
}

/// Stores what an attempt changes for its subscriber.
async fn apply_change(
    transaction: &Transaction,
    ended: &FinishedMessage,
    now: Timestamp,
) -> Result<(), MainError> {
    let attempt = SubscriberAttempt {
        outcome: ended.report.outcome,
        owner: ended.report.owner,
        has_answer: ended.report.status_code.is_some(),
        detail: ended.report.detail.clone(),
    };
    let key = ended.delivery.subscriber.key;
    match change_after(&ended.delivery, ended.lane.is_mail, &attempt) {
        SubscriberChange::None => Ok(()),
        SubscriberChange::Activate => subscribers::activate(transaction, key, now).await,
        SubscriberChange::ForgetRefusals => subscribers::count_refusals(transaction, key, 0).await,
        SubscriberChange::CountRefusal(refusals) => {
            subscribers::count_refusals(transaction, key, refusals).await
        }
        SubscriberChange::Disable(reason) => {
            subscribers::disable(transaction, key, &reason).await?;
            subscriber_deliveries::give_up(transaction, key, now).await
        }
    }
}

/// The record of an attempt. While the time is not trusted nothing is given up.
fn record(ended: &FinishedMessage, now: Timestamp, is_doubted: bool) -> AttemptRecord {
    let FinishedMessage { delivery, report, .. } = ended;
    let tries = delivery.tries.saturating_add(1);
    let is_unconfirmed = report.outcome == DeliveryOutcome::Unconfirmed;
    let failed = FailedDelivery {
        number: tries,
        at: now,
        retry_after: report.retry_after,
        is_unconfirmed,
        jitter: chance(),
    };
    let expires_at = if is_doubted { now.plus_ms(i64::from(u32::MAX)) } else { delivery.expires_at };
    let next_at = match report.outcome {
        DeliveryOutcome::Failed | DeliveryOutcome::Unconfirmed => next_try(failed, expires_at),
        DeliveryOutcome::Delivered | DeliveryOutcome::Refused => None,
    };
    let status = match (report.outcome, next_at) {
        (DeliveryOutcome::Delivered, _) => DeliveryStatus::Delivered,
        (_, Some(_)) => DeliveryStatus::Waiting,
        (_, None) => DeliveryStatus::Dead,
    };
    AttemptRecord { key: delivery.key, status, tries, next_at, detail: report.detail.clone() }
}

/// Returns what an attempt says about the mail server.
fn sign_of(ended: &FinishedMessage) -> ChannelSign {
    let SendReport { outcome, owner, retry_after, .. } = &ended.report;
    match (outcome, owner) {
        (DeliveryOutcome::Delivered, _) => ChannelSign::Taken,
        (DeliveryOutcome::Failed, FaultOwner::Channel) => {
            ChannelSign::Failed { source: FailureSource::Channel, retry_after: *retry_after }
        }
        // A mailbox that refuses mails, or a mail that is refused, says nothing about the server.
        _ => ChannelSign::Nothing,
    }
}
