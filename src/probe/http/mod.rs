//! HTTP checks: one request, its redirects, and the judgement of the final response.
//!
//! Every hop is a new connection that passes the egress gate again. Only the status of a response and the facts that
//! conditions test leave this module; bodies and headers are never put into a text.

mod answer;
mod body_text;
mod bounded;
mod charset;
mod coding;
mod cookies;
mod driver;
mod exchange;
mod facts;
mod meter;
mod redirect;
mod request;
mod unanswered;

use std::time::Duration;

use tokio::time::Instant;

use crate::model::check::{ErrorCode, Failure, Outcome};
use crate::probe::attempt::Attempt;
use crate::probe::condition::Condition;
use crate::probe::connect::{dial, prove, route};
use crate::probe::judgement::Answered;
use crate::probe::link::Link;
use crate::probe::spec::HttpCheck;
use crate::probe::stop::Stop;
use crate::probe::tls::{HttpOffer, handshake, server_name};
use crate::probe::toolbox::Toolbox;
use answer::{Answer, Intake};
use coding::Refusal;
use facts::{HttpFacts, Reading};
use redirect::{Hop, Trail};
use unanswered::NoAnswer;

/// Time for decoding the rest of a body that was received until the end of the check's time.
const DECODING_TIME: Duration = Duration::from_millis(100);

pub(crate) async fn run(
    check: &HttpCheck,
    conditions: &[Condition],
    toolbox: &Toolbox,
    mut attempt: Attempt,
) -> Outcome {
    let wants_body = conditions.iter().any(Condition::needs_body);
    let visit =
        Visit { check, toolbox, intake: Intake { max_bytes: toolbox.body_max_bytes(), keeps: wants_body } };
    let mut trail = Trail::of(check);
    let visited = visit.follow(&mut trail, &mut attempt).await;
    let (answer, partial) = match visited {
        Ok(visited) => visited,
        Err(stop) => return stop.unless_lost(attempt.peer, toolbox.egress()).outcome(attempt.cut()),
    };
    let answered = Answered {
        response_time: attempt.response_time(),
        timings: attempt.answered(),
        status_code: Some(answer.status.as_u16()),
        partial,
    };
    let reading = Reading {
        is_json: conditions.iter().any(Condition::needs_json),
        windows: toolbox.decoding_windows(),
        deadline: attempt.deadline.max(Instant::now() + DECODING_TIME),
    };
    match HttpFacts::of(answer, &trail, answered.response_time, reading).await {
        Ok(facts) => answered.judge(conditions, &facts),
        Err(stop) => stop.outcome(attempt.answered()),
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::failed(ErrorCode::HttpProtocol, refusal.to_string())
    }
}

/// The parts of a check that are the same on every hop.
struct Visit<'a> {
    check: &'a HttpCheck,
    toolbox: &'a Toolbox,
    intake: Intake,
}

impl Visit<'_> {
    /// Follows redirects until a response is final. Only the target itself is tested on both address families.
    async fn follow(
        &self,
        trail: &mut Trail<'_>,
        attempt: &mut Attempt,
    ) -> Result<(Answer, Option<Failure>), Stop> {
        let (mut answer, partial) = self.ask_both(&trail.hop, attempt).await?;
        while let Some(next) = self.next(trail, &answer)? {
            trail.advance(next, &answer.headers)?;
            answer = self.ask(&trail.hop, attempt).await?;
        }
        Ok((answer, partial))
    }

    fn next<'b>(&self, trail: &Trail<'b>, answer: &Answer) -> Result<Option<Hop<'b>>, Stop> {
        if self.check.follow_redirects {
            trail.hop.redirected(answer.status, &answer.headers)
        } else {
            Ok(None)
        }
    }

    async fn ask_both(
        &self,
        hop: &Hop<'_>,
        attempt: &mut Attempt,
    ) -> Result<(Answer, Option<Failure>), Stop> {
        let (link, other) = self.open(hop, HttpOffer::Any, attempt).await?;
        let (talked, partial) = if other.is_none() {
            (self.talk(link, hop, attempt).await, None)
        } else {
            let proof = prove(other, self.toolbox, attempt.deadline);
            futures_util::future::join(self.talk(link, hop, attempt), proof).await
        };
        Ok((self.ask_again(talked, hop, attempt).await?, partial))
    }

    async fn ask(&self, hop: &Hop<'_>, attempt: &mut Attempt) -> Result<Answer, Stop> {
        let (link, _) = self.open(hop, HttpOffer::Any, attempt).await?;
        let talked = self.talk(link, hop, attempt).await;
        self.ask_again(talked, hop, attempt).await
    }

    /// Repeats a request that the server has not processed, over a new connection.
    async fn ask_again(
        &self,
        talked: Result<Answer, NoAnswer>,
        hop: &Hop<'_>,
        attempt: &mut Attempt,
    ) -> Result<Answer, Stop> {
        match talked {
            Ok(answer) => Ok(answer),
            Err(NoAnswer::Stopped(stop)) => Err(stop),
            Err(NoAnswer::Unprocessed { offer, .. }) => {
                let (link, _) = self.open(hop, offer, attempt).await?;
                self.talk(link, hop, attempt).await.map_err(NoAnswer::into_stop)
            }
        }
    }

    async fn open(
        &self,
        hop: &Hop<'_>,
        offer: HttpOffer,
        attempt: &mut Attempt,
    ) -> Result<(Link, Option<crate::probe::connect::Route>), Stop> {
        let (endpoint, addressing) = (&*hop.endpoint, self.check.addressing);
        let route = route(&endpoint.host, endpoint.port, addressing, self.toolbox, attempt).await?;
        let reached = dial(route, addressing, self.toolbox, attempt).await?;
        if !endpoint.tls {
            if !hop.body.is_empty() {
                // Head and body may be two writes.
                let unset = |error| Stop::broken(&error, ErrorCode::HttpProtocol);
                reached.stream.set_nodelay(true).map_err(unset)?;
            }
            return Ok((Link::Plain(reached.stream), reached.other));
        }
        let config = self.toolbox.tls().for_offer(self.check.verify_ssl, offer);
        let stream = handshake(reached.stream, server_name(&endpoint.host)?, config, attempt).await?;
        Ok((Link::Tls(Box::new(stream)), reached.other))
    }

    async fn talk(&self, link: Link, hop: &Hop<'_>, attempt: &mut Attempt) -> Result<Answer, NoAnswer> {
        let request = request::of(hop, link.is_http2(), self.intake.keeps)?;
        let follows = self.check.follow_redirects;
        let is_final =
            move |answer: &Answer| !(follows && redirect::points_elsewhere(answer.status, &answer.headers));
        exchange::exchange(link, request, self.intake, is_final, attempt).await
    }
}
