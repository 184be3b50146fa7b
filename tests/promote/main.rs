//! `watchkeeper promote`, black box: the real binary, a filled installation, a private PostgreSQL.
//!
//! An installation is filled through the API and by an import, stopped, moved, and asked the same questions again. Without
//! PostgreSQL it says so and passes, unless `WATCHKEEPER_TESTS_REQUIRE_POSTGRES=1`.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod database;
mod ended;
mod filled;
mod killed;
mod moved;
mod refused;
#[allow(dead_code, reason = "shared with the tests of the API, which use all of it")]
#[path = "../api/support/mod.rs"]
mod support;
