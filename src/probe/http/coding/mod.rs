//! Content codings: gzip, deflate, brotli, zstd, undone within limits of memory and of time on this thread.
//!
//! A bomb costs no more than the limit: decoding stops there and keeps what it has. Brotli and zstd need a window
//! besides the body, so of them half as much is undone, and one body at a time for each location. Decoding yields
//! every few KiB, so that other checks of the thread go on and the deadline of this one cuts it off. Broken data is
//! an error only when the body arrived whole.

mod brotli;
mod deflate;
mod plain;
mod zstd;

use std::io;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::sync::Semaphore;

use brotli::Brotli;
use deflate::Deflate;
use plain::Plain;
use zstd::Zstd;

/// Codings on top of each other that are undone; nobody means more.
const LAYERS_MAX: usize = 2;
/// A window is smaller by so much than the power of two that brotli makes room for.
const WINDOW_GAP_BYTES: usize = 16;
/// Coded bytes between two yields: at most a mebibyte of deflated ones, a millisecond of work.
const SLICE_BYTES: usize = 1024;

/// The reasons why a body is not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// Not what its name says, or a name that nobody knows.
    #[error("The body cannot be decoded")]
    Broken,
    /// It demands more memory than its format's specification grants.
    #[error("The body is compressed with a window above {max_mebibytes} MiB")]
    Window {
        /// The largest window that is undone.
        max_mebibytes: u32,
    },
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// Undoes one coding, piece by piece.
trait Undo: Send {
    /// Decodes a piece.
    fn feed(&mut self, coded: &[u8]) -> Result<(), Refusal>;

    /// Nothing more will come; an error when more should.
    fn finish(&mut self) -> io::Result<()>;

    /// Returns what has been decoded so far.
    fn plain(&mut self) -> &mut Plain;
}

/// A body as it arrived.
#[derive(Debug)]
pub(super) struct Coded<'a> {
    pub(super) body: Vec<u8>,
    pub(super) headers: &'a HeaderMap,
    /// True when there would have been more of it.
    pub(super) is_cut: bool,
}

/// The memory that decoding may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// Most bytes of a decoded body.
    pub(super) max_bytes: usize,
    /// Those that decode with a window: one at a time.
    pub(super) windows: &'a Semaphore,
}

impl Bounds<'_> {
    /// Most bytes of a body that is decoded with a window: half, the window takes the other.
    const fn beside_a_window(self) -> usize {
        (self.max_bytes / 2).saturating_sub(WINDOW_GAP_BYTES)
    }
}

/// The body as it was before it was coded, within bounds.
pub(super) async fn decode(coded: Coded<'_>, bounds: Bounds<'_>) -> Result<Vec<u8>, Refusal> {
    let codings = codings(coded.headers);
    if codings.len() > LAYERS_MAX {
        return Err(Refusal::Broken);
    }
    // With a coding inside of another one, there are two bodies at once.
    let layers = codings.len().max(1);
    let bounds = Bounds { max_bytes: bounds.max_bytes / layers, ..bounds };
    let mut body = coded.body;
    for coding in codings.iter().rev() {
        if !body.is_empty() {
            body = undo(coding, body, coded.is_cut, bounds).await?;
        }
    }
    Ok(body)
}

/// Returns how many bytes of a coded body are worth keeping.
pub(super) fn worth_keeping(headers: &HeaderMap, max_bytes: usize) -> usize {
    if codings(headers).is_empty() { max_bytes } else { max_bytes / 2 }
}

/// The codings in the order of their application, in lower case.
fn codings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let names = names.map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty() && name != "identity").collect()
}

fn needs_window(coding: &str) -> bool {
    matches!(coding, "br" | "zstd")
}

async fn undo(coding: &str, body: Vec<u8>, is_cut: bool, bounds: Bounds<'_>) -> Result<Vec<u8>, Refusal> {
    // The semaphore is never closed.
    let _turn = if needs_window(coding) { bounds.windows.acquire().await.ok() } else { None };
    let mut decoder = decoder(coding, &body, bounds)?;
    match feed(decoder.as_mut(), &body).await {
        Err(Refusal::Broken) if is_cut => Ok(decoder.plain().take()),
        Err(refusal) => Err(refusal),
        Ok(()) => Ok(decoder.plain().take()),
    }
}

fn decoder(coding: &str, body: &[u8], bounds: Bounds<'_>) -> Result<Box<dyn Undo>, Refusal> {
    let decoder: Box<dyn Undo> = match coding {
        "gzip" | "x-gzip" => Box::new(Deflate::gzip(bounds.max_bytes)),
        "deflate" => Box::new(Deflate::zlib_or_bare(body, bounds.max_bytes)),
        "br" => Box::new(Brotli::new(bounds.beside_a_window())),
        "zstd" => Box::new(Zstd::new(bounds.beside_a_window())?),
        _ => return Err(Refusal::Broken),
    };
    Ok(decoder)
}

