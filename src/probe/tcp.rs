//! TCP checks: an opened connection means up.
//!
//! Nothing is sent or read. The connection is closed by reset, so that thousands of checks leave no ports behind.

use crate::model::check::{CheckOutcome, Micros};
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::RunningAttempt;
use crate::probe::condition::report::CheckConditions;
use crate::probe::connect::{OpenConnection, check_other_family, dial, route};
use crate::probe::fact::{Fact, FactSource};
use crate::probe::judgement::{AnswerMeasurement, milliseconds};
use crate::probe::spec::TcpCheck;
use crate::probe::toolbox::Toolbox;

pub(crate) async fn run(
    check: &TcpCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    mut attempt: RunningAttempt,
) -> CheckOutcome {
    match reach(check, toolbox, &mut attempt).await {
        Err(stop) => stop.outcome(attempt.timings_until_now()),
        Ok((reached, resolved)) => {
            crate::egress::close_by_reset(&reached.stream);
            drop(reached.stream);
            let response_time = attempt.response_time();
            let answered = AnswerMeasurement {
                response_time,
                timings: attempt.answered(),
                status_code: None,
                partial: check_other_family(reached.other, toolbox, attempt.deadline).await,
            };
            answered.judge(conditions, &TcpFacts { response_time, resolved })
        }
    }
}

async fn reach(
    check: &TcpCheck,
    toolbox: &Toolbox,
    attempt: &mut RunningAttempt,
) -> Result<(OpenConnection, usize), ProbeAbort> {
    let route = route(&check.host, check.port, check.addressing, toolbox, attempt).await?;
    let resolved = route.resolved;
    let reached = dial(route, check.addressing, toolbox, attempt).await?;
    Ok((reached, resolved))
}

struct TcpFacts {
    response_time: Micros,
    resolved: usize,
}

impl FactSource for TcpFacts {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => Some(milliseconds(self.response_time)),
            Fact::ResolvedIpCount => u32::try_from(self.resolved).ok().map(f64::from),
            _ => None,
        }
    }
}
