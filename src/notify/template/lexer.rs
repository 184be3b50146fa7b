//! Splits the text of a template into tokens, one at a time and without backtracking.
//!
//! Comments and the white space trimmed by `-` are removed. Each byte is read a bounded number of times.

use std::borrow::Cow;

use super::error::{TemplateFault, TemplateProblem};

/// Maximum length of a name in characters, so that a lookup has a bounded cost.
pub(super) const NAME_LENGTH: usize = 64;

/// Operators and punctuation; a longer symbol comes before its prefixes.
const SYMBOLS: [&str; 20] =
    ["==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "/", "%", "~", "|", ".", ",", "(", ")", "[", "]"];
const IN_TAGS: &str = "a name, a number, a text in quotes or an operator";

/// A token with its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TemplateToken<'t> {
    /// The byte offset of the token's start.
    pub(super) offset: usize,
    pub(super) kind: TokenKind<'t>,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind<'t> {
    Text(&'t str),
    /// `{{`
    OutputStart,
    /// `}}`
    OutputEnd,
    /// `{%`
    TagStart,
    /// `%}`
    TagEnd,
    /// A name or a keyword.
    Name(&'t str),
    /// A text in quotes, escapes resolved.
    Quoted(Cow<'t, str>),
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
    /// The end of the template.
    End,
}

impl TokenKind<'_> {
    /// Describes the token in words, for errors.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Text(_) => "text".to_owned(),
            Self::OutputStart => "`{{`".to_owned(),
            Self::OutputEnd => "`}}`".to_owned(),
            Self::TagStart => "`{%`".to_owned(),
            Self::TagEnd => "`%}`".to_owned(),
            Self::Name(name) => format!("`{name}`"),
            Self::Quoted(_) => "a text in quotes".to_owned(),
            Self::Integer(_) | Self::Float(_) => "a number".to_owned(),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "the end of the template".to_owned(),
        }
    }
}

/// The state of the lexer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LexerMode {
    /// Outside of tags; true if white space that follows is trimmed.
    Text { is_trimmed: bool },
    /// Inside `{{ … }}`.
    Output,
    /// Inside `{% … %}`.
    Tag,
}

#[derive(Debug)]
pub(super) struct TemplateLexer<'t> {
    source: &'t str,
    offset: usize,
    mode: LexerMode,
    /// The byte offset of the current tag.
    opened_at: usize,
}

impl<'t> TemplateLexer<'t> {
    /// Creates a lexer at the start of a template.
    pub(super) const fn new(source: &'t str) -> Self {
        Self { source, offset: 0, mode: LexerMode::Text { is_trimmed: false }, opened_at: 0 }
    }

