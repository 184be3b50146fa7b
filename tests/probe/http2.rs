//! HTTP/2, chosen in the TLS handshake: the same check over another protocol.
//!
//! The server writes its frames by hand, so that it can also write bad ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use watchkeeper::model::check::{CheckStatus, ErrorCode};

use crate::support::certificates::{Authority, Identity, https};
use crate::support::server::Server;
use crate::support::{UP, condition, down, http, measure, toolbox, verdict};

const PREFACE_BYTES: usize = 24;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags, 0, 0, 0, stream];
    [&head, payload].concat()
}

/// Reads frames until the request's headers are complete, and returns their block.
async fn request(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    let mut preface = [0; PREFACE_BYTES];
    stream.read_exact(&mut preface).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).await?;
        if head[3] == HEADERS {
            return Ok(payload);
        }
    }
}

/// Answers with these frames, after its settings.
async fn server(frames: Vec<u8>) -> Server {
    server_of(&Identity::self_signed(&["127.0.0.1"]), frames).await
}

async fn server_of(identity: &Identity, frames: Vec<u8>) -> Server {
    let acceptor = identity.acceptor(&["h2"]);
    Server::start(move |stream, visit| {
        let (acceptor, frames) = (acceptor.clone(), frames.clone());
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            let settings = [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat();
            stream.write_all(&settings).await.unwrap();
            let headers = request(&mut stream).await.unwrap();
            visit.note(headers.iter().map(|byte| format!("{byte:02x}")).collect());
            stream.write_all(&frames).await.unwrap();
            // Stay until the probe has left, so that nothing is cut.
            let mut rest = [0; 256];
            while stream.read(&mut rest).await.is_ok_and(|length| length > 0) {}
        }
    })
    .await
}

/// `0x88` is `:status: 200` in the static table, `0x8d` is `404`.
#[rstest]
#[case([frame(HEADERS, END_HEADERS, 1, b"\x88"), frame(DATA, END_STREAM, 1, b"ready")].concat(), UP)]
#[case(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x8d"), down(ErrorCode::ConditionFailed))]
#[case(frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 1]), down(ErrorCode::HttpProtocol))]
#[case(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\xff\xff"), down(ErrorCode::HttpProtocol))]
#[case(b"this is no frame of any kind at all".to_vec(), down(ErrorCode::HttpProtocol))]
#[tokio::test]
async fn http2_is_used_when_the_server_selects_it(
    #[case] frames: Vec<u8>,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let server = server(frames).await;
    let config = json!({ "verify_ssl": false, "conditions": [
        condition("metadata.protocol", "neq", &json!("HTTP/2")),
        condition("status_code", "neq", &json!(200)),
        condition("body", "not_contains", &json!("ready")),
    ] });
    let measured = measure(&http(&https(server.address), &config), &toolbox()).await;
    assert_eq!(verdict(&measured), expected);
    assert_eq!(server.requests().len(), 1);
    if expected == UP {
        let timings = measured.timings;
        assert!(timings.tls.is_some() && timings.ttfb.is_some() && timings.transfer.is_some());
    }
}

/// Refuses requests over HTTP/2 with these frames, `times` at most, and answers all others over HTTP/1.1 or HTTP/2.
async fn refusing(frames: Vec<u8>, times: usize) -> Server {
    let acceptor = Identity::self_signed(&["127.0.0.1"]).acceptor(&["h2", "http/1.1"]);
    let refused = Arc::new(AtomicUsize::new(0));
    Server::start(move |stream, visit| {
        let (acceptor, frames, refused) = (acceptor.clone(), frames.clone(), Arc::clone(&refused));
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            if stream.get_ref().1.alpn_protocol() == Some(b"http/1.1") {
                visit.request(&mut stream).await;
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            } else {
                let settings = [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat();
                stream.write_all(&settings).await.unwrap();
                request(&mut stream).await.unwrap();
                visit.note("HTTP/2".to_owned());
                let answer = frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x88");
                let is_refused = refused.fetch_add(1, Ordering::Relaxed) < times;
                stream.write_all(if is_refused { &frames } else { &answer }).await.unwrap();
            }
            let mut rest = [0; 256];
            while stream.read(&mut rest).await.is_ok_and(|length| length > 0) {}
        }
    })
    .await
}

fn reset_stream(code: u8) -> Vec<u8> {
    frame(RST_STREAM, 0, 1, &[0, 0, 0, code])
}

fn go_away(last_stream: u8, code: u8) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[0, 0, 0, last_stream, 0, 0, 0, code])
}

/// RFC 9113, sections 7 and 8.7: an unprocessed request is sent once more, over HTTP/1.1 if the server demands it.
#[rstest]
#[case::http1_for_this_request(reset_stream(0x0d), 9, UP, 2)]
#[case::http1_for_all(go_away(0, 0x0d), 9, UP, 2)]
#[case::refused_once(reset_stream(0x07), 1, UP, 2)]
#[case::refused_for_ever(reset_stream(0x07), 9, down(ErrorCode::HttpProtocol), 2)]
#[case::farewell(go_away(0, 0), 1, UP, 2)]
#[case::cancelled(reset_stream(0x08), 1, down(ErrorCode::HttpProtocol), 1)]
#[tokio::test]
async fn a_request_that_was_not_processed_is_sent_again(
    #[case] frames: Vec<u8>,
    #[case] times: usize,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
    #[case] requests: usize,
) {
    let server = refusing(frames, times).await;
    let measured = measure(&http(&https(server.address), &json!({ "verify_ssl": false })), &toolbox()).await;
    assert_eq!((verdict(&measured), server.requests().len()), (expected, requests));
}

#[rstest]
#[case(reset_stream(0x08), "The server ended the HTTP/2 exchange: CANCEL")]
#[case(reset_stream(0x07), "The server ended the HTTP/2 exchange: REFUSED_STREAM")]
#[tokio::test]
async fn a_failed_exchange_has_the_message_of_its_cause(#[case] frames: Vec<u8>, #[case] message: &str) {
    let server = refusing(frames, 9).await;
    let measured = measure(&http(&https(server.address), &json!({ "verify_ssl": false })), &toolbox()).await;
    assert_eq!(&*measured.failure.unwrap().message, message);
}

/// `:authority: www.example.com` as RFC 7541, appendix C.4.1, writes it.
const EXAMPLE_AUTHORITY: &str = "418cf1e3c2e5f23a6ba0ab90f4ff";

#[tokio::test]
async fn a_configured_host_is_the_authority_but_not_the_name_in_the_certificate() {
    let authority = Authority::found();
    let identity = authority.issue(&["127.0.0.1"], |_| {});
    let server = server_of(&identity, frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x88")).await;
    let config = json!({ "headers": { "Host": "www.example.com" } });
    assert_eq!(verdict(&measure(&http(&https(server.address), &config), &authority.trusted()).await), UP);
    let block = server.requests().remove(0);
    assert_eq!(block.matches(EXAMPLE_AUTHORITY).count(), 1, "{block}");
}
