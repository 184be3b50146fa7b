//! The head of a response, parsed as leniently as in browsers and curl, rewritten in the form of RFC 9112.

use std::borrow::Cow;

/// The longest header name that the HTTP library accepts; longer ones are dropped like other invalid lines.
const NAME_MAX_BYTES: usize = u16::MAX as usize;

/// The result of looking for a head in the received data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadForm {
    /// More data are needed.
    Partial,
    /// The head is complete, with this number of bytes.
    Complete(usize),
    /// The data are not HTTP.
    Foreign,
}

/// The place where the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFraming {
    /// There is no body, and another head follows.
    Informational,
    Empty,
    /// After this number of bytes.
    Length(u64),
    /// After the last chunk.
    Chunks,
    /// After the last chunk, and the rewritten head does not announce chunks.
    BareChunks,
    /// At the end of the connection.
    UntilClose,
}

/// Finds the end of the head.
pub(super) fn find_head_end(waiting: &[u8]) -> HeadForm {
    let start = waiting.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(waiting.len());
    let name = b"HTTP/";
    let begun = &waiting[start..waiting.len().min(start + name.len())];
    if !begun.eq_ignore_ascii_case(&name[..begun.len()]) {
        return HeadForm::Foreign;
    }
    let mut line_start = start;
    for (at, byte) in waiting.iter().enumerate().skip(start) {
        if *byte == b'\n' {
            if matches!(&waiting[line_start..at], b"" | b"\r") {
                return HeadForm::Complete(at + 1);
            }
            line_start = at + 1;
        }
    }
    HeadForm::Partial
}

/// Rewrites a complete head. Lines that cannot be repaired are written unchanged.
pub(super) fn rewrite_head(head: &[u8], tidy: &mut Vec<u8>) -> BodyFraming {
    let start = head.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    let mut lines =
        head[start..].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let Some(status) = lines.next().and_then(HttpStatusLine::parse) else {
        tidy.extend_from_slice(head);
        return BodyFraming::UntilClose;
    };
    let lines: Vec<&[u8]> = lines.collect();
    let is_chunked = is_chunked(&lines);
    let is_bare = is_chunked && status.minor == b'0';
    let length = length(&lines);
    tidy.extend_from_slice(b"HTTP/1.");
    tidy.push(status.minor);
    tidy.push(b' ');
    tidy.extend_from_slice(&status.code);
    tidy.extend_from_slice(b"\r\n");
    let mut is_dropped = false;
    for line in lines.into_iter().filter(|line| !line.is_empty()) {
        let name = name(line);
        if !is_folded(line) {
            let is_length =
                equals_ignoring_case(name, "content-length") && (is_chunked || length != BodyLength::Invalid);
            is_dropped = is_length
                || name.len() > NAME_MAX_BYTES
                || (is_bare && equals_ignoring_case(name, "transfer-encoding"));
        }
        if !is_dropped {
            tidy.extend_from_slice(&without_returns(line));
            tidy.extend_from_slice(b"\r\n");
        }
    }
    if let (false, BodyLength::Of(length)) = (is_chunked, length) {
        tidy.extend_from_slice(format!("content-length: {length}\r\n").as_bytes());
    }
    tidy.extend_from_slice(b"\r\n");
    match &status.code {
        b"101" => BodyFraming::UntilClose,
        [b'1', ..] => BodyFraming::Informational,
        b"204" | b"304" => BodyFraming::Empty,
        _ if is_bare => BodyFraming::BareChunks,
        _ if is_chunked => BodyFraming::Chunks,
        _ => match length {
            BodyLength::Of(length) => BodyFraming::Length(length),
            BodyLength::Unknown | BodyLength::Invalid => BodyFraming::UntilClose,
        },
    }
}

struct HttpStatusLine {
    minor: u8,
    code: [u8; 3],
}

impl HttpStatusLine {
    /// Parses a status line; the reason phrase is dropped.
    fn parse(line: &[u8]) -> Option<Self> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let (version, rest) = line.split_at(line.iter().position(is_blank)?);
        let minor = match version.get(5..)? {
            [b'1', b'.', b'0'] => b'0',
            [b'1', b'.', b'1'..=b'9'] => b'1',
            _ => return None,
        };
        let rest = &rest[rest.iter().position(|byte| !is_blank(byte))?..];
        let code: [u8; 3] = rest.get(..3)?.try_into().ok()?;
        let is_code = code.iter().all(u8::is_ascii_digit) && rest.get(3).is_none_or(is_blank);
        is_code.then_some(Self { minor, code })
    }
}

/// The length of the body, as the headers announce it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyLength {
    /// Missing, or a number out of range: the body ends with the connection.
    Unknown,
    Of(u64),
    /// Not a number, or several different ones.
    Invalid,
}

/// Parses the length; a number at the start of the value counts, as in curl.
fn length(lines: &[&[u8]]) -> BodyLength {
    let values =
        lines.iter().filter(|line| !is_folded(line) && equals_ignoring_case(name(line), "content-length"));
    let values = values.flat_map(|line| value(line).split(|byte| *byte == b','));
    let mut length = BodyLength::Unknown;
    for value in values.map(<[u8]>::trim_ascii).filter(|value| !value.is_empty()) {
        let value = value.strip_prefix(b"+").unwrap_or(value);
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return BodyLength::Invalid;
        }
        let number = std::str::from_utf8(&value[..digits]).ok().and_then(|digits| digits.parse::<i64>().ok());
        let number =
            number.and_then(|number| u64::try_from(number).ok()).map_or(BodyLength::Unknown, BodyLength::Of);
        if length != BodyLength::Unknown && length != number {
            return BodyLength::Invalid;
        }
        length = number;
    }
    length
}

