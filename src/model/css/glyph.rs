//! A style sheet as a browser reads it: characters after decoding escapes, each with its byte range in the text.
//!
//! The search for a word also looks into strings and comments, because a quote may be unbalanced and a comment may be
//! inside a string. A word is found wherever its letters follow each other, with or without comments between them.

use std::ops::Range;

/// Maximum number of hexadecimal digits of an escape.
const ESCAPE_DIGITS: usize = 6;

/// One character after decoding escapes, with its byte range in the text.
#[derive(Clone, Copy, Debug)]
struct CssCharacter {
    character: char,
    /// True if the character was written as an escape; it is then not a delimiter.
    is_escaped: bool,
    start: usize,
    end: usize,
}

#[derive(Debug)]
pub(super) struct StyleSheet {
    glyphs: Vec<CssCharacter>,
}

impl StyleSheet {
    pub(super) fn read(text: &str) -> Self {
        let mut glyphs = Vec::with_capacity(text.len());
        let mut rest = text.char_indices().peekable();
        while let Some((start, character)) = rest.next() {
            if character != '\\' {
                glyphs.push(CssCharacter {
                    character,
                    is_escaped: false,
                    start,
                    end: start + character.len_utf8(),
                });
                continue;
            }
            let mut digits = String::new();
            while let Some((_, digit)) =
                rest.next_if(|(_, next)| next.is_ascii_hexdigit() && digits.len() < ESCAPE_DIGITS)
            {
                digits.push(digit);
            }
            let character = if digits.is_empty() {
                // A backslash before a line end joins the lines.
                rest.next().map(|(_, next)| next).filter(|next| !is_line_end(*next))
            } else {
                if rest.next_if(|(_, next)| *next == '\r').is_some() {
                    rest.next_if(|(_, next)| *next == '\n');
                } else {
                    rest.next_if(|(_, next)| next.is_ascii_whitespace());
                }
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                Some(code.unwrap_or(char::REPLACEMENT_CHARACTER))
            };
            let end = rest.peek().map_or(text.len(), |(at, _)| *at);
            if let Some(character) = character {
                glyphs.push(CssCharacter { character, is_escaped: true, start, end });
            }
        }
        Self { glyphs }
    }

    /// Returns the number of characters.
    pub(super) const fn len(&self) -> usize {
        self.glyphs.len()
    }

    /// The byte range of a range of characters.
    pub(super) fn bytes(&self, glyphs: Range<usize>) -> Range<usize> {
        let inside = self.glyphs.get(glyphs).unwrap_or_default();
        let start = inside.first().map_or(0, |first| first.start);
        start..inside.last().map_or(start, |last| last.end)
    }

    /// The character at index `at`, in lower case if it is ASCII; `None` beyond the end.
    pub(super) fn lower(&self, at: usize) -> Option<char> {
        self.glyphs.get(at).map(|glyph| glyph.character.to_ascii_lowercase())
    }

    /// The character at index `at` if it was not written as an escape.
    fn plain(&self, at: usize) -> Option<char> {
        self.glyphs.get(at).filter(|glyph| !glyph.is_escaped).map(|glyph| glyph.character)
    }

