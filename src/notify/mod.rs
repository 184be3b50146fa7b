//! Notifications: messages to channels about events of the installation.
//!
//! - `kinds`: the settings and the request format of each kind of channel; one file per kind
//! - `sealed`: the secrets of channels
//! - `template`: the language of custom templates
//! - `composer`: creates requests of messages; custom templates are filled on a thread of their own
//! - `carrier`: sends one message to one channel, once
//! - `courier`: takes due messages from the outbox and stores the results; `circuit_breaker`: spares a channel that accepts
//!   nothing
//! - `mail`: the conversation with a mail server, for one mail or for several
//! - `message_hold`: holds messages back in a data folder that was restored from a backup
//! - `queue_poll`: when a queue of messages is read again
//! - `mask`: masks secrets in shown texts
//! - `watchdog`: a ping that is sent as long as everything works, so that another system notices a failure

pub mod carrier;
pub mod circuit_breaker;
pub mod composer;
pub mod counters;
pub mod courier;
pub mod kinds;
pub mod mail;
mod mask;
pub mod message_hold;
pub mod queue_poll;
pub mod sealed;
pub mod template;
pub mod template_notice;
pub mod watchdog;