/// Returns true if the last coding of the last line is `chunked`, as in the HTTP library.
fn is_chunked(lines: &[&[u8]]) -> bool {
    let last =
        lines.iter().rfind(|line| !is_folded(line) && equals_ignoring_case(name(line), "transfer-encoding"));
    let coding = last.and_then(|line| value(line).rsplit(|byte| *byte == b',').next());
    coding.is_some_and(|coding| equals_ignoring_case(coding.trim_ascii(), "chunked"))
}

fn is_folded(line: &[u8]) -> bool {
    matches!(line, [b' ' | b'\t', ..])
}

fn equals_ignoring_case(text: &[u8], name: &str) -> bool {
    text.eq_ignore_ascii_case(name.as_bytes())
}

fn name(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii_end()
}

fn value(line: &[u8]) -> &[u8] {
    line.iter().position(|byte| *byte == b':').map_or(&[], |at| line[at + 1..].trim_ascii())
}

/// Replaces carriage returns within a line by blanks: alone they do not end a line.
fn without_returns(line: &[u8]) -> Cow<'_, [u8]> {
    if line.contains(&b'\r') {
        Cow::Owned(line.iter().map(|byte| if *byte == b'\r' { b' ' } else { *byte }).collect())
    } else {
        Cow::Borrowed(line)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", HeadForm::Partial)]
    #[case("\r\nhtt", HeadForm::Partial)]
    #[case("HTTP/1.1 200 OK\r\nA: b\r\n", HeadForm::Partial)]
    #[case("HTTP/1.1 200 OK\r\n\r\nbody", HeadForm::Complete(19))]
    #[case("HTTP/1.1 200 OK\nA: b\n\nbody", HeadForm::Complete(22))]
    #[case("\n\r\nhttp/1.1 200\r\n\r\n", HeadForm::Complete(19))]
    #[case("SSH-2.0", HeadForm::Foreign)]
    #[case("HTML", HeadForm::Foreign)]
    fn a_head_is_recognized(#[case] waiting: &str, #[case] expected: HeadForm) {
        assert_eq!(find_head_end(waiting.as_bytes()), expected);
    }

    #[rstest]
    #[case("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 200\r\nA: b\r\n\r\n", BodyFraming::UntilClose)]
    #[case("http/1.0\t 200 O\x01K\n\n", "HTTP/1.0 200\r\n\r\n", BodyFraming::UntilClose)]
    #[case("HTTP/1.2  503\r\n\r\n", "HTTP/1.1 503\r\n\r\n", BodyFraming::UntilClose)]
    #[case("HTTP/1.1 9999 No\r\n\r\n", "HTTP/1.1 9999 No\r\n\r\n", BodyFraming::UntilClose)]
    #[case("HTTP/2 200\r\n\r\n", "HTTP/2 200\r\n\r\n", BodyFraming::UntilClose)]
    #[case("HTTP/1.1 103 A\r\n\r\n", "HTTP/1.1 103\r\n\r\n", BodyFraming::Informational)]
    #[case("HTTP/1.1 204 A\r\n\r\n", "HTTP/1.1 204\r\n\r\n", BodyFraming::Empty)]
    #[case(
        "HTTP/1.1 200 A\r\nA: b\rc\r\n d\r\n\r\n",
        "HTTP/1.1 200\r\nA: b c\r\n d\r\n\r\n",
        BodyFraming::UntilClose
    )]
    #[case(
        "HTTP/1.1 200 A\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n",
        "HTTP/1.1 200\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n",
        BodyFraming::Chunks
    )]
    #[case(
        "HTTP/1.0 200 A\r\nTransfer-Encoding : chunked\r\n\r\n",
        "HTTP/1.0 200\r\n\r\n",
        BodyFraming::BareChunks
    )]
    fn a_head_is_rewritten(#[case] head: &str, #[case] expected: &str, #[case] framing: BodyFraming) {
        let mut written = Vec::new();
        assert_eq!(rewrite_head(head.as_bytes(), &mut written), framing);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[rstest]
    #[case("Content-Length: 2", BodyLength::Of(2))]
    #[case("content-length : +2", BodyLength::Of(2))]
    #[case("Content-Length: 2;", BodyLength::Of(2))]
    #[case("Content-Length: 2.0", BodyLength::Of(2))]
    #[case("Content-Length: 2 bytes", BodyLength::Of(2))]
    #[case("Content-Length: 2, 2", BodyLength::Of(2))]
    #[case("Content-Length: 2\nContent-Length: 2", BodyLength::Of(2))]
    #[case("Content-Length: 2\nContent-Length: 3", BodyLength::Invalid)]
    #[case("Content-Length: 99999999999999999999999", BodyLength::Unknown)]
    #[case("Content-Length: 9223372036854775808", BodyLength::Unknown)]
    #[case("Content-Length:", BodyLength::Unknown)]
    #[case("Content-Length: x", BodyLength::Invalid)]
    #[case("Content-Length: -2", BodyLength::Invalid)]
    #[case("X: 2", BodyLength::Unknown)]
    fn a_length_is_read(#[case] lines: &str, #[case] expected: BodyLength) {
        let lines: Vec<&[u8]> = lines.split('\n').map(str::as_bytes).collect();
        assert_eq!(length(&lines), expected);
    }

    #[test]
    fn an_overlong_header_is_dropped_with_its_folds() {
        let head = format!("HTTP/1.1 200 A\r\n{}: b\r\n c\r\nD: e\r\n\r\n", "a".repeat(70_000));
        let mut written = Vec::new();
        rewrite_head(head.as_bytes(), &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), "HTTP/1.1 200\r\nD: e\r\n\r\n");
    }
}
