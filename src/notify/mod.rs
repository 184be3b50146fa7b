//! Telling others what happens here.
//!
//! - `watchdog`: a ping that leaves as long as everything works, so that another system notices when it does not

pub mod watchdog;
