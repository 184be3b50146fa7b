//! A small HTTP/1.1 client on a plain socket: one connection a request, nothing hidden, nothing added.
//!
//! It sends exactly what the test says, also malformed requests, and shows answers as they came, once they have
//! been held against the server's own description.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::support::conformance;
use crate::support::server::Server;

/// Timeout of a response: longer than the server waits for its databases.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(400);

/// A client, with or without a token.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
    /// The server that must live as long as it is used; `None` when its owner sees to that.
    pub(crate) _server: Option<Arc<Server>>,
}

/// Response of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Client {
    /// The same server, without a token.
    pub(crate) fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.json("POST", path, body)
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.json("PATCH", path, body)
    }

    /// Creates a service from a body as sent over the wire.
    pub(crate) fn post_text(&self, body: &str) -> Answer {
        self.send("POST", "/v1/services", &["Content-Type: application/json"], body.as_bytes())
    }

    /// A request with a JSON body.
    pub(crate) fn json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, path, &["Content-Type: application/json"], body.to_string().as_bytes())
    }

    /// Any request; further header lines as they go over the wire.
    pub(crate) fn send(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        if let Some(token) = &self.token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        for line in lines {
            head += &format!("{line}\r\n");
        }
        let answer = exchange(self.address, &[head.as_bytes(), b"\r\n", body].concat());
        conformance::check(self.address, method, path, &answer);
        answer
    }
}

/// Sends these bytes and reads the answer until the server closes.
pub(crate) fn exchange(address: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
    // A server that refuses early may stop reading; its answer counts.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes);
    assert!(ended.is_ok() || !bytes.is_empty(), "no answer: {ended:?}");
    Answer::parse(&String::from_utf8(bytes).unwrap())
}

impl Answer {
    pub(crate) fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no HTTP answer: {text:?}"));
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_lowercase(), value.trim().to_owned())
        });
        Self { status, headers: headers.collect(), body: body.to_owned() }
    }

    /// Goes on only with this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The value of a header that is there at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "the header {name} is there twice");
        first
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub(crate) fn data(&self) -> Value {
        self.json()["data"].clone()
    }

    /// `message` of an error.
    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap().to_owned()
    }

    /// The fields of a 422 with their first texts, in the order of the answer.
    #[track_caller]
    pub(crate) fn errors(&self) -> Vec<(String, String)> {
        assert_eq!(self.status, 422, "{}", self.body);
        let body = self.json();
        let errors = body["errors"].as_object().unwrap().iter();
        errors.map(|(key, texts)| (key.clone(), texts[0].as_str().unwrap().to_owned())).collect()
    }

    /// The answer without what differs from request to request: comparable byte for byte.
    pub(crate) fn without_request_id(&self) -> (u16, String) {
        let id = self.header("x-request-id").unwrap();
        (self.status, self.body.replace(id, "REQUEST"))
    }
}
