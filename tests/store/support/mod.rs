//! Shared code of the store tests: the two kinds of databases, rows to store, and reproducible random numbers.

pub(crate) mod backend;
pub(crate) mod chance;
#[path = "../../api/support/name_server.rs"]
pub(crate) mod name_server;
pub(crate) mod planned;
#[allow(dead_code, reason = "shared with the tests of the API, which use all of it")]
#[path = "../../api/support/postgres.rs"]
pub(crate) mod postgres;
pub(crate) mod rows;

pub(crate) use backend::{Backend, Place};
