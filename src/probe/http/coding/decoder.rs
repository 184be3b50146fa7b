//! Types that all decoders share: the codings, a step of decoding, its result and its refusals.
//!
//! Each decoder is in a file of its own; `chain` combines them.

/// Difference between a brotli window and its power of two, in bytes.
pub(super) const WINDOW_GAP_BYTES: usize = 16;

/// The reasons why a body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::probe::http) enum DecodingError {
    /// The data are invalid for the coding.
    #[error("The body is not valid {coding}")]
    Broken {
        /// The name of the coding.
        coding: &'static str,
    },
    /// The data need a larger window than this decoder supports.
    #[error("The body is compressed with a window above {max_mebibytes} MiB")]
    Window {
        /// The largest supported window.
        max_mebibytes: u32,
    },
}

/// The progress of one step of a decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DecodeStep {
    /// Coded bytes read.
    pub(super) taken: usize,
    /// Decoded bytes written.
    pub(super) given: usize,
}

/// A decoder of one coding, which decodes step by step.
pub(super) trait ContentDecoder: Send {
    /// Decodes some of `coded` into `room`. No progress in spite of input means that the data have ended: the rest is
    /// ignored.
    fn step(&mut self, coded: &[u8], room: &mut [u8]) -> Result<DecodeStep, DecodingError>;

    /// Returns true when the data may end here.
    fn is_complete(&self) -> bool;
}

/// A decoded body, or the start of it.
#[derive(Debug, Default)]
pub(in crate::probe::http) struct DecodedBody {
    /// The decoded bytes.
    pub(in crate::probe::http) bytes: Vec<u8>,
    /// True when the body is longer than `bytes`.
    pub(in crate::probe::http) is_cut: bool,
}

/// The codings that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentCoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl ContentCoding {
    /// The coding with this name in a `Content-Encoding` header, in lower case.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            "br" => Some(Self::Brotli),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The refusal of data that are invalid for this coding.
    pub(super) const fn broken(self) -> DecodingError {
        let coding = match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        };
        DecodingError::Broken { coding }
    }

    /// Returns true when a decoder of this coding allocates a window of the announced size.
    pub(super) const fn needs_window(self) -> bool {
        matches!(self, Self::Brotli | Self::Zstd)
    }
}
