//! Facts on disk while the history database is unavailable: a queue of numbered segment files in a folder.
//!
//! Facts that [`Spool::append`] has accepted are durable and are returned in order, even after a crash. They are removed
//! only by [`Spool::forget`], when they are durable in the database; after a crash before that they are returned again,
//! and rows that are written twice change nothing. A segment that an earlier process wrote is never appended to. Calls
//! block on the disk.

mod segment;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::engine::aggregator::RecordBatch;
use crate::record::spool::segment::{HEAD, SpoolSegmentReader, frame};

/// Size in bytes at which a new segment is started.
const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
const EXTENSION: &str = "spool";
/// The extension of a segment that this version cannot read.
const ASIDE_EXTENSION: &str = "unreadable";
/// Number of failed attempts to read the oldest segment after which later segments are tried first.
const READ_ATTEMPTS: u32 = 20;

/// The facts that wait on disk.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    max_bytes: u64,
    /// All segments, oldest first.
    segments: VecDeque<SpoolSegment>,
    /// The newest segment, while facts are appended to it.
    writer: Option<File>,
    /// The oldest segment, while it is being read.
    reader: Option<SpoolSegmentReader>,
    /// Failed attempts in a row to read the oldest segment.
    failed_reads: u32,
    /// Segments that could not be read in any attempt. They stay on the disk for the next start.
    passed_over: Vec<SpoolSegment>,
    /// The batch that was read and has not been removed yet.
    pending: Option<RecordBatch>,
    next_number: u64,
    damages: u64,
}

#[derive(Debug)]
struct SpoolSegment {
    number: u64,
    bytes: u64,
}

