//! Engine nodes and locations that talk over NATS.
//!
//! Every test has a nats-server of its own: started from the installed program, with the configuration that
//! `watchkeeper nats-config` writes, on a free port, in a temporary folder. Without the program a test says so and passes,
//! unless `WATCHKEEPER_TESTS_REQUIRE_NATS=1`.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod answers;
mod bus;
mod chain;
mod connections;
mod cut_off;
mod definition_bucket;
mod deliveries;
mod impaired;
mod locations;
#[allow(dead_code, reason = "shared with the tests of the probe, which use all of it")]
#[path = "../probe/support/namespace.rs"]
mod namespace;
mod nats_config;
mod nodes;
mod refusals;
mod rogue_location;
mod serve;
mod streams;
#[allow(dead_code, reason = "shared with the tests of the API, which use all of it")]
#[path = "../api/support/mod.rs"]
mod support;
mod wrong_clocks;
