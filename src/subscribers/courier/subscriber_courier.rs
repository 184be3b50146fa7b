//! The parts with which messages are delivered to subscribers.

use std::sync::Arc;

use crate::clock::guard::ClockGuard;
use crate::config::Config;
use crate::model::secret::SecretSealer;
use crate::notify::carrier::MessageSender;
use crate::notify::message_hold::MessageHold;
use crate::store::Databases;
use crate::subscribers::counters::SubscriberCounters;

/// Delivers messages to subscribers of status pages.
#[derive(Clone, Debug)]
pub struct SubscriberCourier {
    /// The databases; the main one holds the queue.
    pub databases: Databases,
    /// Sends mails, and messages to addresses that clients of the API entered.
    pub sender: MessageSender,
    /// Sends messages to addresses that visitors entered, which must be public.
    pub visitors_sender: MessageSender,
    /// Opens the secrets of subscribers, and signs the tokens of links.
    pub sealer: SecretSealer,
    /// The settings: the mail server, and the addresses of pages.
    pub config: Arc<Config>,
    /// Guard of the wall clock: while the clock is not trusted, nothing is given up.
    pub guard: Arc<ClockGuard>,
    /// The hold after a restore: while it is active, no message is sent.
    pub hold: MessageHold,
    /// Numbers of messages, for `/metrics`.
    pub counters: Arc<SubscriberCounters>,
}
