//! Probes: `run(&CheckSpec, &Toolbox) -> CheckOutcome` runs one attempt of a check.
//!
//! A probe is a function that never returns an error: a failing target is a `CheckOutcome`. Probes keep no
//! schedule, retry nothing and store nothing.

mod abort;
mod attempt;
mod canary;
pub mod catalogue;
mod certificate_flaw;
pub mod compile;
pub mod condition;
mod connect;
mod decimal;
mod der;
mod dns;
pub mod domain_check;
pub mod endpoint;
pub mod fact;
pub mod finding;
pub mod header;
mod http;
mod icmp;
mod issuers;
pub mod json_path;
mod json_scan;
pub mod json_text;
mod judgement;
mod link;
mod local_target;
pub mod operator;
mod pinger;
pub mod prober;
pub mod references;
pub mod resolver;
mod rsa_keys;
mod signatures;
mod silence;
pub mod spec;
mod ssl;
mod stalls;
pub mod target;
mod tcp;
mod text_search;
mod tls;
pub mod toolbox;
mod toolbox_error;
mod trust;

pub use icmp::ECHO_REQUESTS;
pub use pinger::is_permitted as may_ping;

use crate::model::check::CheckOutcome;
use attempt::RunningAttempt;
use finding::CheckFinding;
use spec::{CheckKind, CheckSpec};
use toolbox::Toolbox;

/// Runs one attempt of a check. Ends within about `spec.timeout`; never panics on data of a target. Runs on any
/// tokio runtime with IO and time, including a current-thread one.
pub async fn run(spec: &CheckSpec, toolbox: &Toolbox) -> CheckOutcome {
    let attempt = RunningAttempt::start(spec.timeout);
    let conditions = &spec.conditions;
    match &spec.kind {
        CheckKind::Http(check) => http::run(check, conditions, toolbox, attempt).await,
        CheckKind::Tcp(check) => tcp::run(check, conditions, toolbox, attempt).await,
        CheckKind::Ssl(check) => ssl::run(check, conditions, toolbox, attempt).await,
        CheckKind::Dns(check) => dns::run(check, conditions, toolbox, attempt).await,
        CheckKind::Icmp(check) => icmp::run(check, conditions, toolbox, attempt).await,
    }
}

/// Runs one attempt, and also returns its findings for the types `ssl` and `dns`. For other types the list is
/// empty.
pub async fn inspect(spec: &CheckSpec, toolbox: &Toolbox) -> (CheckOutcome, Vec<CheckFinding>) {
    let attempt = RunningAttempt::start(spec.timeout);
    let conditions = &spec.conditions;
    match &spec.kind {
        CheckKind::Ssl(check) => {
            let (outcome, facts) = ssl::examine(check, conditions, toolbox, attempt).await;
            (outcome, facts.as_ref().map(CheckFinding::all_of).unwrap_or_default())
        }
        CheckKind::Dns(check) => {
            let (outcome, facts) = dns::examine(check, conditions, toolbox, attempt).await;
            (outcome, facts.as_ref().map(CheckFinding::all_of).unwrap_or_default())
        }
        _ => (run(spec, toolbox).await, Vec::new()),
    }
}