    /// Returns the next token; [`TokenKind::End`] repeatedly at the end.
    pub(super) fn next_token(&mut self) -> Result<TemplateToken<'t>, TemplateFault> {
        loop {
            let token = match self.mode {
                LexerMode::Text { is_trimmed } => self.read_text(is_trimmed)?,
                LexerMode::Output => Some(self.read_in_tag("-}}", "}}", TokenKind::OutputEnd)?),
                LexerMode::Tag => Some(self.read_in_tag("-%}", "%}", TokenKind::TagEnd)?),
            };
            if let Some(token) = token {
                return Ok(token);
            }
        }
    }

    fn rest(&self) -> &'t str {
        &self.source[self.offset..]
    }

    /// Reads the text before the next tag, or the start of the tag if no text precedes it; `None` after a comment, and for
    /// text that is trimmed completely.
    fn read_text(&mut self, is_trimmed: bool) -> Result<Option<TemplateToken<'t>>, TemplateFault> {
        let (start, rest) = (self.offset, self.rest());
        if rest.is_empty() {
            return Ok(Some(TemplateToken { offset: start, kind: TokenKind::End }));
        }
        let length = find_tag(rest).unwrap_or(rest.len());
        if length == 0 {
            return self.open_tag();
        }
        self.offset += length;
        self.mode = LexerMode::Text { is_trimmed: false };
        let mut text = &rest[..length];
        if rest[length..].get(2..).is_some_and(|tag| tag.starts_with('-')) {
            text = text.trim_end();
        }
        if is_trimmed {
            text = text.trim_start();
        }
        Ok((!text.is_empty()).then_some(TemplateToken { offset: start, kind: TokenKind::Text(text) }))
    }

    fn open_tag(&mut self) -> Result<Option<TemplateToken<'t>>, TemplateFault> {
        let (start, rest) = (self.offset, self.rest());
        if let Some(comment) = rest.strip_prefix("{#") {
            let unclosed = TemplateProblem::Unclosed { opening: "this comment", closing: "`#}`" };
            let length = comment.find("#}").ok_or(TemplateFault { offset: start, problem: unclosed })?;
            let is_trimmed = comment[..length].ends_with('-');
            self.offset += 2 + length + 2;
            self.mode = LexerMode::Text { is_trimmed };
            return Ok(None);
        }
        let is_output = rest.starts_with("{{");
        self.opened_at = start;
        self.offset += if rest[2..].starts_with('-') { 3 } else { 2 };
        self.mode = if is_output { LexerMode::Output } else { LexerMode::Tag };
        let kind = if is_output { TokenKind::OutputStart } else { TokenKind::TagStart };
        Ok(Some(TemplateToken { offset: start, kind }))
    }

    fn read_in_tag(
        &mut self,
        trimming_end: &str,
        end: &str,
        end_kind: TokenKind<'t>,
    ) -> Result<TemplateToken<'t>, TemplateFault> {
        let rest = self.rest();
        self.offset += rest.len() - rest.trim_start().len();
        let (offset, rest) = (self.offset, self.rest());
        let Some(first) = rest.chars().next() else {
            let (opening, closing) =
                if self.mode == LexerMode::Output { ("this `{{`", "`}}`") } else { ("this `{%`", "`%}`") };
            let problem = TemplateProblem::Unclosed { opening, closing };
            return Err(TemplateFault { offset: self.opened_at, problem });
        };
        for (ending, is_trimmed) in [(trimming_end, true), (end, false)] {
            if rest.starts_with(ending) {
                self.offset += ending.len();
                self.mode = LexerMode::Text { is_trimmed };
                return Ok(TemplateToken { offset, kind: end_kind });
            }
        }
        let kind = match first {
            'a'..='z' | 'A'..='Z' | '_' => self.read_name()?,
            '0'..='9' => self.read_number()?,
            '"' | '\'' => self.read_quoted(first)?,
            _ => {
                let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) else {
                    let found = format!("`{}`", first.escape_debug());
                    let problem = TemplateProblem::Unexpected { found, expected: IN_TAGS };
                    return Err(TemplateFault { offset, problem });
                };
                self.offset += symbol.len();
                TokenKind::Symbol(symbol)
            }
        };
        Ok(TemplateToken { offset, kind })
    }

    fn read_name(&mut self) -> Result<TokenKind<'t>, TemplateFault> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if length > NAME_LENGTH {
            let problem = TemplateProblem::NameTooLong(NAME_LENGTH);
            return Err(TemplateFault { offset: self.offset, problem });
        }
        self.offset += length;
        Ok(TokenKind::Name(&rest[..length]))
    }

    fn read_number(&mut self) -> Result<TokenKind<'t>, TemplateFault> {
        let (offset, rest) = (self.offset, self.rest());
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let whole = digits(rest);
        let fraction = rest[whole..].strip_prefix('.').map_or(0, digits);
        let problem = TemplateProblem::NumberTooLarge;
        let too_large = TemplateFault { offset, problem };
        if fraction == 0 {
            self.offset += whole;
            return rest[..whole].parse().map(TokenKind::Integer).map_err(|_| too_large);
        }
        let length = whole + 1 + fraction;
        self.offset += length;
        let number = rest[..length].parse().ok().filter(|number: &f64| number.is_finite());
        number.map(TokenKind::Float).ok_or(too_large)
    }

    fn read_quoted(&mut self, quote: char) -> Result<TokenKind<'t>, TemplateFault> {
        let start = self.offset;
        let rest = &self.source[start + 1..];
        let Some(end) = rest.find([quote, '\\']) else { return Err(unclosed_quote(start)) };
        if rest[end..].starts_with(quote) {
            self.offset = start + 1 + end + 1;
            return Ok(TokenKind::Quoted(Cow::Borrowed(&rest[..end])));
        }
        let mut text = rest[..end].to_owned();
        let mut characters = rest[end..].char_indices();
        while let Some((at, character)) = characters.next() {
            if character == quote {
                self.offset = start + 1 + end + at + 1;
                return Ok(TokenKind::Quoted(Cow::Owned(text)));
            }
            if character != '\\' {
                text.push(character);
                continue;
            }
            let Some((at, escaped)) = characters.next() else { break };
            text.push(match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '\\' | '"' | '\'' => escaped,
                _ => {
                    let found = format!("`\\{}`", escaped.escape_debug());
                    let expected = "one of the escapes \\n \\t \\r \\\\ \\\" \\'";
                    let problem = TemplateProblem::Unexpected { found, expected };
                    return Err(TemplateFault { offset: start + end + at, problem });
                }
            });
        }
        Err(unclosed_quote(start))
    }
}

/// Returns the byte offset of the next tag or comment.
fn find_tag(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let at = from + at;
        if matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#')) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

const fn unclosed_quote(offset: usize) -> TemplateFault {
    let problem = TemplateProblem::Unclosed { opening: "this text", closing: "the same quote" };
    TemplateFault { offset, problem }
}
