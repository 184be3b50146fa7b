//! One request and its response over an open connection, HTTP/1.1 or HTTP/2.
//!
//! The head of a response is parsed as in browsers. Errors are interpreted by `no_answer`.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::time::timeout_at;

use crate::egress::{HEAD_MAX_BYTES, HEAD_MAX_LINES, LenientStream};
use crate::model::check::ErrorCode;
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::RunningAttempt;
use crate::probe::http::answer::{BodyIntake, HttpCheckResponse, ReceivedBody};
use crate::probe::http::driver::{ConnectionDriver, ConnectionTasks};
use crate::probe::http::no_answer::{NoAnswer, abort_from};
use crate::probe::http::timed_connection::{ExchangeTimestamps, TimedConnection};
use crate::probe::link::ProbeConnection;

/// HTTP/2 flow-control window: number of bytes that a server may send before the check has read them.
const WINDOW_BYTES: u32 = 256 * 1024;

/// Sends a request and receives the response, until the attempt's deadline. The body is read only if `is_final`
/// returns true for the response.
pub(super) async fn exchange(
    link: ProbeConnection,
    request: Request<Full<Bytes>>,
    intake: BodyIntake,
    is_final: impl Fn(&HttpCheckResponse) -> bool,
    attempt: &mut RunningAttempt,
) -> Result<HttpCheckResponse, NoAnswer> {
    let stamps = Arc::new(ExchangeTimestamps::new());
    let is_http2 = link.is_http2();
    let meter = TimedConnection::new(link, stamps.clone());
    let conversation = HttpExchange { stamps, intake, is_final, attempt };
    if is_http2 {
        let chores = ConnectionTasks::default();
        let (mut sender, connection) =
            http2_settings(&chores).handshake(TokioIo::new(meter)).await.map_err(|e| abort_from(&e))?;
        conversation.talk(ConnectionDriver::new(connection, Some(chores)), sender.send_request(request)).await
    } else {
        let (mut sender, connection) = http1_settings()
            .handshake(TokioIo::new(LenientStream::new(meter)))
            .await
            .map_err(|e| abort_from(&e))?;
        conversation.talk(ConnectionDriver::new(connection, None), sender.send_request(request)).await
    }
}

struct HttpExchange<'a, F> {
    stamps: Arc<ExchangeTimestamps>,
    intake: BodyIntake,
    is_final: F,
    attempt: &'a mut RunningAttempt,
}

impl<F: Fn(&HttpCheckResponse) -> bool> HttpExchange<'_, F> {
    async fn talk<C: Future<Output = hyper::Result<()>> + Unpin>(
        self,
        mut driver: ConnectionDriver<C>,
        response: impl Future<Output = hyper::Result<Response<Incoming>>>,
    ) -> Result<HttpCheckResponse, NoAnswer> {
        let deadline = self.attempt.deadline;
        let responded = timeout_at(deadline, driver.until(response)).await;
        let has_begun = self.stamps.response();
        if let Some((sent, first_byte)) = has_begun {
            self.attempt.responded(sent, first_byte);
        }
        let responded = responded.map_err(|_elapsed| too_late(has_begun.is_some()))?;
        let (head, body) = responded.map_err(|error| NoAnswer::of(&error))?.into_parts();
        let mut answer = HttpCheckResponse {
            status: head.status,
            version: head.version,
            headers: head.headers,
            body: ReceivedBody::default(),
        };
        let mut is_complete = true;
        if (self.is_final)(&answer) {
            let mut received = ReceivedBody::begin(&answer.headers, self.intake).map_err(ProbeAbort::from)?;
            let reading = take_in(&mut driver, body, &mut received, self.intake);
            match timeout_at(deadline, reading).await {
                Ok(read) => read?,
                Err(_elapsed) => is_complete = false,
            }
            answer.body = received;
        }
        if is_complete {
            self.attempt.transferred();
        } else if self.intake.keeps && answer.announces_length() {
            return Err(too_late(true).into());
        } else {
            // A response without end: the part received in time counts, and the response time is that of its first byte.
            answer.body.is_cut = true;
        }
        Ok(answer)
    }
}

fn too_late(has_begun: bool) -> ProbeAbort {
    let message = if has_begun { "The response was not complete in time" } else { "No response in time" };
    ProbeAbort::failed(ErrorCode::HttpTimeout, message)
}

async fn take_in<C: Future<Output = hyper::Result<()>> + Unpin>(
    driver: &mut ConnectionDriver<C>,
    mut body: Incoming,
    received: &mut ReceivedBody,
    intake: BodyIntake,
) -> Result<(), ProbeAbort> {
    while let Some(frame) = driver.until(body.frame()).await {
        let frame = frame.map_err(|error| abort_from(&error))?;
        let Some(piece) = frame.data_ref() else {
            continue; // Trailers.
        };
        if !received.add(piece, intake).await? {
            received.is_cut = !body.is_end_stream();
            break;
        }
    }
    Ok(())
}

/// Parser settings as in browsers: folded lines are joined (RFC 9112, section 5.2), lines that are not a header
/// are dropped.
fn http1_settings() -> http1::Builder {
    let mut settings = http1::Builder::new();
    settings
        .max_headers(HEAD_MAX_LINES)
        .max_buf_size(HEAD_MAX_BYTES)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    settings
}

fn http2_settings(chores: &ConnectionTasks) -> http2::Builder<ConnectionTasks> {
    let mut settings = http2::Builder::new(chores.clone());
    settings
        .max_header_list_size(u32::try_from(HEAD_MAX_BYTES).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES);
    settings
}
