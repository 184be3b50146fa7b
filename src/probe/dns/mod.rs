//! DNS checks: one uncached question to the location's name servers.
//!
//! Nothing is cached and no alias is followed: the server's answer is judged as it is. The servers are the operator's
//! own (configured, or the system's), never named by a service; so they do not pass the egress gate, which would forbid
//! a resolver on the loopback.

mod exchange;
mod question;
mod records;

use std::io::ErrorKind;
use std::net::SocketAddr;

use hickory_proto::op::{Message, ResponseCode};
use tokio::time::{Instant, timeout_at};

use crate::egress::local_fault;
use crate::model::check::{CheckFailure, CheckOutcome, ErrorCode, LocalFault};
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::{AttemptPhase, RunningAttempt};
use crate::probe::condition::DecidingConditions;
use crate::probe::condition::report::CheckConditions;
use crate::probe::judgement::AnswerMeasurement;
use crate::probe::resolver::UNREADABLE;
use crate::probe::spec::DnsCheck;
use crate::probe::toolbox::Toolbox;
use exchange::exchange;
use question::{DnsQuestion, code_name};
use records::DnsFacts;

pub(crate) use records::{aliases, texts};

/// Asks the question and judges the answer.
pub(crate) async fn run(
    check: &DnsCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    attempt: RunningAttempt,
) -> CheckOutcome {
    examine(check, conditions, toolbox, attempt).await.0
}

/// Runs the check and also returns the facts of the answer; `None` if no answer says that the name exists.
pub(crate) async fn examine(
    check: &DnsCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    mut attempt: RunningAttempt,
) -> (CheckOutcome, Option<DnsFacts>) {
    let message = match answer(check, toolbox, &attempt).await {
        Ok(message) => message,
        Err(stop) => return (stop.outcome(attempt.timings_until_now()), None),
    };
    attempt.finish(AttemptPhase::Dns);
    if message.metadata.response_code == ResponseCode::NXDomain {
        let stop = ProbeAbort::failed(ErrorCode::DnsNxdomain, "The name does not exist");
        return (stop.outcome(attempt.answered()), None);
    }
    let response_time = attempt.response_time();
    let answered =
        AnswerMeasurement { response_time, timings: attempt.answered(), status_code: None, partial: None };
    let facts = DnsFacts::read(check, &message, response_time);
    let outcome = answered.judge(conditions, &facts);
    let outcome = match DecidingConditions::of(conditions.all, &facts).worst {
        Some(condition) if facts.counts_none(condition) => without_records(outcome, check),
        _ => outcome,
    };
    (outcome, Some(facts))
}

/// Uses the error code for missing records instead of `condition_failed` when a condition `*_count eq 0` (the default
/// one) is met. The status remains that of the condition.
fn without_records(outcome: CheckOutcome, check: &DnsCheck) -> CheckOutcome {
    let CheckOutcome::Measured(mut measurement) = outcome else {
        return outcome;
    };
    let message = format!("The name has no {} record", check.record.as_str());
    measurement.failure = Some(Box::new(CheckFailure::new(ErrorCode::DnsNoRecords, message)));
    CheckOutcome::Measured(measurement)
}

/// Returns the first server's answer that says whether the name exists.
async fn answer(
    check: &DnsCheck,
    toolbox: &Toolbox,
    attempt: &RunningAttempt,
) -> Result<Message, ProbeAbort> {
    let resolver = toolbox.resolver();
    let question = DnsQuestion::about(check)
        .ok_or_else(|| ProbeAbort::failed(ErrorCode::DnsNxdomain, "The name cannot be asked for"))?;
    let asked = async {
        let mut losses = NameServerFailures::default();
        match ask_in_turn(&question, toolbox, attempt.deadline, &mut losses).await {
            Some(message) => Some(Ok(message)),
            None => losses.verdict().map(Err),
        }
    };
    resolver.await_answer(|| vec![question.bytes().to_vec()], attempt.deadline, asked).await?
}

/// The result of one question outside of a check.
pub(crate) enum DnsLookupOutcome {
    /// An answer that says whether the name exists.
    Answer(Box<Message>),
    /// Servers answered, but none decisively. Holds the response code of the last one.
    Refusal(ResponseCode),
    /// No server answered, or none could be asked.
    Silence,
}

/// Asks the location's name servers one question. With `unvalidated`, invalid signatures are ignored.
pub(crate) async fn ask(
    check: &DnsCheck,
    unvalidated: bool,
    toolbox: &Toolbox,
    deadline: Instant,
) -> DnsLookupOutcome {
    let question = if unvalidated { DnsQuestion::unvalidated(check) } else { DnsQuestion::about(check) };
    let Some(question) = question else { return DnsLookupOutcome::Silence };
    let mut losses = NameServerFailures::default();
    match ask_in_turn(&question, toolbox, deadline, &mut losses).await {
        Some(message) => DnsLookupOutcome::Answer(Box::new(message)),
        None => losses.refusal.map_or(DnsLookupOutcome::Silence, DnsLookupOutcome::Refusal),
    }
}

/// Asks the servers in their order, each for its share of the remaining time; the next one is asked at once when a
/// server refuses or cannot be reached.
async fn ask_in_turn(
    question: &DnsQuestion,
    toolbox: &Toolbox,
    deadline: Instant,
    losses: &mut NameServerFailures,
) -> Option<Message> {
    let servers = toolbox.resolver().servers();
    let mut left = u32::try_from(servers.len()).unwrap_or(u32::MAX);
    for server in servers.iter() {
        let now = Instant::now();
        let share_end = now + deadline.saturating_duration_since(now) / left;
        left -= 1;
        let source = toolbox.egress().source_for(server.ip());
        let asked = exchange(question, *server, source.map(|ip| SocketAddr::new(ip, 0)));
        match timeout_at(share_end, asked).await {
            Ok(Ok(message)) => match message.metadata.response_code {
                ResponseCode::NoError | ResponseCode::NXDomain => return Some(message),
                code => losses.refusal = Some(code),
            },
            Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => losses.has_unreadable = true,
            Ok(Err(error)) => losses.trouble = losses.trouble.or(local_fault(&error)),
            Err(_elapsed) => {}
        }
    }
    None
}

/// The reasons why no server gave a decisive answer. An answer of any kind takes precedence over trouble of
/// this process with another server. Without any reason, all servers were silent.
#[derive(Debug, Default)]
struct NameServerFailures {
    refusal: Option<ResponseCode>,
    has_unreadable: bool,
    trouble: Option<LocalFault>,
}

impl NameServerFailures {
    fn verdict(&self) -> Option<ProbeAbort> {
        match (self.refusal, self.trouble) {
            (None, _) if self.has_unreadable => Some(ProbeAbort::failed(ErrorCode::DnsServfail, UNREADABLE)),
            (Some(code), _) => {
                let message = format!("The name server answered: {}", code_name(code));
                Some(ProbeAbort::failed(ErrorCode::DnsServfail, message))
            }
            (None, Some(trouble)) => Some(ProbeAbort::Trouble(trouble)),
            (None, None) => None,
        }
    }
}
