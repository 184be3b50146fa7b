//! The response to one request, within limits: status, headers, and the needed part of the body.
//!
//! Reading stops at limits, so a hostile server decides neither how much memory a check takes nor how long it
//! reads.

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version};

use crate::probe::http::coding::{BodyReader, DecodingError};

/// Maximum number of received body bytes, as transferred (compressed).
const RECEIVED_MAX_BYTES: usize = 8 << 20;

/// The part of a body that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyIntake {
    /// Maximum number of decoded body bytes.
    pub(super) max_bytes: usize,
    /// True when the body is kept; otherwise its bytes are only counted.
    pub(super) keeps: bool,
}

/// The response to one request.
pub(super) struct HttpCheckResponse {
    pub(super) status: StatusCode,
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
    pub(super) body: ReceivedBody,
}

/// The received part of a body.
#[derive(Default)]
pub(super) struct ReceivedBody {
    /// Number of received bytes, as transferred.
    pub(super) length: usize,
    /// True when the body was not received completely.
    pub(super) is_cut: bool,
    /// The body, when it is kept.
    pub(super) reader: Option<BodyReader>,
}

impl ReceivedBody {
    /// Starts to receive a body with these headers.
    pub(super) fn begin(headers: &HeaderMap, intake: BodyIntake) -> Result<Self, DecodingError> {
        let reader = if intake.keeps { Some(BodyReader::new(headers, intake.max_bytes)?) } else { None };
        Ok(Self { length: 0, is_cut: false, reader })
    }

    /// Adds a chunk; returns true if more is wanted.
    pub(super) async fn add(&mut self, piece: &[u8], intake: BodyIntake) -> Result<bool, DecodingError> {
        self.length = self.length.saturating_add(piece.len());
        match &mut self.reader {
            Some(reader) => Ok(reader.take(piece).await? && self.length < RECEIVED_MAX_BYTES),
            None => Ok(self.length < intake.max_bytes),
        }
    }
}

impl HttpCheckResponse {
    /// Returns true when the server announced the length of the body.
    pub(super) fn announces_length(&self) -> bool {
        self.headers.contains_key(CONTENT_LENGTH) && !self.headers.contains_key(TRANSFER_ENCODING)
    }

    /// The length of the body: the received length, or the announced one when the body was truncated.
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

    async fn received(pieces: &[&[u8]], keeps: bool) -> (usize, Vec<bool>) {
        let intake = BodyIntake { max_bytes: 5, keeps };
        let mut body = ReceivedBody::begin(&HeaderMap::new(), intake).unwrap();
        let mut wanted = Vec::new();
        for piece in pieces {
            wanted.push(body.add(piece, intake).await.unwrap());
        }
        (body.length, wanted)
    }

    #[tokio::test]
    async fn reading_stops_after_the_limit() {
        assert_eq!(received(&[b"abc", b"de", b"f"], true).await, (6, vec![true, true, false]));
    }

    #[tokio::test]
    async fn an_unneeded_body_is_counted_up_to_the_limit() {
        assert_eq!(received(&[b"abc", b"de"], false).await, (5, vec![true, false]));
    }

    #[tokio::test]
    async fn a_body_that_decodes_to_nothing_ends_as_well() {
        let headers = HeaderMap::from_iter([(
            http::header::CONTENT_ENCODING,
            http::HeaderValue::from_static("deflate"),
        )]);
        let intake = BodyIntake { max_bytes: 5, keeps: true };
        let mut body = ReceivedBody::begin(&headers, intake).unwrap();
        let empty_blocks = [0, 0, 0, 0xff, 0xff].repeat(100_000);
        let mut pieces = 1;
        while body.add(&empty_blocks, intake).await.unwrap() {
            pieces += 1;
        }
        assert_eq!(pieces, RECEIVED_MAX_BYTES.div_ceil(empty_blocks.len()));
    }
}
