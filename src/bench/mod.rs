//! Measures this machine: the cost of a check from its due time to its row on the disk, its punctuality, and the
//! requests that the API serves meanwhile.
//!
//! - [`probe`]: `watchkeeper bench probe`, the whole pipeline of the real engine and the real recorder.
//! - [`api`]: `watchkeeper bench api`, requests per second of the real server while it makes checks.
//! - [`page`]: `watchkeeper bench page`, visitors of a status page.
//! - [`console`]: `watchkeeper bench console`, the console with many services.
//! - [`history`]: `watchkeeper bench history`, the cost of results on the disk and the speed of reading them.
//! - [`target`]: the checked target, in its own process, so that its CPU time is not counted.
//! - `floor`: the same exchange without Watchkeeper, in the same run, for ratios.
//!
//! Monitoring does not depend on this module. It uses only public interfaces of the layers below.

pub mod api;
pub mod console;
mod crowd;
mod figures;
mod floor;
mod folder;
pub mod history;
mod kind;
pub mod page;
mod pipeline;
mod plan;
pub mod probe;
mod process;
mod report;
mod response;
mod server;
mod service_creation;
pub mod target;
mod target_process;
mod usage;
