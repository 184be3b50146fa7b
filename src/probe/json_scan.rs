//! Tokenizer for JSON documents (RFC 8259) that copies nothing of the document.
//!
//! A document is untrusted, and as a tree it would take thirty times its size. If a document is truncated, the
//! tokens end there, and the truncated token is not returned.

/// Maximum nesting of objects and lists.
const DEPTH_MAX: usize = 128;

/// One token of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonToken<'a> {
    /// The name of a member, without quotes; escapes are not decoded.
    Key(&'a [u8]),
    /// A text, without quotes; escapes are not decoded.
    Text(&'a [u8]),
    /// A number as written.
    Number(&'a str),
    Bool(bool),
    Null,
    ObjectStart,
    ListStart,
    /// End of an object or a list.
    End,
}

/// The reasons why there is no further token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanEnd {
    Complete,
    /// The bytes end before the document does.
    Cut,
    /// The bytes are not JSON, or are nested too deeply.
    Invalid,
}

/// The tokens that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedToken {
    Value,
    /// A value, or the end of the list that has just started.
    ItemOrEnd,
    Key,
    /// A name, or the end of the object that has just started.
    KeyOrEnd,
    /// A comma, or the end of the open value; after the outermost value, nothing.
    Rest,
}

/// The tokens of one document.
#[derive(Debug)]
pub(super) struct JsonScanner<'a> {
    bytes: &'a [u8],
    at: usize,
    expected: ExpectedToken,
    /// One bit per level, set for an object.
    objects: u128,
    depth: usize,
}

