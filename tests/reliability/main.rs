//! Trouble that a real server must survive: killed again and again, its history away, its disk full, its actors dead, its
//! name servers silent, its log unread, its clock wrong, stopped in the middle of everything.
//!
//! Black box: a real process, real HTTP, and its numbers at `/metrics`. What needs PostgreSQL, a mount of its own or
//! strace says loudly when it cannot run; `WATCHKEEPER_TESTS_REQUIRE_POSTGRES=1`, `…_MOUNT=1`, `…_LOOP=1` and
//! `…_STRACE=1` make that a failure. `WATCHKEEPER_ENDURE=1` asks for the long forms.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod alert_simulation;
mod backups;
mod big_outages;
mod broken_log;
#[allow(dead_code, reason = "shared with the tests of the store, which use all of it")]
#[path = "../store/support/chance.rs"]
mod chance;
mod crowd;
mod cut_off;
mod dead_actor;
mod dead_resolver;
mod disk_full;
mod durable_answers;
mod edges;
mod ending;
mod escalations;
mod events;
mod failing_sync;
mod group_commit;
mod history_away;
mod isolation;
mod killed;
mod killed_page;
#[allow(dead_code, reason = "shared with the tests of the probe, which use all of it")]
#[path = "../probe/support/namespace.rs"]
mod namespace;
mod neighbours;
mod notifications;
mod open_pages;
mod pages_away;
mod power_cut;
mod restart;
mod slow_clients;
mod stored;
mod subscriber_facts;
#[allow(dead_code, reason = "shared with the tests of the API, which use all of it")]
#[path = "../api/support/mod.rs"]
mod support;
mod tracer;
mod wrong_clock;

/// Returns true when the long forms are enabled.
fn endures() -> bool {
    std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1")
}
