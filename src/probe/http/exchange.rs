//! One request and its response over an open connection, HTTP/1.1 or HTTP/2.
//!
//! The head of a response is read as browsers read it. What errors mean is said by `unanswered`.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::time::timeout_at;

use crate::egress::{HEAD_MAX_BYTES, HEAD_MAX_LINES};
use crate::model::check::ErrorCode;
use crate::probe::attempt::Attempt;
use crate::probe::http::answer::{Answer, Intake, Received};
use crate::probe::http::driver::{Chores, Driver};
use crate::probe::http::meter::{Meter, Stamps};
use crate::probe::http::unanswered::{NoAnswer, broken};
use crate::probe::link::Link;
use crate::probe::stop::Stop;

/// HTTP/2: what a server may send before we have read it.
const WINDOW_BYTES: u32 = 256 * 1024;

/// Sends a request and takes in the response, until the attempt's deadline. The body of an answer that is not
/// `is_final` is not waited for.
pub(super) async fn exchange(
    link: Link,
    request: Request<Full<Bytes>>,
    intake: Intake,
    is_final: impl Fn(&Answer) -> bool,
    attempt: &mut Attempt,
) -> Result<Answer, NoAnswer> {
    let stamps = Arc::new(Stamps::new());
    let deadline = attempt.deadline;
    let conversation = Conversation { stamps: stamps.clone(), intake, is_final, attempt: &mut *attempt };
    let talked = timeout_at(deadline, conversation.hold(link, request)).await;
    talked.unwrap_or_else(|_elapsed| {
        let message = match stamps.response() {
            Some((sent, first_byte)) => {
                attempt.responded(sent, first_byte);
                "The response was not complete in time"
            }
            None => "No response in time",
        };
        Err(Stop::failed(ErrorCode::HttpTimeout, message).into())
    })
}

struct Conversation<'a, F> {
    stamps: Arc<Stamps>,
    intake: Intake,
    is_final: F,
    attempt: &'a mut Attempt,
}

impl<F: Fn(&Answer) -> bool> Conversation<'_, F> {
    async fn hold(self, link: Link, request: Request<Full<Bytes>>) -> Result<Answer, NoAnswer> {
        let is_http2 = link.is_http2();
        let io = TokioIo::new(Meter::new(link, self.stamps.clone()));
        if is_http2 {
            let chores = Chores::default();
            let (mut sender, connection) =
                http2_settings(&chores).handshake(io).await.map_err(|e| broken(&e))?;
            self.talk(Driver::new(connection, Some(chores)), sender.send_request(request)).await
        } else {
            let (mut sender, connection) = http1_settings().handshake(io).await.map_err(|e| broken(&e))?;
            self.talk(Driver::new(connection, None), sender.send_request(request)).await
        }
    }

    async fn talk<C: Future<Output = hyper::Result<()>> + Unpin>(
        self,
        mut driver: Driver<C>,
        response: impl Future<Output = hyper::Result<Response<Incoming>>>,
    ) -> Result<Answer, NoAnswer> {
        let responded = driver.until(response).await;
        if let Some((sent, first_byte)) = self.stamps.response() {
            self.attempt.responded(sent, first_byte);
        }
        let (head, body) = responded.map_err(|error| NoAnswer::of(&error))?.into_parts();
        let mut answer = Answer {
            status: head.status,
            version: head.version,
            headers: head.headers,
            body: Received::default(),
        };
        if (self.is_final)(&answer) {
            answer.body = take_in(&mut driver, body, &answer.headers, self.intake).await?;
        }
        self.attempt.transferred();
        Ok(answer)
    }
}

async fn take_in<C: Future<Output = hyper::Result<()>> + Unpin>(
    driver: &mut Driver<C>,
    mut body: Incoming,
    headers: &HeaderMap,
    intake: Intake,
) -> Result<Received, Stop> {
    let mut received = Received::begin(headers, intake)?;
    while let Some(frame) = driver.until(body.frame()).await {
        let frame = frame.map_err(|error| broken(&error))?;
        let Some(piece) = frame.data_ref() else {
            continue; // Trailers.
        };
        if !received.add(piece, intake).await? {
            received.is_cut = !body.is_end_stream();
            break;
        }
    }
    Ok(received)
}

/// Heads are read as browsers read them: folded lines are joined (RFC 9112, section 5.2), lines that are no header are
/// dropped.
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

fn http2_settings(chores: &Chores) -> http2::Builder<Chores> {
    let mut settings = http2::Builder::new(chores.clone());
    settings
        .max_header_list_size(u32::try_from(HEAD_MAX_BYTES).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES);
    settings
}