    /// Returns true if the character at index `at` can be part of a name.
    pub(super) fn is_in_name(&self, at: usize) -> bool {
        self.lower(at).is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii())
    }

    /// The index after `word` if the word starts at `at`, in upper or lower case, with or without comments between its
    /// letters.
    pub(super) fn word_end(&self, at: usize, word: &str) -> Option<usize> {
        let mut next = at;
        for (index, wanted) in word.chars().enumerate() {
            if index > 0 {
                next = self.skip_comments(next);
            }
            if self.lower(next) != Some(wanted) {
                return None;
            }
            next += 1;
        }
        Some(next)
    }

    /// The index after the opening bracket if `name(` starts at `at`, with or without blanks before the bracket.
    pub(super) fn call_open(&self, at: usize, name: &str) -> Option<usize> {
        let bracket = self.skip_blank(self.word_end(at, name)?);
        (self.lower(bracket) == Some('(')).then_some(bracket + 1)
    }

    /// The first index from `at` on that is neither white space nor in a comment.
    pub(super) fn skip_blank(&self, at: usize) -> usize {
        let mut next = at;
        loop {
            let behind = self.skip_comments(next);
            let is_space = self.lower(behind).is_some_and(|c| c.is_whitespace() || c.is_control());
            if !is_space {
                return behind;
            }
            next = behind + 1;
        }
    }

    fn skip_comments(&self, at: usize) -> usize {
        let mut next = at;
        while self.plain(next) == Some('/') && self.plain(next + 1) == Some('*') {
            let closed = (next + 2..self.len())
                .find(|at| self.plain(*at) == Some('*') && self.plain(at + 1) == Some('/'));
            next = closed.map_or(self.len(), |at| at + 2);
        }
        next
    }

    /// Returns the end of an at-rule without a block: after its semicolon, or before the start of another rule.
    pub(super) fn statement_end(&self, from: usize) -> usize {
        let mut at = from;
        let mut depth = 0_usize;
        while let Some(character) = self.plain_or_escaped(at) {
            match character {
                '"' | '\'' => at = self.string_end(at),
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ';' if depth == 0 => return at + 1,
                '{' | '}' => return at,
                _ => {}
            }
            at += 1;
        }
        self.len()
    }

    /// Returns the end of the value of a declaration; `None` if a block follows, because the text is then a selector.
    pub(super) fn declaration_end(&self, colon: usize) -> Option<usize> {
        let end = self.statement_end(colon);
        (self.plain(end) != Some('{')).then_some(end)
    }

    /// The index after the bracket that closes the call whose arguments start at `from`; without a closing bracket, the
    /// end of the declaration.
    pub(super) fn call_end(&self, from: usize) -> usize {
        let mut depth = 1_usize;
        for at in from..self.len() {
            match self.plain(at) {
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        let ends = |at: &usize| matches!(self.plain(*at), Some(';' | '}'));
        (from..self.len()).find(ends).unwrap_or(self.len())
    }

    /// The address in a `url(` whose content starts at `from`, in lower case and without blanks, and the index after the
    /// call.
    pub(super) fn address(&self, from: usize) -> (String, usize) {
        let blank = |at: &usize| self.lower(*at).is_some_and(|c| c.is_whitespace() || c.is_control());
        let start = (from..self.len()).find(|at| !blank(at)).unwrap_or(self.len());
        let quote = self.plain(start).filter(|c| matches!(c, '"' | '\''));
        let (start, end) = match quote {
            Some(_) => (start + 1, self.string_end(start)),
            None => (start, self.closing(start)),
        };
        let inside = (start..end).filter(|at| !blank(at)).filter_map(|at| self.lower(at));
        let close = if quote.is_some() { self.closing(end) } else { end };
        (inside.collect(), (close + 1).min(self.len()))
    }

    fn closing(&self, from: usize) -> usize {
        (from..self.len()).find(|at| self.plain(*at) == Some(')')).unwrap_or(self.len())
    }

    /// The index of the quote that closes the string opened at `open`; without a closing quote, the end of the line.
    fn string_end(&self, open: usize) -> usize {
        let quote = self.plain(open);
        for at in open + 1..self.len() {
            match self.plain(at) {
                found if found == quote => return at,
                Some(c) if is_line_end(c) => return at,
                _ => {}
            }
        }
        self.len()
    }

    /// The character at index `at`, or a letter in place of a character that was written as an escape.
    fn plain_or_escaped(&self, at: usize) -> Option<char> {
        let glyph = self.glyphs.get(at)?;
        Some(if glyph.is_escaped { 'x' } else { glyph.character })
    }
}

const fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{c}')
}
