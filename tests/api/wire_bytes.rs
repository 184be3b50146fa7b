//! Reliability 30: whatever character is in a header, a credential, a body or a target, the wire carries the
//! lines that were meant, and no others. What cannot be sent is refused when it is stored.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::server::Server;

/// A server that records the requests as received, byte for byte.
struct Wire {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Wire {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, requests) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<Vec<u8>>>>::default());
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let request = serve(stream);
                seen.lock().unwrap().extend(request);
            }
        });
        Self { address, requests }
    }

    /// The request whose path begins with `/number?`, split at the ends of its lines.
    async fn lines(&self, number: usize) -> Vec<Vec<u8>> {
        let start = format!("POST /{number}?");
        let request = eventually("the check arrives", || {
            let requests = self.requests.lock().unwrap();
            requests.iter().find(|request| request.starts_with(start.as_bytes())).cloned()
        });
        split(&request.await)
    }
}

/// Reads until the client is silent, so that a smuggled second request would be seen, and answers.
fn serve(mut stream: TcpStream) -> Option<Vec<u8>> {
    stream.set_read_timeout(Some(Duration::from_millis(100))).ok()?;
    let (mut request, mut part) = (Vec::new(), [0; 4_096]);
    while let Ok(length) = stream.read(&mut part) {
        if length == 0 {
            break;
        }
        request.extend_from_slice(&part[..length]);
        if request.ends_with(b"END") {
            break;
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some(request)
}

fn split(request: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = vec![Vec::new()];
    for byte in request {
        match byte {
            b'\n' => lines.push(Vec::new()),
            other => lines.last_mut().unwrap().push(*other),
        }
    }
    for line in &mut lines {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    lines
}

/// A check of this target with such a block in its configuration; the errors when it is refused.
fn watch(
    client: &Client,
    wire: &Wire,
    query: &str,
    number: usize,
    config: &Value,
) -> Result<(), Vec<String>> {
    let mut whole = json!({"method": "POST", "body": "END"});
    whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    let answer = client.post(
        "/v1/services",
        &json!({
            "name": "Wire", "check_type": "http", "target": format!("http://{}/{number}?{query}", wire.address),
            "settings": {"interval_seconds": 1, "retries": 0, "config": whole},
        }),
    );
    if answer.status == 201 { Ok(()) } else { Err(answer.errors().into_iter().map(|(key, _)| key).collect()) }
}

/// Values of headers and credentials hold every character but the controls, in UTF-8; a tab may be within.
#[tokio::test]
async fn no_character_breaks_out_of_a_header() {
    let (server, wire) = (Server::start(), Wire::start());
    let client = server.client();
    let mut sent = Vec::new();
    for byte in 0..=u8::MAX {
        let value = format!("a{}b", char::from(byte));
        let number = usize::from(byte);
        let config = json!({
            "headers": {"X-Value": value}, "auth": {"type": "api_key", "header": "X-Credential", "value": value},
        });
        let is_control = char::from(byte).is_ascii_control() && byte != b'\t';
        match watch(&client, &wire, "x", number, &config) {
            Ok(()) => {
                assert!(!is_control, "{byte} was taken");
                sent.push((number, value));
            }
            Err(keys) => {
                assert!(is_control, "{byte} was refused");
                assert_eq!(keys, ["settings.config.headers.X-Value", "settings.config.auth.value"]);
            }
        }
    }
    for (number, value) in sent {
        let lines = wire.lines(number).await;
        let named = |name: &str| {
            let start = format!("{name}: ");
            let is_it = |line: &&Vec<u8>| line.to_ascii_lowercase().starts_with(start.as_bytes());
            let found: Vec<_> = lines.iter().filter(is_it).map(|line| line[start.len()..].to_vec()).collect();
            assert_eq!(found.len(), 1, "{name} of {number}");
            found[0].clone()
        };
        assert_eq!(named("x-value"), value.as_bytes(), "{number}");
        assert_eq!(named("x-credential"), value.as_bytes(), "{number}");
        assert_ends(&lines, number);
    }
}

/// The head is followed by one empty line and the body, and nothing else.
fn assert_ends(lines: &[Vec<u8>], number: usize) {
    let end = lines.iter().position(Vec::is_empty).unwrap();
    assert_eq!(lines[end + 1..], [b"END".to_vec()], "{number}");
    let names: Vec<_> =
        lines[1..end].iter().map(|line| line.split(|byte| *byte == b':').next().unwrap()).collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), names.len(), "{number}: a header stands twice");
}

/// A user name and a password are encoded, so that they may contain every character.
#[tokio::test]
async fn no_character_breaks_out_of_basic_credentials() {
    let (server, wire) = (Server::start(), Wire::start());
    let client = server.client();
    for byte in 1..=u8::MAX {
        let word = format!("a{}b", char::from(byte));
        let config = json!({"auth": {"type": "basic", "username": word, "password": word}});
        if let Err(keys) = watch(&client, &wire, "x", usize::from(byte), &config) {
            assert!(keys.iter().all(|key| key.starts_with("settings.config.auth.")), "{byte}: {keys:?}");
            continue;
        }
        let lines = wire.lines(usize::from(byte)).await;
        let head = lines.iter().find(|line| line.to_ascii_lowercase().starts_with(b"authorization: basic "));
        let head = head.unwrap_or_else(|| panic!("{byte}: no credentials"));
        assert!(
            head[21..].iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)),
            "{byte}"
        );
        assert_ends(&lines, usize::from(byte));
    }
}

