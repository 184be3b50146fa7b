//! A connection on which malformed HTTP/1 responses are repaired before the HTTP library reads them.
//!
//! Browsers and curl accept much that the specification forbids; a server that every visitor can use is not broken. The head
//! is rewritten by `head`, chunks by `chunks`; data that cannot be repaired are passed on unchanged, and the library reports
//! the error.

mod chunks;
mod head;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::head_limits::HEAD_MAX_BYTES;
use chunks::{ChunkProgress, ChunkReader};
use head::{BodyFraming, HeadForm};

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 16 << 10;

/// A connection of HTTP/1 for a client that sends one request after the other.
#[derive(Debug)]
pub(crate) struct LenientStream<S> {
    stream: S,
    stage: ExchangeStage,
    /// Received data that are not parsed yet.
    waiting: Vec<u8>,
    /// Repaired data, and the part of them that was already read.
    tidy: Vec<u8>,
    handed: usize,
}

/// The next part of an exchange.
#[derive(Debug)]
enum ExchangeStage {
    /// No response is expected.
    Idle,
    /// The head of a response.
    Head {
        is_body_allowed: bool,
    },
    /// Remaining bytes of a body with a known length.
    Length(u64),
    Chunks(ChunkReader),
    /// Data that are passed on unchanged.
    AsItIs,
    /// The body is complete, and the connection is not used again.
    Over,
}

impl<S> LenientStream<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, stage: ExchangeStage::Idle, waiting: Vec::new(), tidy: Vec::new(), handed: 0 }
    }

    /// Repairs as much of the received data as possible.
    fn normalise_input(&mut self) {
        while !self.waiting.is_empty() {
            match &mut self.stage {
                ExchangeStage::Head { is_body_allowed } => {
                    let is_body_allowed = *is_body_allowed;
                    if !self.normalise_head(is_body_allowed) {
                        return;
                    }
                }
                ExchangeStage::Chunks(reader) => match reader.read(&mut self.waiting, &mut self.tidy) {
                    ChunkProgress::Partial => return,
                    ChunkProgress::Complete if reader.is_bare() => self.stage = ExchangeStage::Over,
                    ChunkProgress::Complete => self.stage = ExchangeStage::Idle,
                    ChunkProgress::Broken => self.stage = ExchangeStage::AsItIs,
                },
                ExchangeStage::Length(left) => {
                    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(self.waiting.len());
                    *left -= taken as u64;
                    let is_complete = *left == 0;
                    self.tidy.extend(self.waiting.drain(..taken));
                    if is_complete {
                        self.stage = ExchangeStage::Idle;
                    }
                }
                ExchangeStage::Idle | ExchangeStage::AsItIs => self.tidy.append(&mut self.waiting),
                ExchangeStage::Over => self.waiting.clear(),
            }
        }
    }

    /// Repairs a head; returns false if more data are needed first.
    fn normalise_head(&mut self, is_body_allowed: bool) -> bool {
        match head::find_head_end(&self.waiting) {
            HeadForm::Partial if self.waiting.len() <= HEAD_MAX_BYTES => return false,
            HeadForm::Partial | HeadForm::Foreign => self.stage = ExchangeStage::AsItIs,
            HeadForm::Complete(length) => {
                let framing = head::rewrite_head(&self.waiting[..length], &mut self.tidy);
                self.waiting.drain(..length);
                self.stage = match framing {
                    BodyFraming::Informational => ExchangeStage::Head { is_body_allowed },
                    BodyFraming::Empty => ExchangeStage::Idle,
                    BodyFraming::UntilClose => ExchangeStage::AsItIs,
                    _ if !is_body_allowed => ExchangeStage::Idle,
                    BodyFraming::Length(0) => ExchangeStage::Idle,
                    BodyFraming::Length(length) => ExchangeStage::Length(length),
                    BodyFraming::Chunks => ExchangeStage::Chunks(ChunkReader::new(false)),
                    BodyFraming::BareChunks => ExchangeStage::Chunks(ChunkReader::new(true)),
                };
            }
        }
        true
    }

    fn hand_over(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.tidy[self.handed..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.handed += length;
        if self.handed == self.tidy.len() {
            self.tidy = Vec::new();
            self.handed = 0;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LenientStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.handed < this.tidy.len() {
                this.hand_over(buffer);
                return Poll::Ready(Ok(()));
            }
            match this.stage {
                ExchangeStage::Over => return Poll::Ready(Ok(())),
                ExchangeStage::Idle | ExchangeStage::AsItIs => {
                    return Pin::new(&mut this.stream).poll_read(context, buffer);
                }
                _ => {}
            }
            let mut piece = [0; PIECE_BYTES];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut piece))?;
            if piece.filled().is_empty() {
                return match &this.stage {
                    // The library would take the end of the connection for the end of the body.
                    ExchangeStage::Chunks(reader) if reader.is_bare() => {
                        Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()))
                    }
                    ExchangeStage::Head { .. } if !this.waiting.is_empty() => {
                        this.stage = ExchangeStage::AsItIs;
                        this.normalise_input();
                        continue;
                    }
                    _ => Poll::Ready(Ok(())),
                };
            }
            this.waiting.extend_from_slice(piece.filled());
            this.normalise_input();
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LenientStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if matches!(this.stage, ExchangeStage::Idle) && !bytes.is_empty() {
            this.stage = ExchangeStage::Head { is_body_allowed: !bytes.starts_with(b"HEAD ") };
        }
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
