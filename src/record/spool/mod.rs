//! Facts on disk while the history database is away: a folder of numbered segments, written at one end and read at the
//! other.
//!
//! What [`Spool::append`] has accepted is durable and comes back in order, also after a crash. It is removed only when
//! [`Spool::forget`] says that it is durable elsewhere; a crash before that gives it again, and rows that are written
//! again change nothing. A segment that an earlier process wrote is never appended to. Calls block for the disk.

mod encoding;
mod segment;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::engine::aggregator::Batch;
use crate::record::spool::segment::{HEAD, SegmentReader, frame};

/// A segment that has grown to this is not appended to any more.
const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
const EXTENSION: &str = "spool";
/// What a segment is renamed to that cannot be read at all.
const ASIDE_EXTENSION: &str = "unreadable";

/// The facts that wait on disk.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    max_bytes: u64,
    /// All segments, oldest first.
    segments: VecDeque<Segment>,
    /// The newest segment, as long as it is appended to.
    writer: Option<File>,
    /// The oldest segment, as long as it is read.
    reader: Option<SegmentReader>,
    /// What was read and is not yet forgotten.
    pending: Option<Batch>,
    next_number: u64,
    damages: u64,
}

/// A file.
#[derive(Debug)]
struct Segment {
    number: u64,
    bytes: u64,
}

impl Spool {
    /// The spool in this folder, with what an earlier process left there.
    ///
    /// # Errors
    /// When the folder can be neither made nor read.
    pub fn open(folder: &Path, max_bytes: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut segments = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if let Some(number) = number_of(&entry.path()) {
                segments.push(Segment { number, bytes: entry.metadata()?.len() });
            }
        }
        segments.sort_by_key(|segment| segment.number);
        let next_number = segments.last().map_or(1, |last| last.number + 1);
        Ok(Self {
            folder: folder.to_owned(),
            max_bytes,
            segments: segments.into(),
            writer: None,
            reader: None,
            pending: None,
            next_number,
            damages: 0,
        })
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Whether there is room below the limit. Whoever has something that must not be lost may append all the same.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.bytes() < self.max_bytes
    }

    /// Places that could not be read.
    #[must_use]
    pub const fn damages(&self) -> u64 {
        self.damages
    }

    /// Appends a batch; returns when it is durable.
    ///
    /// # Errors
    /// When the disk is full or fails; then nothing of the batch is in the spool.
    pub fn append(&mut self, batch: &Batch) -> io::Result<()> {
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
            // After a failed sync nobody knows what is on disk: this file is not appended to again.
            let cut = file.set_len(before);
            self.writer = None;
            if let Err(problem) = cut {
                tracing::warn!(%problem, "a torn end stays in the spool; it is skipped when it is read");
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
        // A number is used once, also when that failed half-way.
        self.next_number += 1;
        match begun {
            Ok(file) => {
                self.segments.push_back(Segment { number, bytes: HEAD.len() as u64 });
                self.writer = Some(file);
                Ok(())
            }
            Err(error) => {
                // It may not even have been made.
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }

    /// What waits longest, the same until it is forgotten; `None` if nothing waits.
    pub fn oldest(&mut self) -> Option<&Batch> {
        while self.pending.is_none() {
            let number = self.segments.front()?.number;
            match self.reader.as_mut().map(SegmentReader::next) {
                None => self.begin_reading(number),
                Some(None) => self.remove_oldest(),
                Some(Some(piece)) => {
                    if piece.lost_bytes > 0 {
                        self.report(number, (piece.lost_bytes, piece.is_end));
                    }
                    self.pending = Some(piece.batch).filter(|batch| !batch.is_empty());
                }
            }
        }
        self.pending.as_ref()
    }

    /// What was oldest is durable elsewhere. A segment goes when nothing of it waits.
    pub fn forget(&mut self) {
        self.pending = None;
        // Removes what has been read to its end.
        let _ = self.oldest();
    }

    fn begin_reading(&mut self, number: u64) {
        if self.segments.len() == 1 {
            // What comes from now on goes into a segment of its own.
            self.writer = None;
        }
        let path = self.path(number, EXTENSION);
        let problem = match fs::read(&path).map(SegmentReader::new) {
            Ok(Some(reader)) => {
                self.reader = Some(reader);
                return;
            }
            Ok(None) => "this version cannot read it".to_owned(),
            Err(error) => error.to_string(),
        };
        self.damages += 1;
        let aside = self.path(number, ASIDE_EXTENSION);
        tracing::error!(segment = %path.display(), problem, "a segment of the spool is set aside; its results are missing");
        if let Err(error) = fs::rename(&path, &aside) {
            tracing::error!(%error, "the segment could not be renamed; the next start tries it again");
        }
        self.segments.pop_front();
    }

    fn report(&mut self, number: u64, (bytes, is_end): (usize, bool)) {
        if is_end {
            tracing::warn!(segment = number, bytes, "the torn end of a segment of the spool was cut off");
        } else {
            self.damages += 1;
            tracing::error!(segment = number, bytes, "the spool is damaged; what cannot be read is skipped");
        }
    }

    fn remove_oldest(&mut self) {
        self.reader = None;
        let Some(segment) = self.segments.pop_front() else { return };
        // If it comes back after a crash, its rows are written again and change nothing.
        if let Err(error) = fs::remove_file(self.path(segment.number, EXTENSION)) {
            tracing::warn!(%error, "a segment of the spool could not be removed; the next start tries again");
        }
    }

    fn path(&self, number: u64, extension: &str) -> PathBuf {
        self.folder.join(format!("{number:020}.{extension}"))
    }
}

fn number_of(path: &Path) -> Option<u64> {
    let is_segment = path.extension().is_some_and(|extension| extension == EXTENSION);
    path.file_stem()?.to_str()?.parse().ok().filter(|_| is_segment)
}

#[cfg(test)]
mod tests;
