//! A client of the event stream: a request with an endless response, read as it arrives.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::support::client::Client;

/// Timeout of an event.
const PATIENCE: Duration = Duration::from_secs(300);

/// A stream of events.
pub(crate) struct Listener {
    client: Client,
    query: String,
    stream: TcpStream,
    pub(crate) head: String,
    raw: Vec<u8>,
    text: String,
    /// The last id that was sent.
    pub(crate) last_id: Option<String>,
    has_ended: bool,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

impl Listener {
    /// Opens a stream with this query, live or after the event with this id. Returns when the server has subscribed it.
    pub(crate) fn open(client: &Client, query: &str, last_id: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(client.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let token = client.token.as_deref().unwrap();
        let mut head = format!(
            "GET /v1/events{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n",
            client.address
        );
        if let Some(id) = last_id {
            head += &format!("Last-Event-ID: {id}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let (head, raw, text) = (String::new(), Vec::new(), String::new());
        let (client, query) = (client.clone(), query.to_owned());
        let mut listener = Self { client, query, stream, head, raw, text, last_id: None, has_ended: false };
        listener.read_head();
        listener
    }

    /// The connection; data that has been read of it is not passed on.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    fn read_head(&mut self) {
        let begun = Instant::now();
        loop {
            self.read_more();
            if let Some(end) = self.raw.windows(4).position(|four| four == b"\r\n\r\n") {
                self.head = String::from_utf8(self.raw.drain(..end + 4).collect()).unwrap().to_lowercase();
                assert!(self.head.starts_with("http/1.1 200"), "{}", self.head);
                return;
            }
            assert!(begun.elapsed() < PATIENCE && !self.has_ended, "no head");
        }
    }

    fn read_more(&mut self) {
        let mut buffer = [0; 64 * 1_024];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.has_ended = true,
            Ok(read) => self.raw.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => self.has_ended = true,
        }
    }

    /// Takes whole chunks out of what has been read.
    fn decode(&mut self) {
        while let Some(end) = self.raw.windows(2).position(|two| two == b"\r\n") {
            let length = std::str::from_utf8(&self.raw[..end]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            if self.raw.len() < end + 2 + length + 2 {
                return;
            }
            self.has_ended |= length == 0;
            self.text += std::str::from_utf8(&self.raw[end + 2..end + 2 + length]).unwrap();
            self.raw.drain(..end + 2 + length + 2);
        }
    }

    fn parse(&mut self) -> Option<Event> {
        while let Some(end) = self.text.find("\n\n") {
            let block: String = self.text.drain(..end + 2).collect();
            let field = |name: &str| {
                let mut lines = block.lines().filter_map(|line| line.strip_prefix(name));
                lines.next().map(str::to_owned)
            };
            let id = field("id: ");
            self.last_id = id.clone().or_else(|| self.last_id.take());
            if let Some(kind) = field("event: ") {
                let data = serde_json::from_str(&field("data: ").unwrap()).unwrap();
                return Some(Event { kind, id: id.unwrap(), data });
            }
        }
        None
    }

    /// The next event within this time; `None` when there is none, or the stream has ended.
    pub(crate) fn within(&mut self, patience: Duration) -> Option<Event> {
        let begun = Instant::now();
        loop {
            self.decode();
            if let Some(event) = self.parse() {
                return Some(event);
            }
            if self.has_ended || begun.elapsed() >= patience {
                return None;
            }
            self.read_more();
        }
    }

    /// Returns true if the server has ended the stream.
    pub(crate) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The next event. A server ends the stream of a listener who is too far behind, as happens on a busy machine: then it
    /// comes again with the last id, as clients do.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Event {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(event) = self.within(PATIENCE) {
                return event;
            }
            let Some(id) = self.last_id.clone().filter(|_| self.has_ended) else { break };
            *self = Self::open(&self.client, &self.query, Some(&id));
        }
        panic!("no event; has the stream ended? {}", self.has_ended);
    }

    /// The next event of this type about this; others are passed over.
    #[track_caller]
    pub(crate) fn until(&mut self, kind: &str, is: impl Fn(&Value) -> bool) -> Event {
        loop {
            let event = self.next();
            if event.kind == kind && is(&event.data) {
                return event;
            }
        }
    }

    /// All events until none has arrived for this long.
    pub(crate) fn all(&mut self, quiet: Duration) -> Vec<Event> {
        std::iter::from_fn(|| self.within(quiet)).collect()
    }

    /// Reads until the server ends the stream; fails when it does not within this time.
    #[track_caller]
    pub(crate) fn until_end(&mut self, patience: Duration) {
        let begun = Instant::now();
        while !self.has_ended {
            self.decode();
            self.read_more();
            assert!(begun.elapsed() < patience, "the stream goes on");
        }
    }
}
