//! Measuring this machine: what a check costs from its due time to its row on the disk, how punctual it is, and what the
//! API serves meanwhile.
//!
//! - [`probe`]: `watchkeeper bench probe`, the whole pipeline of the real engine and the real recorder.
//! - [`api`]: `watchkeeper bench api`, requests a second of the real server with checks beside.
//! - [`history`]: `watchkeeper bench history`, what results cost on the disk and how fast they are read.
//! - [`target`]: what is checked, in a process of its own, so that its work is not counted as ours.
//! - `floor`: the same exchange without us, in the same run: machines are noisy, ratios are less so.
//!
//! Nothing here is needed for watching. It uses what the floors below offer to everybody and has no way in of its own.

pub mod api;
mod figures;
mod floor;
mod folder;
pub mod history;
mod kind;
mod pipeline;
mod plan;
pub mod probe;
mod process;
mod report;
mod server;
pub mod target;
mod target_process;
mod usage;
