//! The client for outgoing messages, against real listeners: the outcome of every kind of response.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hickory_proto::op::ResponseCode;
use http::{HeaderName, HeaderValue, Method};
use rstest::rstest;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::egress::outbound::{
    ConnectFault, ExchangeFailure, NameFault, OutboundClient, OutboundParts, OutboundRequest,
    OutboundResponse, OutboundUrl, RetryAfter, TimeoutStage, TlsFault,
};
use watchkeeper::egress::{EgressGate, EgressPolicy};

use crate::support::certificates::{Authority, Identity};
use crate::support::dns_server::{Answer as Records, DnsServer, EdnsRefusal, address};
use crate::support::server::{Server, closed_address};

fn client(policy: EgressPolicy, dns: SocketAddr, authority: Option<&Authority>) -> OutboundClient {
    let mut file = NamedTempFile::new().unwrap();
    if let Some(authority) = authority {
        file.write_all(authority.pem().as_bytes()).unwrap();
    }
    let ca_file = authority.map(|_| file.path());
    let egress = EgressGate { policy, source: None };
    OutboundClient::new(OutboundParts { egress, dns_servers: &[dns], ca_file, clock: Clock::System }).unwrap()
}

fn own() -> OutboundClient {
    client(EgressPolicy::PrivateAllowed, "127.0.0.1:9".parse().unwrap(), None)
}

fn post(url: &str) -> OutboundRequest {
    OutboundRequest {
        method: Method::POST,
        url: OutboundUrl::parse(url).unwrap(),
        headers: vec![(HeaderName::from_static("x-key"), HeaderValue::from_static("sesame"))],
        body: "parole".into(),
        deadline: Duration::from_secs(1),
    }
}

async fn answer(response: impl Into<Vec<u8>>) -> Result<OutboundResponse, ExchangeFailure> {
    let server = Server::answering(response).await;
    own().send(post(&server.url("/hook"))).await
}

#[tokio::test]
async fn a_request_is_sent_as_given() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let got = own().send(post(&server.url("/hook?a=b#c"))).await.unwrap();
    assert_eq!(
        got,
        OutboundResponse { status: 200, retry_after: None, date: None, excerpt: "ok".to_owned() }
    );
    let request = &server.requests()[0];
    assert!(
        request.starts_with("POST /hook?a=b HTTP/1.1\r\n") && request.ends_with("\r\n\r\nparole"),
        "{request}"
    );
    assert!(request.contains("x-key: sesame") && request.contains("content-length: 6"), "{request}");
    assert!(
        request.contains(&format!("host: {}", server.address))
            && request.contains("user-agent: Watchkeeper/")
    );
}

#[tokio::test]
async fn an_empty_body_has_a_length() {
    let server = Server::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    own().send(OutboundRequest { body: "".into(), ..post(&server.url("/")) }).await.unwrap();
    assert!(server.requests()[0].contains("content-length: 0"), "{}", server.requests()[0]);
}

/// A redirect is an answer like any other.
#[rstest]
#[case("HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad", 500, None)]
#[case("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", 302, None)]
#[case(
    "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
    429,
    Some(RetryAfter::In(Duration::from_secs(7)))
)]
#[case(
    "HTTP/1.1 503 Later\r\nRetry-After: Fri, 20 Nov 2026 16:51:00 GMT\r\nContent-Length: 0\r\n\r\n",
    503,
    Some(RetryAfter::At(Timestamp::from_ms(1_795_193_460_000)))
)]
#[tokio::test]
async fn every_status_is_an_answer(
    #[case] response: &str,
    #[case] status: u16,
    #[case] retry: Option<RetryAfter>,
) {
    let got = answer(response).await.unwrap();
    assert_eq!((got.status, got.retry_after), (status, retry));
}

#[rstest]
#[case("", ExchangeFailure::Closed)]
#[case("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", ExchangeFailure::Closed)]
#[case("SSH-2.0-OpenSSH_9.2\r\n", ExchangeFailure::Protocol)]
#[tokio::test]
async fn a_truncated_response_is_a_failure(#[case] response: &str, #[case] expected: ExchangeFailure) {
    assert_eq!(answer(response).await, Err(expected));
}

/// A receiver that answers untidily has taken the message all the same.
#[rstest]
#[case("X-A: 1;\r\n 2")]
#[case("X-A:\r\n\t1")]
#[case("X-A : 1")]
#[case("this is no header")]
#[case(&["Set-Cookie: a=1"; 2_000].join("\r\n"))]
#[tokio::test]
async fn a_malformed_head_is_accepted(#[case] lines: &str) {
    let response = format!("HTTP/1.1 200 OK\r\n{lines}\r\nContent-Length: 2\r\n\r\nok");
    assert_eq!(
        answer(response).await,
        Ok(OutboundResponse { status: 200, retry_after: None, date: None, excerpt: "ok".to_owned() })
    );
}