async fn feed(decoder: &mut dyn Undo, body: &[u8]) -> Result<(), Refusal> {
    for slice in body.chunks(SLICE_BYTES) {
        decoder.feed(slice)?;
        if decoder.plain().is_full() {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
    Ok(decoder.finish()?)
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
        ::zstd::stream::encode_all(plain, 1).unwrap()
    }

    /// `hello`, as the reference encoder writes it.
    fn brotli(_plain: &[u8]) -> Vec<u8> {
        vec![0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03]
    }

    /// Decodes at most `LIMIT` bytes, half of that with a window.
    async fn decoded(coding: &'static str, body: Vec<u8>, is_cut: bool) -> Result<Vec<u8>, Refusal> {
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
        let bounds = Bounds { max_bytes: LIMIT, windows: &Semaphore::new(1) };
        decode(Coded { body, headers: &headers, is_cut }, bounds).await
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
    #[tokio::test]
    async fn every_coding_is_undone(#[case] coding: &'static str, #[case] encode: impl Fn(&[u8]) -> Vec<u8>) {
        assert_eq!(decoded(coding, encode(b"hello"), false).await, Ok(b"hello".to_vec()));
    }

    #[rstest]
    #[case("gzip", gzip, LIMIT)]
    #[case("deflate", zlib, LIMIT)]
    #[case("zstd", zstd, LIMIT / 2 - WINDOW_GAP_BYTES)]
    #[tokio::test]
    async fn a_bomb_ends_at_the_limit(
        #[case] coding: &'static str,
        #[case] encode: fn(&[u8]) -> Vec<u8>,
        #[case] kept: usize,
    ) {
        let bomb = encode(&vec![b'a'; 10_000_000]);
        assert_eq!(decoded(coding, bomb, false).await, Ok(vec![b'a'; kept]));
    }

    /// Frames of zstd and members of gzip may follow each other; a frame of zstd may hold something else.
    #[rstest]
    #[case("gzip", [gzip(b"one "), gzip(b"two")].concat())]
    #[case("zstd", [zstd(b"one "), b"\x50\x2a\x4d\x18\x02\0\0\0??".to_vec(), zstd(b"two")].concat())]
    #[tokio::test]
    async fn parts_are_joined(#[case] coding: &'static str, #[case] body: Vec<u8>) {
        assert_eq!(decoded(coding, body, false).await, Ok(b"one two".to_vec()));
    }

    /// A stream whose encoder looks back 8 MiB loses nothing within the limit.
    #[tokio::test]
    async fn a_large_window_costs_what_is_read_and_changes_nothing() {
        let noise: Vec<u8> =
            (0_u32..300_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let plain = [&noise[..], &noise[..]].concat();
        let mut encoder = ::zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(23).unwrap();
        encoder.write_all(&plain).unwrap();
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("zstd"))]);
        let bounds = Bounds { max_bytes: 3_000_000, windows: &Semaphore::new(1) };
        let body = encoder.finish().unwrap();
        let decoded = decode(Coded { body, headers: &headers, is_cut: false }, bounds).await.unwrap();
        assert_eq!(decoded.len(), 1_500_000 - WINDOW_GAP_BYTES);
        assert!(plain.starts_with(&decoded));
    }

    #[rstest]
    #[case("gzip")]
    #[case("br")]
    #[case("zstd")]
    #[case("compress")]
    #[case("gzip, gzip, gzip")]
    #[tokio::test]
    async fn broken_and_unknown_codings_are_errors(#[case] coding: &'static str) {
        let body = b"\xff\xff not coded at all".to_vec();
        assert_eq!(decoded(coding, body, false).await, Err(Refusal::Broken));
    }

    #[rstest]
    #[case("gzip", gzip)]
    #[case("zstd", zstd)]
    #[tokio::test]
    async fn a_cut_body_gives_what_it_has(
        #[case] coding: &'static str,
        #[case] encode: fn(&[u8]) -> Vec<u8>,
    ) {
        let mut cut = encode(&[b"hello".to_vec(), (0..=255).cycle().take(200).collect()].concat());
        cut.truncate(cut.len() - 20);
        let given = decoded(coding, cut.clone(), true).await.unwrap();
        assert!(given.starts_with(b"hello") || coding == "zstd", "a block of zstd is given as a whole");
        assert_eq!(decoded(coding, cut, false).await, Err(Refusal::Broken));
    }
}
