//! The chain of decoders of one body, and its output up to a limit.
//!
//! There is one buffer between two decoders, never a whole body. Decoding yields every few KiB, so that other checks of
//! the thread can run and the deadline of this one is kept.

use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use super::brotli::BrotliDecoder;
use super::decoder::{ContentCoding, ContentDecoder, DecodedBody, DecodingError, WINDOW_GAP_BYTES};
use super::deflate::DeflateDecoder;
use super::gzip::GzipDecoder;
use super::zstd::ZstdDecoder;
use crate::probe::http::bounded_buffer::append;

/// Maximum number of nested codings, as in curl.
const LAYERS_MAX: usize = 5;
const BUFFER_BYTES: usize = 16 << 10;
/// Coded and decoded bytes of all decoders between two yields: well below a millisecond of work.
const WORK_BETWEEN_YIELDS: usize = 128 << 10;
/// Maximum of coded and decoded bytes of all decoders: more than any body within the other limits needs.
const WORK_MAX_BYTES: usize = 32 << 20;

/// The decoders of one body.
pub(super) struct DecoderChain {
    /// The decoders, outermost coding first.
    layers: Vec<DecoderLayer>,
    /// The output buffer of a decoder.
    buffer: Box<[u8]>,
    plain: Vec<u8>,
    max_bytes: usize,
    is_cut: bool,
    has_input: bool,
    work: usize,
}

/// A decoder with its pending input.
struct DecoderLayer {
    coding: ContentCoding,
    decoder: Box<dyn ContentDecoder>,
    waiting: Vec<u8>,
    /// True if the last step filled its output buffer, so that more output may follow.
    may_have_more: bool,
    /// Number of output bytes that may still be read. Beyond them, the output of a decoder with a lowered
    /// window is wrong.
    room_bytes: usize,
}

impl DecoderLayer {
    fn new(coding: ContentCoding, max_bytes: usize) -> Result<Self, DecodingError> {
        let room_bytes = if coding.needs_window() { max_bytes } else { usize::MAX };
        let decoder = decoder(coding, max_bytes)?;
        Ok(Self { coding, decoder, waiting: Vec::new(), may_have_more: false, room_bytes })
    }

    const fn has_work(&self) -> bool {
        self.may_have_more || !self.waiting.is_empty()
    }
}

impl DecoderChain {
    /// Creates the decoders for the codings in these headers. At most `max_bytes` of the decoded body are kept,
    /// or half of that if a coding needs a window.
    pub(super) fn new(headers: &HeaderMap, max_bytes: usize) -> Result<Self, DecodingError> {
        let codings = known(headers);
        let has_window = codings.iter().any(|coding| coding.needs_window());
        let max_bytes = if has_window { (max_bytes / 2).saturating_sub(WINDOW_GAP_BYTES) } else { max_bytes };
        let layers = codings.into_iter().map(|coding| DecoderLayer::new(coding, max_bytes));
        let layers = layers.collect::<Result<Vec<_>, _>>()?;
        let buffer = if layers.is_empty() { Vec::new() } else { vec![0; BUFFER_BYTES] };
        Ok(Self {
            layers,
            buffer: buffer.into(),
            plain: Vec::new(),
            max_bytes,
            is_cut: false,
            has_input: false,
            work: 0,
        })
    }

    /// Returns true when a decoder allocates a window of the announced size.
    pub(super) fn needs_window(&self) -> bool {
        self.layers.iter().any(|layer| layer.coding.needs_window())
    }

    /// Decodes a chunk of the body; returns true if more is wanted.
    pub(super) async fn feed(&mut self, piece: &[u8]) -> Result<bool, DecodingError> {
        self.has_input |= !piece.is_empty();
        for part in piece.chunks(BUFFER_BYTES) {
            match self.layers.first_mut() {
                None => self.keep(part),
                Some(outermost) => {
                    outermost.waiting.extend_from_slice(part);
                    self.run().await?;
                }
            }
            if self.is_cut {
                break;
            }
        }
        Ok(!self.is_cut)
    }

    /// Returns the kept part of the body. As in curl and browsers, truncated data are accepted; they are an error only when
    /// nothing could be decoded.
    pub(super) fn finish(self, is_cut: bool) -> Result<DecodedBody, DecodingError> {
        let is_cut = is_cut || self.is_cut;
        match self.layers.iter().find(|layer| !layer.decoder.is_complete()) {
            Some(layer) if !is_cut && self.has_input && self.plain.is_empty() => Err(layer.coding.broken()),
            _ => Ok(DecodedBody { bytes: self.plain, is_cut }),
        }
    }

    /// Decodes until all pending input is used up, or the limit is reached.
    async fn run(&mut self) -> Result<(), DecodingError> {
        let mut unyielded = 0;
        while !self.is_cut {
            let Some(at) = self.next_layer() else { break };
            let worked = self.step(at)?;
            self.work += worked;
            unyielded += worked;
            self.is_cut |= self.work > WORK_MAX_BYTES;
            if unyielded > WORK_BETWEEN_YIELDS {
                unyielded = 0;
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Returns the innermost decoder with work: it runs first, so that no input accumulates before it.
    fn next_layer(&self) -> Option<usize> {
        self.layers.iter().rposition(DecoderLayer::has_work)
    }

    /// Runs one step of one decoder; returns the number of bytes read and written.
    fn step(&mut self, at: usize) -> Result<usize, DecodingError> {
        let layer = &mut self.layers[at];
        let room = layer.room_bytes.min(BUFFER_BYTES);
        let step = layer.decoder.step(&layer.waiting, &mut self.buffer[..room])?;
        layer.waiting.drain(..step.taken);
        layer.may_have_more = step.given == room;
        layer.room_bytes -= step.given;
        if step.taken == 0 && step.given == 0 {
            layer.waiting.clear(); // The data has ended; what follows belongs to nobody.
            layer.may_have_more = false;
        }
        self.is_cut |= layer.room_bytes == 0 && !layer.decoder.is_complete();
        let given = &self.buffer[..step.given];
        match self.layers.get_mut(at + 1) {
            Some(next) => next.waiting.extend_from_slice(given),
            None => {
                self.is_cut |= given.len() > self.max_bytes - self.plain.len();
                append(&mut self.plain, given, self.max_bytes);
            }
        }
        Ok(step.taken + step.given)
    }

    fn keep(&mut self, part: &[u8]) {
        self.is_cut |= part.len() > self.max_bytes - self.plain.len();
        append(&mut self.plain, part, self.max_bytes);
    }
}

/// Creates a decoder for a body of which at most `max_bytes` are read.
fn decoder(coding: ContentCoding, max_bytes: usize) -> Result<Box<dyn ContentDecoder>, DecodingError> {
    Ok(match coding {
        ContentCoding::Gzip => Box::new(GzipDecoder::new()),
        ContentCoding::Deflate => Box::new(DeflateDecoder::default()),
        ContentCoding::Brotli => Box::new(BrotliDecoder::new(max_bytes)),
        ContentCoding::Zstd => Box::new(ZstdDecoder::new(max_bytes)?),
    })
}

/// Returns the codings to decode, outermost first: up to the first unknown one, none when there are too many.
fn known(headers: &HeaderMap) -> Vec<ContentCoding> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let names = names.map(|name| name.trim().to_ascii_lowercase());
    let names: Vec<_> = names.filter(|name| !name.is_empty() && name != "identity").collect();
    let known: Vec<_> = names.iter().rev().map_while(|name| ContentCoding::named(name)).collect();
    if known.len() > LAYERS_MAX { Vec::new() } else { known }
}
