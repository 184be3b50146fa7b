//! TCP checks: an opened connection means up.
//!
//! Nothing is sent or read. The connection is closed by reset, so that thousands of checks leave no ports behind.

use crate::model::check::{Micros, Outcome};
use crate::probe::attempt::Attempt;
use crate::probe::condition::Condition;
use crate::probe::connect::{Reached, dial, prove, route};
use crate::probe::fact::{Fact, Facts};
use crate::probe::judgement::{Answered, milliseconds};
use crate::probe::spec::TcpCheck;
use crate::probe::stop::Stop;
use crate::probe::toolbox::Toolbox;

pub(crate) async fn run(
    check: &TcpCheck,
    conditions: &[Condition],
    toolbox: &Toolbox,
    mut attempt: Attempt,
) -> Outcome {
    match reach(check, toolbox, &mut attempt).await {
        Err(stop) => stop.outcome(attempt.cut()),
        Ok((reached, resolved)) => {
            crate::egress::close_by_reset(&reached.stream);
            drop(reached.stream);
            let response_time = attempt.response_time();
            let answered = Answered {
                response_time,
                timings: attempt.answered(),
                status_code: None,
                partial: prove(reached.other, toolbox, attempt.deadline).await,
            };
            answered.judge(conditions, &TcpFacts { response_time, resolved })
        }
    }
}

async fn reach(check: &TcpCheck, toolbox: &Toolbox, attempt: &mut Attempt) -> Result<(Reached, usize), Stop> {
    let route = route(&check.host, check.port, check.addressing, toolbox, attempt).await?;
    let resolved = route.resolved;
    let reached = dial(route, check.addressing, toolbox, attempt).await?;
    Ok((reached, resolved))
}

struct TcpFacts {
    response_time: Micros,
    resolved: usize,
}

impl Facts for TcpFacts {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => Some(milliseconds(self.response_time)),
            Fact::ResolvedIpCount => u32::try_from(self.resolved).ok().map(f64::from),
            _ => None,
        }
    }
}
