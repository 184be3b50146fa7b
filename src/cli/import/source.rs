//! The source of an import, a file or standard input: opened once, identified by its fingerprint.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::config::sources::ConfigError;

/// Bytes at the start and at the end of a file that are hashed into its fingerprint.
const HASHED_BYTES: u64 = 1 << 20;

pub(super) enum ImportSource {
    File { file: File, bytes: u64 },
    Pipe(File),
    Stdin,
}

impl ImportSource {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, ConfigError> {
        if path == Path::new("-") {
            return Ok(Self::Stdin);
        }
        let unfit = |problem: &str| ConfigError(format!("{}: {problem}", path.display()));
        let file = File::open(path).map_err(|error| unfit(&error.to_string()))?;
        let about = file.metadata().map_err(|error| unfit(&error.to_string()))?;
        if about.is_dir() {
            return Err(unfit("this is a folder; it must be a file, or - for standard input"));
        }
        // A source without a size, such as a pipe, can be read only once.
        Ok(if about.is_file() { Self::File { file, bytes: about.len() } } else { Self::Pipe(file) })
    }

    /// Size in bytes, if known.
    pub(super) const fn bytes(&self) -> Option<u64> {
        match self {
            Self::File { bytes, .. } => Some(*bytes),
            Self::Pipe(_) | Self::Stdin => None,
        }
    }

    /// Returns a fingerprint that identifies a repeated import of the same file with the same options: a hash of its size,
    /// its first and last MiB, and `options`. `None` for a pipe or standard input.
    pub(super) fn fingerprint(&mut self, options: &str) -> io::Result<Option<String>> {
        let Self::File { file, bytes } = self else { return Ok(None) };
        let mut hash = Sha256::new();
        hash.update(bytes.to_le_bytes());
        hash.update(options.as_bytes());
        for start in [0, bytes.saturating_sub(HASHED_BYTES)] {
            file.seek(SeekFrom::Start(start))?;
            let mut part = Vec::new();
            file.by_ref().take(HASHED_BYTES).read_to_end(&mut part)?;
            hash.update(&part);
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(Some(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns the reader of the source.
    pub(super) fn into_read(self) -> Box<dyn Read + Send> {
        match self {
            Self::File { file, .. } | Self::Pipe(file) => Box::new(file),
            Self::Stdin => Box::new(io::stdin()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn fingerprint(text: &[u8], options: &str) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let mut source = ImportSource::open(file.path()).unwrap();
        let fingerprint = source.fingerprint(options).unwrap().unwrap();
        let mut read = Vec::new();
        source.into_read().read_to_end(&mut read).unwrap();
        assert_eq!(read, text, "it is read from its start afterwards");
        fingerprint
    }

    #[test]
    fn a_file_is_recognised_by_its_content() {
        let first = fingerprint(b"one\ntwo\n", "csv");
        assert_eq!(first.len(), 32);
        assert_eq!(fingerprint(b"one\ntwo\n", "csv"), first);
        for (text, options) in [(&b"one\ntwo"[..], "csv"), (b"one\ntwx\n", "csv"), (b"one\ntwo\n", "jsonl")] {
            assert_ne!(fingerprint(text, options), first);
        }
        let mut long = vec![b'x'; 3 << 20];
        let before = fingerprint(&long, "csv");
        *long.last_mut().unwrap() = b'y';
        assert_ne!(fingerprint(&long, "csv"), before);
    }

    #[test]
    fn an_error_names_the_file_that_cannot_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing.csv");
        assert!(ImportSource::open(&missing).err().unwrap().to_string().contains("missing.csv: "));
        assert!(
            ImportSource::open(folder.path()).err().unwrap().to_string().ends_with("or - for standard input")
        );
    }
}