/// The same for what only curl and browsers take.
#[rstest]
#[case("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")]
#[case("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\nno trailer\n\n")]
#[case("HTTP/1.1 200 OK\r\nContent-Length: 2 bytes\r\n\r\nok")]
#[case("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok")]
#[case("http/1.1  200 O\x01K\r\nX-A: a\rb\r\n\r\nok")]
#[tokio::test]
async fn a_malformed_response_is_accepted(#[case] response: &str) {
    assert_eq!(
        answer(response).await,
        Ok(OutboundResponse { status: 200, retry_after: None, date: None, excerpt: "ok".to_owned() })
    );
}

/// A receiver whose answer does not end has taken the message.
#[tokio::test]
async fn an_endless_response_is_accepted() {
    let server = Server::start(|mut stream, visit| async move {
        visit.request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nok").await.unwrap();
        let _ = stream.read(&mut [0]).await;
    })
    .await;
    let got = own().send(post(&server.url("/"))).await;
    assert_eq!(
        got,
        Ok(OutboundResponse { status: 200, retry_after: None, date: None, excerpt: "ok".to_owned() })
    );
}

#[tokio::test]
async fn an_endless_head_is_refused() {
    let response = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(400_000));
    assert!(matches!(answer(response).await, Err(ExchangeFailure::Head | ExchangeFailure::Closed)));
}

#[tokio::test]
async fn a_connection_is_reused() {
    let server = Server::start(|mut stream, visit| async move {
        visit.note("connection".to_owned());
        while visit.request(&mut stream).await.ends_with("parole") {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
        }
    })
    .await;
    let client = own();
    for _ in 0..5 {
        assert_eq!(client.send(post(&server.url("/"))).await.unwrap().status, 200);
    }
    let connections = server.requests().iter().filter(|text| *text == "connection").count();
    assert_eq!(connections, 1);
}

/// A server that hangs, or sends a byte now and then, is left at the deadline, and notices.
#[rstest]
#[case("", TimeoutStage::Answering)]
#[case("HTTP/1.1 200 OK\r\n", TimeoutStage::Answering)]
#[case("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", TimeoutStage::Reading)]
#[tokio::test]
async fn a_slow_answer_ends_at_the_deadline(#[case] head: &'static str, #[case] stage: TimeoutStage) {
    let (left, noticed) = tokio::sync::mpsc::channel(1);
    let server = Server::start(move |mut stream, visit| {
        let left = left.clone();
        async move {
            visit.request(&mut stream).await;
            let _ = stream.write_all(head.as_bytes()).await;
            while !head.is_empty() && stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            let _ = stream.read(&mut [0]).await;
            left.send(()).await.unwrap();
        }
    })
    .await;
    let (begun, mut noticed) = (Instant::now(), noticed);
    assert_eq!(own().send(post(&server.url("/"))).await, Err(ExchangeFailure::Timeout(stage)));
    assert!((900..1_500).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    tokio::time::timeout(Duration::from_secs(5), noticed.recv()).await.unwrap().unwrap();
}

#[tokio::test]
async fn only_the_beginning_of_a_large_response_is_read() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let server = Server::start(move |mut stream, visit| {
        let sent = Arc::clone(&counted);
        async move {
            visit.request(&mut stream).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n").await;
            while sent.load(Ordering::SeqCst) < 100_000_000 && stream.write_all(&[b'x'; 10_000]).await.is_ok()
            {
                sent.fetch_add(10_000, Ordering::SeqCst);
            }
            visit.note("left".to_owned());
        }
    })
    .await;
    let got = own().send(post(&server.url("/"))).await.unwrap();
    assert_eq!((got.status, got.excerpt), (200, "x".repeat(1_024)));
    while !server.requests().contains(&"left".to_owned()) {
        tokio::task::yield_now().await;
    }
    let sent = sent.load(Ordering::SeqCst);
    assert!(sent < 20_000_000, "the server got rid of {sent} bytes");
}

#[rstest]
#[case("http://127.0.0.1:9/", EgressPolicy::PublicOnly)]
#[case("http://[::1]:9/", EgressPolicy::PublicOnly)]
#[case("http://10.0.0.1/", EgressPolicy::PublicOnly)]
#[case("http://169.254.169.254/latest", EgressPolicy::PrivateAllowed)]
#[case("https://169.254.169.254/latest", EgressPolicy::PrivateAllowed)]
#[case("http://[::ffff:169.254.169.254]/", EgressPolicy::PrivateAllowed)]
#[case("http://evil.test/", EgressPolicy::PrivateAllowed)]
#[tokio::test]
async fn every_address_passes_the_gate(#[case] url: &str, #[case] policy: EgressPolicy) {
    let records = Records::Records(vec![address("169.254.169.254"), address("fd00:ec2::254")]);
    let dns = DnsServer::start([("evil.test", records)]).await;
    let failed = client(policy, dns.address, None).send(post(url)).await.unwrap_err();
    assert!(matches!(failed, ExchangeFailure::Blocked(_)), "{failed:?}");
}

