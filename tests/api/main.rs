//! The API as its clients see it: the real binary, real HTTP, real targets; one file a noun of the API.
//!
//! Each file says first what works, then what is refused. Sections in doc comments are those of the API contract.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod checks;
mod operation;
mod secrets;
mod services;
mod settings;
mod support;
