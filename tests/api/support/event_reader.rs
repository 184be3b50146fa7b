//! A client of a stream of server-sent events.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::client::Client;

/// Longest wait for an event; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The stream of an open page or screen.
pub(crate) struct EventReader {
    stream: TcpStream,
    text: String,
}

impl EventReader {
    /// Opens the stream at a path, with these lines in the head of the request.
    pub(crate) fn open(client: &Client, path: &str, lines: &[&str]) -> Self {
        let mut stream = TcpStream::connect(client.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = lines.join("\r\n");
        stream.write_all(format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes()).unwrap();
        Self { stream, text: String::new() }
    }

    /// Reads until this text arrives; returns everything up to its end.
    pub(crate) fn until(&mut self, wanted: &str) -> String {
        let mut buffer = [0; 65_536];
        loop {
            if let Some(at) = self.text.find(wanted) {
                let rest = self.text.split_off(at + wanted.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "no `{wanted}` in {}", self.text);
            self.text += &String::from_utf8_lossy(&buffer[..read]);
        }
    }

    /// The data of the next event of this kind.
    pub(crate) fn next(&mut self, kind: &str) -> String {
        self.until(&format!("event: {kind}\ndata: "));
        self.until("\n\n").trim_end().to_owned()
    }

    /// Reads until the end of the stream.
    pub(crate) fn end(mut self) {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).unwrap();
    }
}
