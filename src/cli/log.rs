//! The destination of the log: standard error, an event a line, and never a panic.
//!
//! The reader of the log may be gone (`2> >(head -1)`), the disk behind it may be full: then lines are lost, and
//! nothing else. What others chose, such as the name of a service, may hold line breaks: they are written as `\n`, so
//! that nobody forges a line.

use std::borrow::Cow;
use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

/// Standard error, for whole events.
#[derive(Clone, Copy, Debug)]
pub(super) struct StandardError;

impl<'a> MakeWriter<'a> for StandardError {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

impl Write for StandardError {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // A line that cannot be written is lost: there is nowhere to say so.
        let _ = io::stderr().write_all(&one_line(event));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The event as one line: breaks in the middle of it are escaped.
fn one_line(event: &[u8]) -> Cow<'_, [u8]> {
    let text = event.strip_suffix(b"\n").unwrap_or(event);
    if !text.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return Cow::Borrowed(event);
    }
    let mut line = Vec::with_capacity(event.len() + 8);
    for byte in text {
        match byte {
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            other => line.push(*other),
        }
    }
    line.push(b'\n');
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("INFO status changed name=shop\n", "INFO status changed name=shop\n")]
    #[case("INFO name=a\nERROR forged\r\n\n", "INFO name=a\\nERROR forged\\r\\n\n")]
    #[case("\n", "\n")]
    #[case("without end", "without end")]
    fn an_event_is_one_line(#[case] event: &str, #[case] line: &str) {
        assert_eq!(String::from_utf8_lossy(&one_line(event.as_bytes())), line);
    }
}
