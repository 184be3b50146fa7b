//! Telling others what happens here.
//!
//! - `kinds`: what each kind of channel wants to be told, and how; one file a kind
//! - `sealed`: the secrets of channels
//! - `template`: the language of templates that people write
//! - `composer`: makes requests of messages, away from the engine's thread where that may take long
//! - `carrier`: carries one message to one channel, once
//! - `courier`: takes what is due from the outbox and writes down what came of it; `circuit_breaker`: spares
//!   a channel that takes nothing
//! - `mail`: the conversation with a mail server
//! - `message_hold`: keeps messages back in a data folder that was restored from a backup
//! - `mask`: keeps secrets out of what is shown
//! - `watchdog`: a ping that leaves as long as everything works, so that another system notices when it does not

pub mod carrier;
pub mod circuit_breaker;
pub mod composer;
pub mod counters;
pub mod courier;
pub mod kinds;
mod mail;
mod mask;
pub mod message_hold;
pub mod sealed;
pub mod template;
pub mod template_notice;
pub mod watchdog;
