//! Content codings: gzip, deflate, brotli, zstd, decoded step by step, within limits of memory and of time on this thread.
//!
//! Codings are decoded from the last one inwards; at the first unknown one the bytes are left as they are, as in
//! browsers (WHATWG Fetch, "handle content codings"). A compression bomb costs no more than the limit: decoding stops
//! there and keeps the data so far. Invalid data are an error that names the coding.

mod brotli;
mod chain;
mod decoder;
mod deflate;
mod gzip;
mod zstd;

use http::HeaderMap;
use tokio::sync::Semaphore;

use crate::probe::http::bounded_buffer::append;

use chain::DecoderChain;

pub(super) use decoder::{DecodedBody, DecodingError};

/// Receives a body in chunks and decodes it. A body whose coding needs a window is received first and decoded
/// at the end: otherwise a slow server would hold a window that other checks wait for.
pub(super) struct BodyReader {
    chain: DecoderChain,
    /// The coded bytes that wait for a window, and their maximum number.
    waiting: Vec<u8>,
    waiting_max_bytes: usize,
}

impl BodyReader {
    /// Creates a reader for a body with these headers, which keeps at most `max_bytes`.
    pub(super) fn new(headers: &HeaderMap, max_bytes: usize) -> Result<Self, DecodingError> {
        let chain = DecoderChain::new(headers, max_bytes)?;
        Ok(Self { chain, waiting: Vec::new(), waiting_max_bytes: max_bytes / 2 })
    }

    /// Adds a chunk; returns true if more is wanted.
    pub(super) async fn take(&mut self, piece: &[u8]) -> Result<bool, DecodingError> {
        if !self.chain.needs_window() {
            return self.chain.feed(piece).await;
        }
        append(&mut self.waiting, piece, self.waiting_max_bytes);
        Ok(self.waiting.len() < self.waiting_max_bytes)
    }

    /// Returns the kept part of the body. `is_cut` means that the body was not received completely. `windows`
    /// are the permits for decoding with a window.
    pub(super) async fn finish(
        mut self,
        is_cut: bool,
        windows: &Semaphore,
    ) -> Result<DecodedBody, DecodingError> {
        if self.chain.needs_window() {
            // The semaphore is never closed.
            let _turn = windows.acquire().await;
            self.chain.feed(&self.waiting).await?;
        }
        self.chain.finish(is_cut)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use http::HeaderValue;
    use http::header::CONTENT_ENCODING;
    use rstest::rstest;

    use super::decoder::WINDOW_GAP_BYTES;
    use super::*;

    const LIMIT: usize = 1000;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(plain: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(plain: &[u8]) -> Vec<u8> {
        ::zstd::stream::encode_all(plain, 1).unwrap()
    }

    /// `hello`, as the reference encoder writes it.
    fn brotli(_plain: &[u8]) -> Vec<u8> {
        vec![0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03]
    }

    /// Decodes at most `LIMIT` bytes, half of that with a window.
    async fn read(coding: &'static str, body: &[u8], is_cut: bool) -> Result<DecodedBody, DecodingError> {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
        let mut reader = BodyReader::new(&headers, LIMIT)?;
        for piece in body.chunks(333) {
            if !reader.take(piece).await? {
                break;
            }
        }
        reader.finish(is_cut, &Semaphore::new(1)).await
    }

    async fn decoded(coding: &'static str, body: Vec<u8>, is_cut: bool) -> Result<Vec<u8>, DecodingError> {
        read(coding, &body, is_cut).await.map(|body| body.bytes)
    }

    #[rstest]
    #[case("gzip", gzip)]
    #[case("X-GZip", gzip)]
    #[case("deflate", zlib)]
    #[case("deflate", deflate)]
    #[case("gzip", zlib)]
    #[case("br", brotli)]
    #[case("zstd", zstd)]
    #[case("identity", |plain: &[u8]| plain.to_vec())]
    #[case("deflate, gzip", |plain: &[u8]| gzip(&zlib(plain)))]
    #[tokio::test]
    async fn every_coding_is_decoded(
        #[case] coding: &'static str,
        #[case] encode: impl Fn(&[u8]) -> Vec<u8>,
    ) {
        assert_eq!(decoded(coding, encode(b"hello"), false).await, Ok(b"hello".to_vec()));
    }

    /// `hello`, flushed and never finished, as some servers send it.
    #[rstest]
    #[case("gzip", { let mut encoder = GzEncoder::new(Vec::new(), Compression::best()); flush(&mut encoder); encoder.get_ref().clone() })]
    #[case("deflate", { let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best()); flush(&mut encoder); encoder.get_ref().clone() })]
    #[case("deflate", { let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best()); flush(&mut encoder); encoder.get_ref().clone() })]
    #[case("zstd", { let mut encoder = ::zstd::stream::Encoder::new(Vec::new(), 1).unwrap(); flush(&mut encoder); encoder.get_ref().clone() })]
    #[case("br", brotli(b"")[..8].to_vec())]
    #[case("deflate", { let mut whole = zlib(b"hello"); whole.truncate(whole.len() - 4); whole })]
    #[tokio::test]
    async fn an_unfinished_body_is_accepted(#[case] coding: &'static str, #[case] body: Vec<u8>) {
        assert_eq!(decoded(coding, body, false).await, Ok(b"hello".to_vec()));
    }

    fn flush(encoder: &mut impl Write) {
        encoder.write_all(b"hello").unwrap();
        encoder.flush().unwrap();
    }

    #[rstest]
    #[case("gzip", gzip, LIMIT)]
    #[case("deflate", zlib, LIMIT)]
    #[case("zstd", zstd, LIMIT / 2 - WINDOW_GAP_BYTES)]
    #[tokio::test]
    async fn a_compression_bomb_is_stopped_at_the_limit(
        #[case] coding: &'static str,
        #[case] encode: fn(&[u8]) -> Vec<u8>,
        #[case] expected: usize,
    ) {
        let bomb = encode(&vec![b'a'; 10_000_000]);
        let body = read(coding, &bomb, false).await.unwrap();
        assert_eq!((body.bytes, body.is_cut), (vec![b'a'; expected], true));
    }

    /// Several zstd frames or gzip members may follow each other; a zstd frame may hold data that are skipped.
    #[rstest]
    #[case("gzip", [gzip(b"one "), gzip(b"two")].concat())]
    #[case("zstd", [zstd(b"one "), b"\x50\x2a\x4d\x18\x02\0\0\0??".to_vec(), zstd(b"two")].concat())]
    #[tokio::test]
    async fn parts_are_joined(#[case] coding: &'static str, #[case] body: Vec<u8>) {
        assert_eq!(decoded(coding, body, false).await, Ok(b"one two".to_vec()));
    }

    /// A stream whose encoder refers back 8 MiB loses no data within the limit.
    #[tokio::test]
    async fn a_large_window_is_limited_without_changing_the_output() {
        let noise: Vec<u8> =
            (0_u32..300_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let plain = [&noise[..], &noise[..]].concat();
        let mut encoder = ::zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(23).unwrap();
        encoder.write_all(&plain).unwrap();
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("zstd"))]);
        let mut chain = DecoderChain::new(&headers, 3_000_000).unwrap();
        chain.feed(&encoder.finish().unwrap()).await.unwrap();
        let decoded = chain.finish(false).unwrap();
        assert_eq!((decoded.bytes.len(), decoded.is_cut), (1_500_000 - WINDOW_GAP_BYTES, true));
        assert!(plain.starts_with(&decoded.bytes));
    }

