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

use std::sync::OnceLock;

use crate::model::check::CheckOutcome;
use attempt::RunningAttempt;
use condition::ConditionReport;
use condition::report::CheckConditions;
use finding::CheckFinding;
use spec::{CheckKind, CheckSpec};
use toolbox::Toolbox;

/// What one attempt of a check shows to people.
#[derive(Clone, Debug)]
pub struct CheckInspection {
    /// The outcome of the attempt, as for every check.
    pub outcome: CheckOutcome,
    /// The findings, for the types `ssl` and `dns`; empty for other types.
    pub findings: Vec<CheckFinding>,
    /// What each condition says, in their order; empty if the target did not answer.
    pub conditions: Vec<ConditionReport>,
}

/// Runs one attempt of a check. Ends within about `spec.timeout`; never panics on data of a target. Runs on any
/// tokio runtime with IO and time, including a current-thread one.
pub async fn run(spec: &CheckSpec, toolbox: &Toolbox) -> CheckOutcome {
    run_with(spec, toolbox, None).await
}

async fn run_with(
    spec: &CheckSpec,
    toolbox: &Toolbox,
    reports: Option<&OnceLock<Vec<ConditionReport>>>,
) -> CheckOutcome {
    let attempt = RunningAttempt::start(spec.timeout);
    let conditions = CheckConditions { all: &spec.conditions, reports };
    match &spec.kind {
        CheckKind::Http(check) => http::run(check, conditions, toolbox, attempt).await,
        CheckKind::Tcp(check) => tcp::run(check, conditions, toolbox, attempt).await,
        CheckKind::Ssl(check) => ssl::run(check, conditions, toolbox, attempt).await,
        CheckKind::Dns(check) => dns::run(check, conditions, toolbox, attempt).await,
        CheckKind::Icmp(check) => icmp::run(check, conditions, toolbox, attempt).await,
    }
}

/// Runs one attempt as [`run`] does, and also returns what it found and what each condition says.
pub async fn inspect(spec: &CheckSpec, toolbox: &Toolbox) -> CheckInspection {
    let reports = OnceLock::new();
    let attempt = RunningAttempt::start(spec.timeout);
    let conditions = CheckConditions { all: &spec.conditions, reports: Some(&reports) };
    let (outcome, findings) = match &spec.kind {
        CheckKind::Ssl(check) => {
            let (outcome, facts) = ssl::examine(check, conditions, toolbox, attempt).await;
            (outcome, facts.as_ref().map(CheckFinding::all_of).unwrap_or_default())
        }
        CheckKind::Dns(check) => {
            let (outcome, facts) = dns::examine(check, conditions, toolbox, attempt).await;
            (outcome, facts.as_ref().map(CheckFinding::all_of).unwrap_or_default())
        }
        _ => (run_with(spec, toolbox, Some(&reports)).await, Vec::new()),
    };
    CheckInspection { outcome, findings, conditions: reports.into_inner().unwrap_or_default() }
}