impl Spool {
    /// Opens the spool in this folder, with the segments of earlier processes.
    ///
    /// # Errors
    /// When the folder can be neither created nor read.
    pub fn open(folder: &Path, max_bytes: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut segments = Vec::new();
        let mut last_number = 0;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if let Some(number) = number_of(&entry.path(), EXTENSION) {
                segments.push(SpoolSegment { number, bytes: entry.metadata()?.len() });
            }
            // A number is used only once, even if its segment was set aside.
            let aside = number_of(&entry.path(), ASIDE_EXTENSION);
            last_number = last_number.max(aside.unwrap_or_default());
        }
        segments.sort_by_key(|segment| segment.number);
        let next_number = segments.last().map_or(0, |last| last.number).max(last_number) + 1;
        Ok(Self {
            folder: folder.to_owned(),
            max_bytes,
            segments: segments.into(),
            writer: None,
            reader: None,
            failed_reads: 0,
            passed_over: Vec::new(),
            pending: None,
            next_number,
            damages: 0,
        })
    }

    /// Returns true if no readable facts are waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the number of bytes on the disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.iter().chain(&self.passed_over).map(|segment| segment.bytes).sum()
    }

    /// Returns true while there is room below the limit. Facts that must not be lost may be appended beyond it.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes() < self.max_bytes
    }

    /// Returns the number of places in the spool that could not be read.
    #[must_use]
    pub const fn damages(&self) -> u64 {
        self.damages
    }

    /// Appends a batch; returns when it is durable.
    ///
    /// # Errors
    ///
    /// When the disk is full or fails; nothing of the batch is in the spool then.
    pub fn append(&mut self, batch: &RecordBatch) -> io::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        if self.segments.back().is_none_or(|newest| newest.bytes >= SEGMENT_BYTES) {
            self.writer = None;
        }
        if self.writer.is_none() {
            self.begin_segment()?;
        }
        let (Some(file), Some(segment)) = (&mut self.writer, self.segments.back_mut()) else {
            return Err(io::Error::other("there is no segment to append to"));
        };
        let frame = frame(batch);
        let before = segment.bytes;
        let written = file.write_all(&frame).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // After a failed sync the contents on disk are unknown, so this file is not appended to again.
            let cut = file.set_len(before);
            self.writer = None;
            if let Err(problem) = cut {
                tracing::warn!(
                    error = %problem,
                    "cannot remove an incomplete batch from the spool; it is skipped when the spool is read"
                );
            }
            return Err(error);
        }
        segment.bytes = before + frame.len() as u64;
        Ok(())
    }

    fn begin_segment(&mut self) -> io::Result<()> {
        let number = self.next_number;
        let path = self.path(number, EXTENSION);
        let begun = (|| {
            let mut file = File::options().append(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all(&HEAD)?;
            File::open(&self.folder)?.sync_all()?;
            Ok(file)
        })();
        // A number is used only once, even if creating its segment failed.
        self.next_number += 1;
        match begun {
            Ok(file) => {
                self.segments.push_back(SpoolSegment { number, bytes: HEAD.len() as u64 });
                self.writer = Some(file);
                Ok(())
            }
            Err(error) => {
                // The file may not exist, so an error is ignored.
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// Returns the oldest batch, the same until it is removed by [`Spool::forget`]; `None` if nothing waits.
    ///
    /// # Errors
    ///
    /// When the batch cannot be read now (no file descriptors, a failing disk). The batch is kept, and the call can be
    /// repeated later. A batch that stays unreadable is skipped until the next start, so that it does not block the
    /// others.
    pub fn oldest(&mut self) -> io::Result<Option<&RecordBatch>> {
        while self.pending.is_none() {
            let Some(number) = self.segments.front().map(|segment| segment.number) else { break };
            match self.reader.as_mut().map(SpoolSegmentReader::next) {
                None => self.begin_reading(number)?,
                Some(None) => self.remove_oldest(),
                Some(Some(piece)) => {
                    if piece.lost_bytes > 0 {
                        self.report(number, piece.lost_bytes, piece.is_end);
                    }
                    self.pending = Some(piece.batch).filter(|batch| !batch.is_empty());
                }
            }
        }
        Ok(self.pending.as_ref())
    }

    /// Removes the oldest batch, which is durable in the database. A segment is deleted once all of it is removed.
    pub fn forget(&mut self) {
        self.pending = None;
        // Removes segments that were read to their end. A batch that cannot be read now is retried later.
        let _ = self.oldest();
    }

    fn begin_reading(&mut self, number: u64) -> io::Result<()> {
        if self.segments.len() == 1 {
            // Facts that arrive later are written to a segment of their own.
            self.writer = None;
        }
        let path = self.path(number, EXTENSION);
        match fs::read(&path) {
            Ok(bytes) => {
                self.failed_reads = 0;
                self.reader = SpoolSegmentReader::new(bytes);
                if self.reader.is_none() {
                    self.set_aside(number);
                }
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.damages += 1;
                tracing::error!(file = %path.display(), "spool segment missing; its results are lost");
                self.segments.pop_front();
                Ok(())
            }
            Err(error) => {
                self.failed_reads += 1;
                if self.failed_reads >= READ_ATTEMPTS {
                    self.pass_over(&error);
                }
                Err(error)
            }
        }
    }

    /// Renames a segment of another version, so that a program that can read it finds it.
    fn set_aside(&mut self, number: u64) {
        self.damages += 1;
        let path = self.path(number, EXTENSION);
        tracing::error!(
            file = %path.display(),
            "spool segment of another version set aside; its results are missing until that version reads it"
        );
        if let Err(error) = fs::rename(&path, self.path(number, ASIDE_EXTENSION)) {
            tracing::error!(
                file = %path.display(),
                %error,
                "cannot rename the spool segment; the next start tries again"
            );
        }
        self.segments.pop_front();
    }

    fn pass_over(&mut self, error: &io::Error) {
        self.failed_reads = 0;
        self.damages += 1;
        let Some(segment) = self.segments.pop_front() else { return };
        tracing::error!(
            segment = segment.number,
            %error,
            "cannot read a spool segment; the next start tries again"
        );
        self.passed_over.push(segment);
    }

    fn report(&mut self, number: u64, bytes: usize, is_end: bool) {
        if is_end {
            tracing::warn!(segment = number, bytes, "incomplete end of a spool segment removed");
        } else {
            self.damages += 1;
            tracing::error!(segment = number, bytes, "spool segment damaged; skipping what cannot be read");
        }
    }

    fn remove_oldest(&mut self) {
        self.reader = None;
        let Some(segment) = self.segments.pop_front() else { return };
        // If the file comes back after a crash, its rows are written again and change nothing.
        if let Err(error) = fs::remove_file(self.path(segment.number, EXTENSION)) {
            tracing::warn!(
                segment = segment.number,
                %error,
                "cannot remove a spool segment; the next start tries again"
            );
        }
    }

    fn path(&self, number: u64, extension: &str) -> PathBuf {
        self.folder.join(format!("{number:020}.{extension}"))
    }
}

fn number_of(path: &Path, extension: &str) -> Option<u64> {
    let is_segment = path.extension().is_some_and(|found| found == extension);
    path.file_stem()?.to_str()?.parse().ok().filter(|_| is_segment)
}

#[cfg(test)]
mod tests;
