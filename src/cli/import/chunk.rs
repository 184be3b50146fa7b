//! Turns a file into chunks of results, on its own thread, a few chunks ahead of the database.

use tokio::sync::mpsc;

use crate::cli::import::column::{ImportColumn, LineFields};
use crate::cli::import::directory::ServiceDirectory;
use crate::cli::import::line::ImportLine;
use crate::cli::import::reader::{self, ImportFormat, LinePosition};
use crate::cli::import::source::ImportSource;
use crate::clock::Timestamp;
use crate::model::check::CheckType;
use crate::model::history::CheckRecord;
use crate::model::location::{LocationCode, PUSH};

/// Lines per chunk, which is stored with one commit.
const CHUNK_LINES: u64 = 32_768;

/// A chunk of consecutive lines.
#[derive(Debug, Default)]
pub(super) struct ImportChunk {
    pub(super) records: Vec<CheckRecord>,
    /// Number of leading results that an earlier run has stored.
    pub(super) before: usize,
    pub(super) lines: u64,
    /// Bytes from the start of the file to the end of the last line.
    pub(super) end: u64,
    /// Results older than their retention.
    pub(super) too_old: u64,
    /// Problems, each with its line number.
    pub(super) problems: Vec<String>,
    /// True if the last line is bad, so that no chunk follows.
    pub(super) stops: bool,
}

/// Packs the lines of a file into chunks of results.
pub(super) struct ChunkPacker<'a> {
    pub(super) directory: &'a ServiceDirectory,
    /// Location of lines without one.
    pub(super) location: Option<LocationCode>,
    pub(super) format: ImportFormat,
    pub(super) ignores_unknown: bool,
    pub(super) skips_bad: bool,
    /// Position in the file that an earlier run has reached, in bytes.
    pub(super) reached: u64,
    pub(super) now: Timestamp,
}

enum LineOutcome {
    Result(Box<CheckRecord>),
    TooOld,
}

impl ChunkPacker<'_> {
    /// Reads until the file ends, a line is bad, or the receiver is closed.
    ///
    /// # Errors
    /// When the file cannot be read, or its header is invalid.
    pub(super) fn pack(
        &self,
        source: ImportSource,
        chunks: &mpsc::Sender<ImportChunk>,
    ) -> anyhow::Result<()> {
        let mut chunk = ImportChunk::default();
        reader::read(self.format, source.into_read(), self.ignores_unknown, |position, fields| {
            self.add(&mut chunk, position, fields.and_then(|fields| self.read(fields)));
            if chunk.stops || chunk.lines >= CHUNK_LINES {
                let stops = chunk.stops;
                let sent = chunks.blocking_send(std::mem::take(&mut chunk));
                return sent.is_ok() && !stops;
            }
            true
        })?;
        if chunk.lines > 0 {
            // If the receiver is closed, its side has failed and reports the error.
            let _ = chunks.blocking_send(chunk);
        }
        Ok(())
    }

    fn add(&self, chunk: &mut ImportChunk, position: LinePosition, read: Result<LineOutcome, String>) {
        chunk.lines += 1;
        match read {
            Ok(LineOutcome::Result(record)) => {
                chunk.before += usize::from(position.end <= self.reached);
                chunk.records.push(*record);
            }
            Ok(LineOutcome::TooOld) => chunk.too_old += 1,
            Err(problem) => {
                chunk.problems.push(format!("line {}: {problem}", position.line));
                chunk.stops = !self.skips_bad;
            }
        }
        // The lines before a bad line count as processed, the bad line does not.
        if !chunk.stops {
            chunk.end = position.end;
        }
    }

    fn read(&self, fields: &LineFields<'_>) -> Result<LineOutcome, String> {
        let known = self.directory.find(fields.get(ImportColumn::Service).ok_or("service is missing")?)?;
        let line = ImportLine::read(fields, self.location.as_ref())?;
        if line.checked_at > self.now {
            return Err(format!("time = {} is not allowed; it must be in the past", line.checked_at));
        }
        if line.location.as_str() == PUSH && known.service.check_type != CheckType::Heartbeat {
            return Err(format!(
                "location = '{PUSH}' is not allowed; it is reserved for pings of heartbeat services"
            ));
        }
        if line.checked_at < known.kept_since {
            return Ok(LineOutcome::TooOld);
        }
        let settings = known.service.settings.as_ref().ok_or("service: it is not configured")?;
        Ok(LineOutcome::Result(Box::new(CheckRecord {
            service: known.service.key,
            role: settings.role_of(line.location.as_str()),
            location: line.location,
            scheduled_at: line.scheduled_at,
            checked_at: line.checked_at,
            attempt: line.attempt,
            measurement: line.measurement,
        })))
    }
}
