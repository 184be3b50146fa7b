//! A terminal screen that is redrawn repeatedly and restored at the end.

use std::io::{IsTerminal as _, Write as _, stdout};

const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const CLOSE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";
const TOP: &str = "\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K";
const REST_OF_SCREEN: &str = "\u{1b}[J";

/// The screen; the earlier content is restored on drop. Without a terminal, pictures are printed one after the other.
pub(super) struct TerminalScreen {
    is_terminal: bool,
}

impl TerminalScreen {
    pub(super) fn open() -> Self {
        let is_terminal = stdout().is_terminal();
        if is_terminal {
            // A failed write is ignored: nobody sees the screen then.
            let _ = write!(stdout(), "{OPEN}");
        }
        Self { is_terminal }
    }

    /// Replaces the picture; returns false if the output is closed.
    pub(super) fn show(&self, picture: &str) -> bool {
        let mut out = stdout().lock();
        let shown = if self.is_terminal {
            let lines = picture.replace('\n', &format!("{REST_OF_LINE}\n"));
            write!(out, "{TOP}{lines}{REST_OF_SCREEN}")
        } else {
            writeln!(out, "{picture}")
        };
        shown.and_then(|()| out.flush()).is_ok()
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        if self.is_terminal {
            let mut out = stdout().lock();
            // The terminal may be closed, so errors are ignored.
            let _ = write!(out, "{CLOSE}").and_then(|()| out.flush());
        }
    }
}
