//! The destination of the log: standard error, one line per event, without panics.
//!
//! If the reader of the log is gone (`2> >(head -1)`) or the disk is full, only lines are lost. Text from outside, such as
//! the name of a service, is escaped ([`printable`]), so that it cannot forge a line or control a terminal. Colours are
//! added here, after escaping.

use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use crate::cli::picture::paint;
use crate::cli::printable::printable;

/// The levels with ANSI colours.
const LEVELS: [(&str, &str); 5] =
    [("ERROR", "31"), ("WARN", "33"), ("INFO", "32"), ("DEBUG", "34"), ("TRACE", "35")];

/// A writer of whole events to standard error.
#[derive(Clone, Copy, Debug)]
pub(super) struct StandardError {
    /// True if standard error is a terminal.
    pub(super) colours: bool,
}

impl<'a> MakeWriter<'a> for StandardError {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}

impl Write for StandardError {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // A line that cannot be written is lost: there is nowhere to report it.
        let line = one_line(&String::from_utf8_lossy(event), self.colours);
        let _ = io::stderr().write_all(line.as_bytes());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the event as one line, without characters that control a terminal.
fn one_line(event: &str, colours: bool) -> String {
    let text = event.strip_suffix('\n');
    let line = printable(text.unwrap_or(event));
    let mut line = if colours { coloured(&line) } else { line.into_owned() };
    if text.is_some() {
        line.push('\n');
    }
    line
}

/// Returns the line with its level, the first word after the time, in colour.
fn coloured(line: &str) -> String {
    let Some((time, rest)) = line.split_once(' ') else { return line.to_owned() };
    let level = LEVELS.into_iter().find(|(level, _)| rest.trim_start().starts_with(level));
    match level {
        Some((level, colour)) => format!("{time} {}", rest.replacen(level, &paint(level, colour, true), 1)),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("INFO status changed name=shop\n", "INFO status changed name=shop\n")]
    #[case("INFO name=a\nERROR forged\r\n\n", "INFO name=a\\nERROR forged\\r\\n\n")]
    #[case("INFO name=a\u{1b}[31mb\n", "INFO name=a\\u001b[31mb\n")]
    #[case("\n", "\n")]
    #[case("without end", "without end")]
    fn an_event_is_one_line(#[case] event: &str, #[case] line: &str) {
        assert_eq!(one_line(event, false), line);
    }

    #[rstest]
    #[case("2026 WARN a: name=\u{1b}[0m WARN\n", "2026 \u{1b}[33mWARN\u{1b}[0m a: name=\\u001b[0m WARN\n")]
    #[case("2026  INFO a: b\n", "2026  \u{1b}[32mINFO\u{1b}[0m a: b\n")]
    #[case("something else\n", "something else\n")]
    fn only_the_level_has_a_colour(#[case] event: &str, #[case] line: &str) {
        assert_eq!(one_line(event, true), line);
    }
}
