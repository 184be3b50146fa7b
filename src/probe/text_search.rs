//! Search for a text in another text that arrives in chunks and is never held as a whole.

use std::ops::ControlFlow;

/// Bytes that are collected before they are searched.
const WINDOW_BYTES: usize = 16 << 10;

/// The search for one text.
#[derive(Debug)]
pub(super) struct TextSearch<'n> {
    needle: &'n str,
    /// The end of the text so far: the part in which a match may still be found.
    window: String,
}

impl<'n> TextSearch<'n> {
    pub(super) const fn new(needle: &'n str) -> Self {
        Self { needle, window: String::new() }
    }

    /// Takes the next chunk; breaks when the text has been found.
    pub(super) fn feed(&mut self, piece: &str) -> ControlFlow<()> {
        self.window.push_str(piece);
        if self.window.len() < WINDOW_BYTES {
            return ControlFlow::Continue(());
        }
        let found = self.is_found();
        let mut begin = (self.window.len() + 1).saturating_sub(self.needle.len().max(1));
        while !self.window.is_char_boundary(begin) {
            begin -= 1;
        }
        self.window.drain(..begin);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns true when the window contains the searched text.
    pub(super) fn is_found(&self) -> bool {
        self.window.contains(self.needle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_for_every_chunk_boundary() {
        let needle = "näedle";
        let hay = format!("{}{needle}{}", "ä".repeat(WINDOW_BYTES / 2 - 3), "x".repeat(WINDOW_BYTES));
        for size in [1, 2, 7, 4_000, 100_000] {
            let letters: Vec<char> = hay.chars().collect();
            let pieces = || letters.chunks(size).map(|piece| piece.iter().collect::<String>());
            let find = |needle| {
                let mut search = TextSearch::new(needle);
                pieces().any(|piece| search.feed(&piece).is_break()) || search.is_found()
            };
            assert!(find(needle) && find("") && find("x"), "{size}");
            assert!(!find("needle") && !find("näedlex y"), "{size}");
        }
    }
}
