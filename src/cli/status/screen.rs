//! A terminal whose content is replaced again and again, and given back as it was.

use std::io::{IsTerminal as _, Write as _, stdout};

const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const CLOSE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";
const TOP: &str = "\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K";
const REST_OF_SCREEN: &str = "\u{1b}[J";

/// The screen; what stood there before is back when it is dropped. Where there is no terminal, pictures follow each other.
pub(super) struct Screen {
    is_terminal: bool,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn open() -> Self {
        let is_terminal = stdout().is_terminal();
        if is_terminal {
            // Who does not see it, does not miss it.
            let _ = write!(stdout(), "{OPEN}");
        }
        Self { is_terminal }
    }

    /// Shows a picture in the place of the one before; false if nobody can see it any more.
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

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_terminal {
            let mut out = stdout().lock();
            // The terminal may be gone.
            let _ = write!(out, "{CLOSE}").and_then(|()| out.flush());
        }
    }
}
