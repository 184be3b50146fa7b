//! Parser for chunks (RFC 9112, section 7.1) that is as lenient as browsers: line feeds alone end lines, and trailers are
//! dropped without a check.

use crate::egress::head_limits::HEAD_MAX_BYTES;

/// Maximum length of the line with a chunk's size, including its extensions, in bytes.
const LINE_MAX_BYTES: usize = 16 << 10;

/// Parses chunks and rewrites them, or returns only their content.
#[derive(Debug)]
pub(super) struct ChunkReader {
    /// True if only the content is returned, because the head does not announce chunks.
    is_bare: bool,
    stage: ChunkStage,
    trailer_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkStage {
    Size,
    Content(u64),
    /// The end of the line after the content.
    End,
    Trailers,
}

/// The progress of parsing chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkProgress {
    /// More data are needed.
    Partial,
    /// The last chunk was read.
    Complete,
    /// The data are not a chunk.
    Broken,
}

impl ChunkReader {
    pub(super) const fn new(is_bare: bool) -> Self {
        Self { is_bare, stage: ChunkStage::Size, trailer_bytes: 0 }
    }

    pub(super) const fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Parses as much of `waiting` as possible, and appends the result to `tidy`.
    pub(super) fn read(&mut self, waiting: &mut Vec<u8>, tidy: &mut Vec<u8>) -> ChunkProgress {
        let mut at = 0;
        let read = self.advance(waiting, &mut at, tidy);
        waiting.drain(..at);
        read
    }

    fn advance(&mut self, waiting: &[u8], at: &mut usize, tidy: &mut Vec<u8>) -> ChunkProgress {
        while *at < waiting.len() {
            let rest = &waiting[*at..];
            match self.stage {
                ChunkStage::Content(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    self.write(&rest[..taken], tidy);
                    *at += taken;
                    let left = left - taken as u64;
                    self.stage = if left == 0 { ChunkStage::End } else { ChunkStage::Content(left) };
                }
                ChunkStage::End => match rest {
                    [b'\n', ..] => (*at, self.stage) = (*at + 1, ChunkStage::Size),
                    [b'\r', b'\n', ..] => (*at, self.stage) = (*at + 2, ChunkStage::Size),
                    [b'\r'] => return ChunkProgress::Partial,
                    _ => return ChunkProgress::Broken,
                },
                ChunkStage::Size | ChunkStage::Trailers => {
                    let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                        let is_long = rest.len() > LINE_MAX_BYTES;
                        return if is_long { ChunkProgress::Broken } else { ChunkProgress::Partial };
                    };
                    match self.read_line(&rest[..end], tidy) {
                        ChunkProgress::Partial => *at += end + 1,
                        ChunkProgress::Complete => {
                            *at += end + 1;
                            return ChunkProgress::Complete;
                        }
                        ChunkProgress::Broken => return ChunkProgress::Broken,
                    }
                }
            }
        }
        ChunkProgress::Partial
    }

    fn read_line(&mut self, line: &[u8], tidy: &mut Vec<u8>) -> ChunkProgress {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.stage == ChunkStage::Trailers {
            self.trailer_bytes += line.len() + 1;
            if line.is_empty() {
                if !self.is_bare {
                    tidy.extend_from_slice(b"0\r\n\r\n");
                }
                return ChunkProgress::Complete;
            }
            let is_long = self.trailer_bytes > HEAD_MAX_BYTES;
            return if is_long { ChunkProgress::Broken } else { ChunkProgress::Partial };
        }
        match size(line) {
            Some(0) => self.stage = ChunkStage::Trailers,
            Some(size) => self.stage = ChunkStage::Content(size),
            None => return ChunkProgress::Broken,
        }
        ChunkProgress::Partial
    }

    fn write(&self, content: &[u8], tidy: &mut Vec<u8>) {
        if self.is_bare {
            tidy.extend_from_slice(content);
            return;
        }
        tidy.extend_from_slice(format!("{:x}\r\n", content.len()).as_bytes());
        tidy.extend_from_slice(content);
        tidy.extend_from_slice(b"\r\n");
    }
}

/// Parses the size of a chunk; extensions and blanks are ignored.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: received data, rewritten data, and their content.
    #[rstest]
    #[case("3\r\nabc\r\n0\r\n\r\n", ChunkProgress::Complete, "abc")]
    #[case("3\nabc\n0\n\n", ChunkProgress::Complete, "abc")]
    #[case("3\r\nabc\n2 \n\r\n\r\n0000\n\r\n", ChunkProgress::Complete, "abc\r\n")]
    #[case("3;x=1\r\nabc\r\n0;last\r\nX: 1\r\n folded\r\nno trailer\r\n\r\n", ChunkProgress::Complete, "abc")]
    #[case("A\r\n0123456789\r\n0\r\n\r\n", ChunkProgress::Complete, "0123456789")]
    #[case("3\r\nabc\r\n", ChunkProgress::Partial, "abc")]
    #[case("3\r\nabc\r\n0\r\n", ChunkProgress::Partial, "abc")]
    #[case("3\r\nabc\r\n0\r\nX: 1", ChunkProgress::Partial, "abc")]
    #[case("3\r\nabcd\r\n", ChunkProgress::Broken, "abc")]
    #[case("x\r\n", ChunkProgress::Broken, "")]
    #[case("\r\n", ChunkProgress::Broken, "")]
    #[case("+3\r\nabc\r\n", ChunkProgress::Broken, "")]
    #[case("10000000000000000\r\nabc\r\n", ChunkProgress::Broken, "")]
    fn chunks_are_rewritten(#[case] came: &str, #[case] expected: ChunkProgress, #[case] content: &str) {
        for is_bare in [true, false] {
            for length in [1, 2, 100] {
                let mut reader = ChunkReader::new(is_bare);
                let (mut waiting, mut tidy, mut read) = (Vec::new(), Vec::new(), ChunkProgress::Partial);
                for piece in came.as_bytes().chunks(length) {
                    waiting.extend_from_slice(piece);
                    read = reader.read(&mut waiting, &mut tidy);
                    if read != ChunkProgress::Partial {
                        break;
                    }
                }
                assert_eq!(read, expected);
                if is_bare {
                    assert_eq!(String::from_utf8(tidy).unwrap(), content);
                } else {
                    assert_eq!(tidy.ends_with(b"0\r\n\r\n"), expected == ChunkProgress::Complete);
                }
            }
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut reader = ChunkReader::new(false);
        assert_eq!(reader.read(&mut vec![b'0'; LINE_MAX_BYTES + 1], &mut Vec::new()), ChunkProgress::Broken);
    }
}