/// For any target, the request line is one line of three words.
#[tokio::test]
async fn no_character_breaks_out_of_a_target() {
    let (server, wire) = (Server::start(), Wire::start());
    let client = server.client();
    for byte in 0..=u8::MAX {
        let query = format!("a{}b", char::from(byte));
        if let Err(keys) = watch(&client, &wire, &query, usize::from(byte), &json!({})) {
            assert_eq!(keys, ["target"], "{byte}");
            continue;
        }
        let lines = wire.lines(usize::from(byte)).await;
        assert!(
            lines[0].iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '),
            "{byte}: {:?}",
            lines[0]
        );
        assert_eq!(lines[0].iter().filter(|byte| **byte == b' ').count(), 2, "{byte}");
        assert_ends(&lines, usize::from(byte));
    }
}

/// Contract 4.2.2: 50 headers and a body of 65,536 characters go over the wire as they were written; one more is refused.
#[tokio::test]
async fn the_largest_headers_and_body_are_sent() {
    let (server, wire) = (Server::start(), Wire::start());
    let client = server.client();
    let headers = |count: usize, length: usize| -> Value {
        (0..count)
            .map(|number| (format!("X-Header-{number}"), json!("v".repeat(length))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let body = |length: usize| format!("{}END", "b".repeat(length - 3));
    let refused = |config: Value| watch(&client, &wire, "x", 9, &config).unwrap_err();
    assert_eq!(refused(json!({"headers": headers(51, 1)})), ["settings.config.headers"]);
    assert_eq!(refused(json!({"headers": headers(1, 8_193)})), ["settings.config.headers.X-Header-0"]);
    assert_eq!(refused(json!({"body": body(65_537)})), ["settings.config.body"]);
    watch(&client, &wire, "x", 1, &json!({"headers": headers(50, 100), "body": body(65_536)})).unwrap();
    watch(&client, &wire, "x", 2, &json!({"headers": headers(1, 8_192)})).unwrap();
    let lines = wire.lines(1).await;
    for number in 0..50 {
        let line = format!("x-header-{number}: {}", "v".repeat(100));
        let found = lines.iter().filter(|sent| sent.eq_ignore_ascii_case(line.as_bytes())).count();
        assert_eq!(found, 1, "{number}");
    }
    assert_eq!(lines.last().unwrap(), body(65_536).as_bytes());
    let longest = format!("x-header-0: {}", "v".repeat(8_192));
    assert!(wire.lines(2).await.iter().any(|sent| sent.eq_ignore_ascii_case(longest.as_bytes())));
}