    #[rstest]
    #[case("gzip", "gzip")]
    #[case("deflate", "deflate")]
    #[case("br", "br")]
    #[case("zstd", "zstd")]
    #[case("utf-8, x-gzip", "gzip")]
    #[case("gzip, gzip, gzip", "gzip")]
    #[tokio::test]
    async fn broken_data_is_an_error(#[case] coding: &'static str, #[case] name: &'static str) {
        let body = b"\xff\xff not coded at all".to_vec();
        assert_eq!(decoded(coding, body, false).await, Err(DecodingError::Broken { coding: name }));
    }

    /// The data of one coding under the name of another one, where curl and browsers refuse it as well.
    #[rstest]
    #[case("deflate", gzip)]
    #[case("gzip", deflate)]
    #[tokio::test]
    async fn data_of_another_coding_is_an_error(
        #[case] coding: &'static str,
        #[case] encode: impl Fn(&[u8]) -> Vec<u8>,
    ) {
        let refusal = DecodingError::Broken { coding };
        assert_eq!(decoded(coding, encode(b"hello"), false).await.err(), Some(refusal));
    }

    #[rstest]
    #[case("none")]
    #[case("utf-8")]
    #[case("aws-chunked")]
    #[case("binary")]
    #[case("")]
    #[case(", ,")]
    #[case("compress")]
    #[case("gzip, none")]
    #[case("gzip, gzip, gzip, gzip, gzip, gzip")]
    #[tokio::test]
    async fn an_unknown_coding_leaves_the_bytes_as_they_are(#[case] coding: &'static str) {
        assert_eq!(decoded(coding, b"hello".to_vec(), false).await, Ok(b"hello".to_vec()));
    }

    #[tokio::test]
    async fn an_empty_body_is_coded_in_any_way() {
        for coding in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
            assert_eq!(decoded(coding, Vec::new(), false).await, Ok(Vec::new()), "{coding}");
        }
    }

    #[tokio::test]
    async fn a_body_of_exactly_the_limit_is_whole() {
        for coding in ["gzip", "identity"] {
            for (length, is_cut) in [(LIMIT, false), (LIMIT + 1, true)] {
                let plain = vec![b'a'; length];
                let coded = if coding == "gzip" { gzip(&plain) } else { plain };
                let body = read(coding, &coded, false).await.unwrap();
                assert_eq!((body.bytes.len(), body.is_cut), (LIMIT, is_cut), "{coding}");
            }
        }
    }

    /// Nested layers that decode to ever more bytes without output end at the limit of work.
    #[tokio::test]
    async fn a_nested_compression_bomb_is_stopped() {
        let blocks = [0, 0, 0, 0xff, 0xff].repeat(4 << 20); // Empty blocks of bare deflate.
        let bomb = gzip(&gzip(&gzip(&blocks)));
        let headers =
            HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("deflate, gzip, gzip, gzip"))]);
        let mut chain = DecoderChain::new(&headers, LIMIT).unwrap();
        assert_eq!(chain.feed(&bomb).await, Ok(false));
    }

    #[rstest]
    #[case("gzip", gzip)]
    #[case("zstd", zstd)]
    #[tokio::test]
    async fn a_truncated_body_is_decoded_as_far_as_possible(
        #[case] coding: &'static str,
        #[case] encode: fn(&[u8]) -> Vec<u8>,
    ) {
        let mut cut = encode(&[b"hello".to_vec(), (0..=255).cycle().take(200).collect()].concat());
        cut.truncate(cut.len() - 20);
        let given = decoded(coding, cut.clone(), true).await.unwrap();
        assert!(given.starts_with(b"hello") || coding == "zstd", "a block of zstd is given as a whole");
        let nothing = Err(DecodingError::Broken { coding });
        assert_eq!(decoded(coding, cut, false).await, if given.is_empty() { nothing } else { Ok(given) });
    }
}
