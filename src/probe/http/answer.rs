//! The answer to one request, within limits: status, headers, and as much of the body as is wanted.
//!
//! A hostile server decides neither how much memory a check takes nor how long it reads: reading stops at the limit.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode, Version};

use crate::probe::http::bounded::append;
use crate::probe::http::coding::worth_keeping;

/// The part of a body that is taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intake {
    /// Reading stops here.
    pub(super) max_bytes: usize,
    /// So much of what was read is kept.
    pub(super) keep_bytes: usize,
}

impl Intake {
    /// The intake of a response with these headers.
    pub(super) fn of(self, headers: &HeaderMap) -> Self {
        Self { keep_bytes: self.keep_bytes.min(worth_keeping(headers, self.max_bytes)), ..self }
    }
}

/// The response to one request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
    pub(super) body: Received,
}

/// As much of a body as was read.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// Bytes that were read.
    pub(super) length: usize,
    /// The first of them, as many as are kept.
    pub(super) kept: Vec<u8>,
    /// True when there would have been more.
    pub(super) is_cut: bool,
}

impl Received {
    /// Takes in a piece; whether there is room for more.
    pub(super) fn add(&mut self, piece: &Bytes, intake: Intake) -> bool {
        let room = intake.max_bytes - self.length;
        let taken = &piece[..piece.len().min(room)];
        self.length += taken.len();
        append(&mut self.kept, taken, intake.keep_bytes);
        self.is_cut = piece.len() > room;
        self.length < intake.max_bytes
    }
}

impl Answer {
    /// The length of the body: what was received, or what the server announced when that was cut.
    pub(super) fn content_length(&self) -> Option<u64> {
        if self.body.is_cut {
            self.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
        } else {
            u64::try_from(self.body.length).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_at_the_limit() {
        let intake = Intake { max_bytes: 5, keep_bytes: 4 };
        let mut body = Received::default();
        assert!(body.add(&Bytes::from_static(b"abc"), intake));
        assert!(!body.add(&Bytes::from_static(b"defg"), intake));
        assert_eq!((body.length, body.kept.as_slice(), body.is_cut), (5, b"abcd".as_slice(), true));
    }

    #[test]
    fn a_body_that_is_not_wanted_is_counted_only() {
        let intake = Intake { max_bytes: 5, keep_bytes: 0 };
        let mut body = Received::default();
        assert!(!body.add(&Bytes::from_static(b"abcde"), intake));
        assert_eq!((body.length, body.kept.len(), body.is_cut), (5, 0, false));
    }
}
