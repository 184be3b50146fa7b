//! The text of a body, decoded while it is searched. Only JSON in an encoding other than UTF-8 is held a second
//! time.

use std::ops::ControlFlow;

use encoding_rs::{Encoding, UTF_8};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

use crate::probe::fact::{JsonDocument, TextPresence};
use crate::probe::http::charset::{declared_encoding, encoding_of};
use crate::probe::http::coding::DecodedBody;
use crate::probe::text_search::TextSearch;

/// Number of bytes decoded at a time.
const PIECE_BYTES: usize = 8 << 10;
/// Maximum size of the UTF-8 copy that is held of JSON in another encoding.
const TRANSCODED_MAX_BYTES: usize = 512 << 10;

/// The body of a response, or the start of it.
pub(super) struct BodyText {
    body: DecodedBody,
    encoding: &'static Encoding,
    /// JSON transcoded to UTF-8, when the body is not UTF-8, and whether it was truncated.
    transcoded: Option<(String, bool)>,
}

impl BodyText {
    /// Determines the encoding of the body. With `is_json`, a body in a declared encoding other than UTF-8 is transcoded.
    pub(super) fn new(body: DecodedBody, headers: &HeaderMap, is_json: bool) -> Self {
        let lines: Vec<_> = headers.get_all(CONTENT_TYPE).iter().map(HeaderValue::as_bytes).collect();
        let lines = lines.join(&b',');
        let content_type = String::from_utf8_lossy(&lines);
        let content_type = Some(&*content_type).filter(|text| !text.is_empty());
        let encoding = encoding_of(content_type, &body.bytes, body.is_cut);
        let declared = declared_encoding(content_type, &body.bytes).unwrap_or(UTF_8);
        let mut text = Self { body, encoding, transcoded: None };
        if is_json && declared != UTF_8 {
            text.transcoded = Some(text.transcode());
        }
        text
    }

    /// Searches the body for a text.
    pub(super) fn search(&self, wanted: &str) -> TextPresence {
        if self.holds(wanted) {
            TextPresence::Present
        } else if self.body.is_cut {
            TextPresence::Undecided
        } else {
            TextPresence::Absent
        }
    }

    pub(super) fn json(&self) -> JsonDocument<'_> {
        match &self.transcoded {
            Some((text, is_cut)) => JsonDocument { bytes: text.as_bytes(), is_cut: *is_cut },
            None => JsonDocument { bytes: &self.body.bytes, is_cut: self.body.is_cut },
        }
    }

    fn holds(&self, wanted: &str) -> bool {
        if self.encoding == UTF_8
            && let Ok(text) = std::str::from_utf8(&self.body.bytes)
        {
            return text.contains(wanted);
        }
        let mut search = TextSearch::new(wanted);
        self.decode(|piece| search.feed(piece)).is_break() || search.is_found()
    }

    fn transcode(&self) -> (String, bool) {
        let mut text = String::new();
        let decoded = self.decode(|piece| {
            if text.len() + piece.len() > TRANSCODED_MAX_BYTES {
                return ControlFlow::Break(());
            }
            text.push_str(piece);
            ControlFlow::Continue(())
        });
        (text, self.body.is_cut || decoded.is_break())
    }

    /// Passes the text to `give` in chunks, until `give` breaks. Invalid bytes of the encoding become U+FFFD.
    fn decode(&self, mut give: impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut decoder = self.encoding.new_decoder_with_bom_removal();
        let mut text = String::new();
        for piece in self.body.bytes.chunks(PIECE_BYTES) {
            text.clear();
            text.reserve(decoder.max_utf8_buffer_length(piece.len()).unwrap_or(PIECE_BYTES * 4));
            // `text` has room for the whole output.
            let _ = decoder.decode_to_string(piece, &mut text, false);
            give(&text)?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn text(content_type: &'static str, bytes: &[u8], is_cut: bool, is_json: bool) -> BodyText {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        BodyText::new(DecodedBody { bytes: bytes.to_vec(), is_cut }, &headers, is_json)
    }

    #[rstest]
    #[case("text/plain", "Störung".as_bytes())]
    #[case("text/plain; charset=utf-8", b"\xffSt\xc3\xb6rung")]
    #[case("text/plain; charset=iso-8859-1", b"St\xf6rung")]
    #[case("text/plain", b"St\xf6rung")]
    #[case("text/plain; charset=utf-16le", b"S\0t\0\xf6\0r\0u\0n\0g\0")]
    #[case("text/plain; charset=utf-16", b"\xfe\xff\0S\0t\0\xf6\0r\0u\0n\0g")]
    #[case("text/plain; charset=utf-8", b"\xff\xfeS\0t\0\xf6\0r\0u\0n\0g\0")]
    fn a_text_is_found_in_its_encoding(#[case] content_type: &'static str, #[case] bytes: &[u8]) {
        let found = text(content_type, bytes, false, false);
        assert_eq!(found.search("Störung"), TextPresence::Present);
        assert_eq!(found.search(""), TextPresence::Present);
        assert_eq!(found.search("Storung"), TextPresence::Absent);
        assert_eq!(text(content_type, bytes, true, false).search("Storung"), TextPresence::Undecided);
    }

    #[test]
    fn the_last_content_type_header_decides_the_encoding() {
        let lines = ["text/html; charset=utf-8", "text/plain; charset=koi8-r"];
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CONTENT_TYPE, HeaderValue::from_static(line));
        }
        let found = BodyText::new(DecodedBody { bytes: b"\xd3".to_vec(), is_cut: false }, &headers, false);
        assert_eq!(found.search("\u{441}"), TextPresence::Present);
    }

    #[test]
    fn a_text_is_found_across_chunk_boundaries() {
        let bytes =
            [vec![0xe9; PIECE_BYTES - 3], b"n\xe9edle".to_vec(), vec![0xe9; 3 * PIECE_BYTES]].concat();
        assert_eq!(text("text/plain", &bytes, false, false).search("néedleé"), TextPresence::Present);
    }

    #[test]
    fn json_is_read_in_the_declared_encoding() {
        let utf_16 = "{\"a\": \"ö\"}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let found = text("application/json; charset=utf-16le", &utf_16, false, true);
        assert_eq!(found.json().bytes, "{\"a\": \"ö\"}".as_bytes());
        let raw = b"{\"a\": \"\xf6\"}";
        assert_eq!(text("application/json", raw, false, true).json().bytes, raw);
        let latin = text("application/json; charset=latin1", &[b'\xf6'; 300 << 10], false, true);
        assert!(latin.json().is_cut && latin.json().bytes.len() <= TRANSCODED_MAX_BYTES);
    }
}