#[tokio::test]
async fn a_server_without_edns_resolves_names() {
    let target = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let refusal = EdnsRefusal::Code(ResponseCode::FormErr);
    let dns = DnsServer::start([("hook.test", Records::Plain(refusal, vec![address("127.0.0.1")]))]).await;
    let client = client(EgressPolicy::PrivateAllowed, dns.address, None);
    let url = format!("http://hook.test:{}/", target.address.port());
    assert_eq!(client.send(post(&url)).await.map(|answer| answer.status), Ok(200));
}

#[rstest]
#[case(Records::Code(ResponseCode::NXDomain), NameFault::NoSuchName)]
#[case(Records::Code(ResponseCode::NoError), NameFault::NoAddress)]
#[case(Records::Code(ResponseCode::ServFail), NameFault::ServerFailed)]
#[tokio::test]
async fn a_host_without_address_is_reported(#[case] records: Records, #[case] fault: NameFault) {
    let dns = DnsServer::start([("hook.test", records)]).await;
    let client = client(EgressPolicy::PrivateAllowed, dns.address, None);
    assert_eq!(client.send(post("http://hook.test/")).await, Err(ExchangeFailure::Name(fault)));
}

#[rstest]
#[case("127.0.0.1:0")]
#[case("[::1]:0")]
#[tokio::test]
async fn all_addresses_of_a_name_are_tried(#[case] listen: &str) {
    let server = Server::start_on(listen, |mut stream, visit| async move {
        visit.request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    })
    .await;
    let both = Records::Records(vec![address("::1"), address("127.0.0.1")]);
    let dns = DnsServer::start([("hook.test", both)]).await;
    let client = client(EgressPolicy::PrivateAllowed, dns.address, None);
    let port = server.address.port();
    assert_eq!(client.send(post(&format!("http://hook.test:{port}/"))).await.unwrap().status, 204);
    assert_eq!(client.send(post(&format!("http://{}/", server.address))).await.unwrap().status, 204);
}

#[tokio::test]
async fn a_closed_port_refuses() {
    let url = format!("http://{}/", closed_address().await);
    assert_eq!(own().send(post(&url)).await, Err(ExchangeFailure::Connect(ConnectFault::Refused)));
}

#[tokio::test]
async fn tls_needs_an_authority_that_is_trusted() {
    let authority = Authority::found();
    let server = authority.issue(&["127.0.0.1"], |_| {}).serve().await;
    let url = format!("https://{}/", server.address);
    let dns = "127.0.0.1:9".parse().unwrap();
    let trusting = client(EgressPolicy::PrivateAllowed, dns, Some(&authority));
    assert_eq!(trusting.send(post(&url)).await.unwrap().status, 204);
    assert_eq!(own().send(post(&url)).await, Err(ExchangeFailure::Tls(TlsFault::Untrusted)));
    let other = authority.issue(&["other.test"], |_| {}).serve().await;
    let url = format!("https://{}/", other.address);
    assert_eq!(trusting.send(post(&url)).await, Err(ExchangeFailure::Tls(TlsFault::Hostname)));
    let own_word = Identity::self_signed(&["127.0.0.1"]).serve().await;
    let failed = trusting.send(post(&format!("https://{}/", own_word.address))).await;
    assert!(matches!(failed, Err(ExchangeFailure::Tls(_))), "{failed:?}");
}

#[rstest]
#[case("host")]
#[case("content-length")]
#[case("transfer-encoding")]
#[tokio::test]
async fn headers_set_by_the_client_are_refused(#[case] name: &'static str) {
    let header = (HeaderName::from_static(name), HeaderValue::from_static("1"));
    let failed = own().send(OutboundRequest { headers: vec![header], ..post("http://127.0.0.1:9/") }).await;
    assert!(matches!(failed, Err(ExchangeFailure::Unsendable(_))), "{failed:?}");
}

#[tokio::test]
async fn debug_output_hides_the_request() {
    let url = format!("http://{}/sesame?parole", closed_address().await);
    let shown = format!("{:?}", post(&url));
    let failed = own().send(post(&url)).await.unwrap_err();
    let shown = format!("{shown} {failed} {failed:?}");
    assert!(!shown.contains("sesame") && !shown.contains("parole"), "{shown}");
}
