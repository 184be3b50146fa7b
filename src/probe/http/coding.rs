//! Content codings: gzip, deflate, brotli, zstd, undone within a limit.
//!
//! A bomb costs no more than the limit: decoding stops there and keeps what it has. Broken data is an error only
//! when the body arrived whole.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// Codings on top of each other that are undone; nobody means more.
const LAYERS_MAX: usize = 2;

/// A body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BrokenCoding;

/// The body as it was before it was coded, at most `max_bytes` of it.
pub(super) fn decode(
    body: Vec<u8>,
    headers: &HeaderMap,
    is_cut: bool,
    max_bytes: usize,
) -> Result<Vec<u8>, BrokenCoding> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let codings: Vec<&str> = names
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
        .collect();
    if codings.len() > LAYERS_MAX {
        return Err(BrokenCoding);
    }
    codings.iter().rev().try_fold(body, |coded, coding| {
        if coded.is_empty() {
            return Ok(coded);
        }
        undo(coding, &coded, is_cut, max_bytes)
    })
}

fn undo(coding: &str, coded: &[u8], is_cut: bool, max_bytes: usize) -> Result<Vec<u8>, BrokenCoding> {
    match coding.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => take(MultiGzDecoder::new(coded), is_cut, max_bytes),
        "deflate" if is_zlib(coded) => take(ZlibDecoder::new(coded), is_cut, max_bytes),
        "deflate" => take(DeflateDecoder::new(coded), is_cut, max_bytes),
        "br" => take(
            brotli_decompressor::Decompressor::new(coded, 4096),
            is_cut,
            max_bytes,
        ),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(coded) {
            Ok(decoder) => take(decoder, is_cut, max_bytes),
            Err(_) => Err(BrokenCoding),
        },
        _ => Err(BrokenCoding),
    }
}

/// Some servers send bare deflate data where the zlib format is meant (RFC 9110, section 8.4.1.2).
fn is_zlib(coded: &[u8]) -> bool {
    match coded {
        [method, flags, ..] => method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0,
        _ => false,
    }
}

fn take(decoder: impl Read, is_cut: bool, max_bytes: usize) -> Result<Vec<u8>, BrokenCoding> {
    let mut plain = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    let read: io::Result<usize> = decoder.take(limit).read_to_end(&mut plain);
    match read {
        Err(_) if !is_cut => Err(BrokenCoding),
        _ => Ok(plain),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use http::HeaderValue;
    use rstest::rstest;

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
        ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// `hello`, as the reference encoder writes it.
    fn brotli(_plain: &[u8]) -> Vec<u8> {
        vec![0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03]
    }

    fn decoded(coding: &'static str, body: Vec<u8>, is_cut: bool) -> Result<Vec<u8>, BrokenCoding> {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
        decode(body, &headers, is_cut, LIMIT)
    }

    #[rstest]
    #[case("gzip", gzip)]
    #[case("X-GZip", gzip)]
    #[case("deflate", zlib)]
    #[case("deflate", deflate)]
    #[case("br", brotli)]
    #[case("zstd", zstd)]
    #[case("identity", |plain: &[u8]| plain.to_vec())]
    #[case("deflate, gzip", |plain: &[u8]| gzip(&zlib(plain)))]
    fn every_coding_is_undone(#[case] coding: &'static str, #[case] encode: impl Fn(&[u8]) -> Vec<u8>) {
        assert_eq!(decoded(coding, encode(b"hello"), false), Ok(b"hello".to_vec()));
    }

    #[rstest]
    #[case("gzip", gzip)]
    #[case("deflate", zlib)]
    #[case("zstd", zstd)]
    fn a_bomb_ends_at_the_limit(#[case] coding: &'static str, #[case] encode: fn(&[u8]) -> Vec<u8>) {
        let bomb = encode(&vec![b'a'; 10_000_000]);
        assert_eq!(decoded(coding, bomb, false), Ok(vec![b'a'; LIMIT]));
    }

    #[rstest]
    #[case("gzip")]
    #[case("br")]
    #[case("zstd")]
    #[case("compress")]
    #[case("gzip, gzip, gzip")]
    fn broken_and_unknown_codings_are_errors(#[case] coding: &'static str) {
        assert_eq!(
            decoded(coding, b"\xff\xff not coded at all".to_vec(), false),
            Err(BrokenCoding)
        );
    }

    #[test]
    fn a_cut_body_gives_what_it_has() {
        let mut cut = gzip(&[b"hello".to_vec(), (0..=255).cycle().take(500).collect()].concat());
        cut.truncate(cut.len() - 20);
        assert!(decoded("gzip", cut.clone(), true).unwrap().starts_with(b"hello"));
        assert_eq!(decoded("gzip", cut, false), Err(BrokenCoding));
    }
}
