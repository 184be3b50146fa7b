//! Trouble that a real server must survive: killed again and again, its history away, its disk full, its clock wrong.
//!
//! Black box: a real process, real HTTP, and its numbers at `/metrics`. What needs PostgreSQL or a mount of its own says
//! loudly when it cannot run; `WATCHKEEPER_TESTS_REQUIRE_POSTGRES=1` and `WATCHKEEPER_TESTS_REQUIRE_MOUNT=1` make that a failure.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod crowd;
mod disk_full;
mod history_away;
mod killed;
#[allow(dead_code, reason = "shared with the tests of the API, which use all of it")]
#[path = "../api/support/mod.rs"]
mod support;
mod wrong_clock;
