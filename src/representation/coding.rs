//! Content codings of responses, and their negotiation (RFC 9110, section 12.5.3).

use std::io::Write as _;

use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// All codings, the preferred one first.
pub(super) const CODINGS: [ResponseCoding; 3] =
    [ResponseCoding::Brotli, ResponseCoding::Zstd, ResponseCoding::Gzip];

/// Quality of brotli, from 0 to 11. A page of 100 KiB takes some milliseconds; with 11 it would take half a second.
const BROTLI_QUALITY: u32 = 6;
/// Base-2 logarithm of the size of brotli's window in bytes.
const BROTLI_WINDOW: u32 = 22;
const BROTLI_BUFFER_BYTES: usize = 4_096;
/// Level of zstd, from 1 to 22.
const ZSTD_LEVEL: i32 = 12;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseCoding {
    Brotli,
    Zstd,
    Gzip,
}

impl ResponseCoding {
    /// Returns the name of the coding in headers.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// Compresses the content; `None` if that fails.
    pub(super) fn compress(self, plain: &[u8]) -> Option<Bytes> {
        let compressed = match self {
            Self::Brotli => {
                let mut compressed = Vec::new();
                let (quality, window) = (BROTLI_QUALITY, BROTLI_WINDOW);
                let mut writer =
                    brotli::CompressorWriter::new(&mut compressed, BROTLI_BUFFER_BYTES, quality, window);
                writer.write_all(plain).and_then(|()| writer.flush()).ok()?;
                drop(writer);
                compressed
            }
            Self::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL).ok()?,
            Self::Gzip => {
                let mut writer = GzEncoder::new(Vec::new(), Compression::default());
                writer.write_all(plain).ok()?;
                writer.finish().ok()?
            }
        };
        Some(compressed.into())
    }
}

/// Returns the coding that the client prefers; of equally preferred ones, the first of `CODINGS`. `None` = no compression,
/// as for a client without the header.
pub(super) fn preferred(request: &HeaderMap) -> Option<ResponseCoding> {
    let lines = request.get_all(ACCEPT_ENCODING).filter_map(|line| line.to_str().ok());
    let wishes: Vec<(String, f32)> = lines.flat_map(|line| line.split(',')).map(wish).collect();
    let weight = |coding: ResponseCoding| {
        let is_named =
            |name: &str| name == coding.name() || (coding == ResponseCoding::Gzip && name == "x-gzip");
        let found = wishes.iter().find(|(name, _)| is_named(name));
        found.or_else(|| wishes.iter().find(|(name, _)| name == "*")).map_or(0.0, |(_, weight)| *weight)
    };
    let mut best = None;
    let mut best_weight = 0.0;
    for coding in CODINGS {
        if weight(coding) > best_weight {
            (best, best_weight) = (Some(coding), weight(coding));
        }
    }
    best
}

/// Returns a coding in lower case with its weight.
fn wish(coding: &str) -> (String, f32) {
    let (name, parameter) = coding.split_once(';').unwrap_or((coding, "q=1"));
    let weight = parameter.trim().trim_start_matches(['q', 'Q', '=', ' ']);
    (name.trim().to_ascii_lowercase(), weight.parse().unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, None)]
    #[case(Some(""), None)]
    #[case(Some("gzip"), Some("gzip"))]
    #[case(Some("x-gzip"), Some("gzip"))]
    #[case(Some("gzip, deflate, br, zstd"), Some("br"))]
    #[case(Some("gzip, deflate, zstd"), Some("zstd"))]
    #[case(Some("br;q=0.5, GZIP;q=1.0"), Some("gzip"))]
    #[case(Some("gzip;q=0"), None)]
    #[case(Some("gzip; q=0.000, br"), Some("br"))]
    #[case(Some("identity"), None)]
    #[case(Some("gzipped"), None)]
    #[case(Some("*"), Some("br"))]
    #[case(Some("br;q=0, *;q=0.1"), Some("zstd"))]
    fn the_best_accepted_coding_is_chosen(
        #[case] accepted: Option<&'static str>,
        #[case] expected: Option<&str>,
    ) {
        let line = accepted.map(|accepted| (ACCEPT_ENCODING, HeaderValue::from_static(accepted)));
        let chosen = preferred(&line.into_iter().collect());
        assert_eq!(chosen.map(ResponseCoding::name), expected);
    }

    #[rstest]
    #[case(ResponseCoding::Brotli)]
    #[case(ResponseCoding::Zstd)]
    #[case(ResponseCoding::Gzip)]
    fn compressed_content_is_read_back(#[case] coding: ResponseCoding) {
        let plain = "the same again and again; ".repeat(500).into_bytes();
        let compressed = coding.compress(&plain).unwrap();
        assert!(compressed.len() < plain.len() / 10, "{}", compressed.len());
        let mut read = Vec::new();
        match coding {
            ResponseCoding::Brotli => {
                brotli::Decompressor::new(&*compressed, BROTLI_BUFFER_BYTES).read_to_end(&mut read).unwrap()
            }
            ResponseCoding::Zstd => {
                read = zstd::bulk::decompress(&compressed, plain.len()).unwrap();
                read.len()
            }
            ResponseCoding::Gzip => {
                flate2::read::GzDecoder::new(&*compressed).read_to_end(&mut read).unwrap()
            }
        };
        assert_eq!(read, plain);
    }
}
