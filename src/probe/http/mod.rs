//! HTTP checks: one request, its redirects, and the judgement of the final response.
//!
//! Every hop is a new connection that passes the egress gate again. Only the status of a response and the facts that
//! conditions test leave this module; bodies and headers are never put into a text.

mod answer;
mod body_text;
mod bounded_buffer;
mod charset;
mod coding;
mod cookies;
mod driver;
mod exchange;
mod facts;
mod no_answer;
mod redirect;
mod request;
mod timed_connection;

use std::time::Duration;

use tokio::time::Instant;

use crate::model::check::{CheckFailure, CheckOutcome, ErrorCode};
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::RunningAttempt;
use crate::probe::condition::Condition;
use crate::probe::condition::report::CheckConditions;
use crate::probe::connect::{check_other_family, dial, route};
use crate::probe::judgement::AnswerMeasurement;
use crate::probe::link::ProbeConnection;
use crate::probe::spec::HttpCheck;
use crate::probe::tls::{HttpOffer, handshake, server_name};
use crate::probe::toolbox::Toolbox;
use answer::{BodyIntake, HttpCheckResponse};
use coding::DecodingError;
use facts::{BodyReadOptions, HttpFacts};
use no_answer::NoAnswer;
use redirect::{RedirectHop, RedirectTrail};

/// Minimum time for decoding, even if the body was received only just before the deadline.
const DECODING_TIME: Duration = Duration::from_millis(100);

pub(crate) async fn run(
    check: &HttpCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    mut attempt: RunningAttempt,
) -> CheckOutcome {
    let wants_body = conditions.all.iter().any(Condition::needs_body);
    let visit = HttpCheckContext {
        check,
        toolbox,
        intake: BodyIntake { max_bytes: toolbox.body_max_bytes(), keeps: wants_body },
    };
    let mut trail = RedirectTrail::of(check);
    let visited = visit.follow(&mut trail, &mut attempt).await;
    let (answer, partial) = match visited {
        Ok(visited) => visited,
        Err(stop) => {
            return stop.unless_lost(attempt.peer, toolbox.egress()).outcome(attempt.timings_until_now());
        }
    };
    let answered = AnswerMeasurement {
        response_time: attempt.response_time(),
        timings: attempt.answered(),
        status_code: Some(answer.status.as_u16()),
        partial,
    };
    let reading = BodyReadOptions {
        is_json: conditions.all.iter().any(Condition::needs_json),
        windows: toolbox.decoding_windows(),
        deadline: attempt.deadline.max(Instant::now() + DECODING_TIME),
    };
    match HttpFacts::of(answer, &trail, answered.response_time, reading).await {
        Ok(facts) => answered.judge(conditions, &facts),
        Err(stop) => stop.outcome(attempt.answered()),
    }
}

impl From<DecodingError> for ProbeAbort {
    fn from(refusal: DecodingError) -> Self {
        Self::failed(ErrorCode::HttpProtocol, refusal.to_string())
    }
}

/// The parts of a check that are the same on every hop.
struct HttpCheckContext<'a> {
    check: &'a HttpCheck,
    toolbox: &'a Toolbox,
    intake: BodyIntake,
}

impl HttpCheckContext<'_> {
    /// Follows redirects until a response is final. Only the target itself is tested on both address families.
    async fn follow(
        &self,
        trail: &mut RedirectTrail<'_>,
        attempt: &mut RunningAttempt,
    ) -> Result<(HttpCheckResponse, Option<CheckFailure>), ProbeAbort> {
        let (mut answer, partial) = self.ask_both(&trail.hop, attempt).await?;
        while let Some(next) = self.next(trail, &answer)? {
            trail.advance(next, &answer.headers)?;
            answer = self.ask(&trail.hop, attempt).await?;
        }
        Ok((answer, partial))
    }

    fn next<'b>(
        &self,
        trail: &RedirectTrail<'b>,
        answer: &HttpCheckResponse,
    ) -> Result<Option<RedirectHop<'b>>, ProbeAbort> {
        if self.check.follow_redirects {
            trail.hop.redirected(answer.status, &answer.headers)
        } else {
            Ok(None)
        }
    }

    async fn ask_both(
        &self,
        hop: &RedirectHop<'_>,
        attempt: &mut RunningAttempt,
    ) -> Result<(HttpCheckResponse, Option<CheckFailure>), ProbeAbort> {
        let (link, other) = self.open(hop, HttpOffer::Any, attempt).await?;
        let (talked, partial) = if other.is_none() {
            (self.talk(link, hop, attempt).await, None)
        } else {
            let proof = check_other_family(other, self.toolbox, attempt.deadline);
            futures_util::future::join(self.talk(link, hop, attempt), proof).await
        };
        Ok((self.ask_again(talked, hop, attempt).await?, partial))
    }

    async fn ask(
        &self,
        hop: &RedirectHop<'_>,
        attempt: &mut RunningAttempt,
    ) -> Result<HttpCheckResponse, ProbeAbort> {
        let (link, _) = self.open(hop, HttpOffer::Any, attempt).await?;
        let talked = self.talk(link, hop, attempt).await;
        self.ask_again(talked, hop, attempt).await
    }

    /// Repeats a request that the server has not processed, over a new connection.
    async fn ask_again(
        &self,
        talked: Result<HttpCheckResponse, NoAnswer>,
        hop: &RedirectHop<'_>,
        attempt: &mut RunningAttempt,
    ) -> Result<HttpCheckResponse, ProbeAbort> {
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
        hop: &RedirectHop<'_>,
        offer: HttpOffer,
        attempt: &mut RunningAttempt,
    ) -> Result<(ProbeConnection, Option<crate::probe::connect::DialRoute>), ProbeAbort> {
        let (endpoint, addressing) = (&*hop.endpoint, self.check.addressing);
        let route = route(&endpoint.host, endpoint.port, addressing, self.toolbox, attempt).await?;
        let reached = dial(route, addressing, self.toolbox, attempt).await?;
        if !endpoint.tls {
            if !hop.body.is_empty() {
                // Head and body may be two writes; the second one must not be delayed.
                let unset = |error| ProbeAbort::broken(&error, ErrorCode::HttpProtocol);
                reached.stream.set_nodelay(true).map_err(unset)?;
            }
            return Ok((ProbeConnection::Plain(reached.stream), reached.other));
        }
        let config = self.toolbox.tls().for_offer(self.check.verify_ssl, offer);
        let stream = handshake(reached.stream, server_name(&endpoint.host)?, config, attempt).await?;
        Ok((ProbeConnection::Tls(Box::new(stream)), reached.other))
    }

    async fn talk(
        &self,
        link: ProbeConnection,
        hop: &RedirectHop<'_>,
        attempt: &mut RunningAttempt,
    ) -> Result<HttpCheckResponse, NoAnswer> {
        let request = request::of(hop, link.is_http2(), self.intake.keeps)?;
        let follows = self.check.follow_redirects;
        let is_final = move |answer: &HttpCheckResponse| {
            !(follows && redirect::is_redirect(answer.status, &answer.headers))
        };
        exchange::exchange(link, request, self.intake, is_final, attempt).await
    }
}
