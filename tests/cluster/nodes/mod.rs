//! Several engine nodes share the services: each is checked by one of them, whichever of them lives, and any of them
//! answers for all.
//!
//! Every test has a nats-server, a PostgreSQL, up to three `watchkeeper serve` and a website of its own. The long forms are
//! run with `WATCHKEEPER_ENDURE=1`.

mod alone;
mod any_node;
mod bus_crashes;
mod certificates;
mod console;
mod cut_off_node;
mod dependencies;
mod events;
mod frozen;
mod heartbeats;
mod killed;
mod maintenances;
mod notices;
mod operators;
mod outages;
mod partitions;
mod rate_limit;
mod scene;
mod share;
mod terminated;
mod upgraded;

use std::time::Duration;

/// Until partitions are shared evenly after a node has joined.
pub(crate) const JOINED: Duration = Duration::from_secs(15);
/// Until others own the partitions of a node that was stopped.
const LEFT: Duration = Duration::from_secs(2);
/// Until others own the partitions of a node that has died or is frozen.
pub(crate) const TAKEN_OVER: Duration = Duration::from_secs(15);
/// Until a change that any node has taken is in force at the owner.
const IN_FORCE: Duration = Duration::from_secs(2);

/// Returns true when the long forms are enabled.
pub(crate) fn endures() -> bool {
    std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1")
}

/// The rate set for a long form.
pub(crate) fn checks_per_second() -> Option<usize> {
    std::env::var("WATCHKEEPER_TESTS_CHECKS_PER_SECOND").ok().and_then(|rate| rate.parse().ok())
}

/// A time in milliseconds.
fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap()
}
