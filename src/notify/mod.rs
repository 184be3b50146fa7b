//! Telling others what happens here.
//!
//! - `carrier`: carries one message to one channel, once
//! - `kinds`: what each kind of channel wants to be told, and how; one file a kind
//! - `watchdog`: a ping that leaves as long as everything works, so that another system notices when it does not

pub mod carrier;
pub mod kinds;
pub mod watchdog;