impl<'a> JsonScanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at, expected: ExpectedToken::Value, objects: 0, depth: 0 }
    }

    /// The number of objects and lists that are open.
    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn next_token(&mut self) -> Result<JsonToken<'a>, ScanEnd> {
        loop {
            let Some(byte) = self.skip_space() else {
                let is_complete = self.expected == ExpectedToken::Rest && self.depth == 0;
                return Err(if is_complete { ScanEnd::Complete } else { ScanEnd::Cut });
            };
            match (self.expected, byte) {
                (ExpectedToken::Rest, _) if self.depth == 0 => return Err(ScanEnd::Invalid),
                (ExpectedToken::Rest, b',') => {
                    self.at += 1;
                    self.expected =
                        if self.is_in_object() { ExpectedToken::Key } else { ExpectedToken::Value };
                }
                (ExpectedToken::Rest | ExpectedToken::KeyOrEnd, b'}') if self.is_in_object() => {
                    return Ok(self.close());
                }
                (ExpectedToken::Rest | ExpectedToken::ItemOrEnd, b']') if !self.is_in_object() => {
                    return Ok(self.close());
                }
                (ExpectedToken::Key | ExpectedToken::KeyOrEnd, b'"') => return self.key(),
                (ExpectedToken::Value | ExpectedToken::ItemOrEnd, byte) => return self.value(byte),
                _ => return Err(ScanEnd::Invalid),
            }
        }
    }

    fn skip_space(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    const fn is_in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 == 1
    }

    fn open(&mut self, is_object: bool) -> Result<JsonToken<'a>, ScanEnd> {
        if self.depth == DEPTH_MAX {
            return Err(ScanEnd::Invalid);
        }
        self.at += 1;
        let bit = 1 << self.depth;
        self.objects = if is_object { self.objects | bit } else { self.objects & !bit };
        self.depth += 1;
        self.expected = if is_object { ExpectedToken::KeyOrEnd } else { ExpectedToken::ItemOrEnd };
        Ok(if is_object { JsonToken::ObjectStart } else { JsonToken::ListStart })
    }

    fn close(&mut self) -> JsonToken<'a> {
        self.at += 1;
        self.depth -= 1;
        self.expected = ExpectedToken::Rest;
        JsonToken::End
    }

    fn key(&mut self) -> Result<JsonToken<'a>, ScanEnd> {
        let name = self.text()?;
        match self.skip_space() {
            Some(b':') => {
                self.at += 1;
                self.expected = ExpectedToken::Value;
                Ok(JsonToken::Key(name))
            }
            Some(_) => Err(ScanEnd::Invalid),
            None => Err(ScanEnd::Cut),
        }
    }

    fn value(&mut self, first: u8) -> Result<JsonToken<'a>, ScanEnd> {
        let token = match first {
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b'"' => JsonToken::Text(self.text()?),
            b't' => self.word(b"true", JsonToken::Bool(true))?,
            b'f' => self.word(b"false", JsonToken::Bool(false))?,
            b'n' => self.word(b"null", JsonToken::Null)?,
            _ => JsonToken::Number(self.number()?),
        };
        self.expected = ExpectedToken::Rest;
        Ok(token)
    }

    fn word(&mut self, word: &[u8], token: JsonToken<'a>) -> Result<JsonToken<'a>, ScanEnd> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(token)
        } else {
            Err(if word.starts_with(rest) { ScanEnd::Cut } else { ScanEnd::Invalid })
        }
    }

    /// Reads a text; its escapes are checked and kept.
    fn text(&mut self) -> Result<&'a [u8], ScanEnd> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.byte(at)? {
                b'"' => break,
                b'\\' => match self.byte(at + 1)? {
                    b'u' => {
                        for digit in at + 2..at + 6 {
                            if !self.byte(digit)?.is_ascii_hexdigit() {
                                return Err(ScanEnd::Invalid);
                            }
                        }
                        at += 6;
                    }
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                    _ => return Err(ScanEnd::Invalid),
                },
                0..0x20 => return Err(ScanEnd::Invalid),
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Ok(&self.bytes[start..at])
    }

    fn byte(&self, at: usize) -> Result<u8, ScanEnd> {
        self.bytes.get(at).copied().ok_or(ScanEnd::Cut)
    }

    /// Reads a number. One at the end of the bytes may continue after them, except where the document may end as well.
    fn number(&mut self) -> Result<&'a str, ScanEnd> {
        let start = self.at;
        let mut at = start;
        if self.byte(at)? == b'-' {
            at += 1;
        }
        at = match self.byte(at)? {
            b'0' => at + 1,
            b'1'..=b'9' => self.digits(at),
            _ => return Err(ScanEnd::Invalid),
        };
        if self.bytes.get(at) == Some(&b'.') {
            at = self.some_digits(at + 1)?;
        }
        if matches!(self.bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            if matches!(self.byte(at)?, b'+' | b'-') {
                at += 1;
            }
            at = self.some_digits(at)?;
        }
        if at == self.bytes.len() && self.depth > 0 {
            return Err(ScanEnd::Cut);
        }
        self.at = at;
        std::str::from_utf8(&self.bytes[start..at]).map_err(|_| ScanEnd::Invalid)
    }

    fn some_digits(&self, at: usize) -> Result<usize, ScanEnd> {
        if self.byte(at)?.is_ascii_digit() { Ok(self.digits(at)) } else { Err(ScanEnd::Invalid) }
    }

    fn digits(&self, at: usize) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn end_of(document: &[u8]) -> ScanEnd {
        let mut scanner = JsonScanner::new(document);
        loop {
            if let Err(end) = scanner.next_token() {
                return end;
            }
        }
    }

    #[test]
    fn tokens_come_in_their_order() {
        let mut scanner =
            JsonScanner::new(b"\xef\xbb\xbf {\"a\\n\": [1, -0.5e+7, true], \"b\": {}, \"c\": null}\n");
        let mut tokens = Vec::new();
        while let Ok(token) = scanner.next_token() {
            tokens.push(token);
        }
        assert_eq!(
            tokens,
            [
                JsonToken::ObjectStart,
                JsonToken::Key(b"a\\n"),
                JsonToken::ListStart,
                JsonToken::Number("1"),
                JsonToken::Number("-0.5e+7"),
                JsonToken::Bool(true),
                JsonToken::End,
                JsonToken::Key(b"b"),
                JsonToken::ObjectStart,
                JsonToken::End,
                JsonToken::Key(b"c"),
                JsonToken::Null,
                JsonToken::End,
            ]
        );
        assert_eq!(scanner.next_token(), Err(ScanEnd::Complete));
    }

    #[rstest]
    #[case(b"0")]
    #[case(b" \"\xff\" ")]
    #[case(b"[1e400, -0, 1.0E-3]")]
    #[case(br#""\u12aF\/""#)]
    fn a_document_is_complete(#[case] document: &[u8]) {
        assert_eq!(end_of(document), ScanEnd::Complete);
    }

    #[rstest]
    #[case(b"01")]
    #[case(b"+1")]
    #[case(b"1.")]
    #[case(b".5")]
    #[case(b"nul ")]
    #[case(b"[1,]")]
    #[case(b"[1 2]")]
    #[case(b"{\"a\": 1,}")]
    #[case(b"{\"a\" 1}")]
    #[case(b"{1: 2}")]
    #[case(b"[}")]
    #[case(b"{]")]
    #[case(b"{\"a\": 1} x")]
    #[case(b"\"\n\"")]
    #[case(b"\"\\x\"")]
    #[case(b"\"\\u12g4\"")]
    #[case(b"<html>")]
    fn malformed_json_is_invalid(#[case] document: &[u8]) {
        let end = end_of(&[document, b" "].concat());
        assert_eq!(end, ScanEnd::Invalid);
    }

    /// A document that is truncated anywhere is reported as truncated, unless only white space at its end is
    /// missing.
    #[test]
    fn the_beginning_of_a_document_is_truncated() {
        let document = br#"{"a": [1, 23, {"b": "c\u00e9\""}, true, false, null, -1.5e-7], "d": ""}"#;
        for length in 0..document.len() {
            assert_eq!(end_of(&document[..length]), ScanEnd::Cut, "{length}");
        }
    }

    #[test]
    fn a_document_is_at_most_128_levels_deep() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(end_of(nested(128).as_bytes()), ScanEnd::Complete);
        assert_eq!(end_of(nested(129).as_bytes()), ScanEnd::Invalid);
    }
}
