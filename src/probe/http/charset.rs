//! The encoding of a body, determined as in browsers (WHATWG HTML, "determining the character encoding").

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Number of bytes at the start of a page in which its own declaration of an encoding counts.
const PRESCAN_BYTES: usize = 1024;

/// Returns the encoding of a text, in this order: its byte order mark, the server's header, the page's own
/// declaration, UTF-8 where that is possible. `is_cut` means that `bytes` is only the start of the text.
pub(super) fn encoding_of(content_type: Option<&str>, bytes: &[u8], is_cut: bool) -> &'static Encoding {
    declared_encoding(content_type, bytes)
        .or_else(|| is_page(content_type, bytes).then(|| encoding_in_page(bytes)).flatten())
        .unwrap_or_else(|| if is_utf8(bytes, is_cut) { UTF_8 } else { WINDOWS_1252 })
}

/// Returns the encoding that the byte order mark or, without a mark, the server's header declares.
pub(super) fn declared_encoding(content_type: Option<&str>, bytes: &[u8]) -> Option<&'static Encoding> {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    marked.or_else(|| labelled(MediaType::of(content_type?).charset?.as_bytes()))
}

fn labelled(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label)
}

/// A parsed `Content-Type`.
#[derive(Default)]
struct MediaType {
    /// Type and subtype in lower case.
    kind: String,
    charset: Option<String>,
}

impl MediaType {
    /// Parses the last media type of a list; where several name the same type, the last `charset` counts (WHATWG Fetch,
    /// "extract a MIME type").
    fn of(content_type: &str) -> Self {
        let mut found = Self::default();
        for text in split_unquoted(content_type, b',') {
            let mut parts = split_unquoted(text, b';').into_iter();
            let kind = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
            let charset = parts.find_map(|part| parameter(part, "charset"));
            if kind == found.kind {
                found.charset = charset.or(found.charset);
            } else if !kind.is_empty() {
                found = Self { kind, charset };
            }
        }
        found
    }
}

/// Splits a text at separators outside of quotes.
fn split_unquoted(text: &str, separator: u8) -> Vec<&str> {
    let (mut parts, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if byte == separator && !is_quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Returns the value of a parameter without its quotes; `None` if the parameter has another name.
fn parameter(part: &str, name: &str) -> Option<String> {
    let (key, value) = part.split_once('=')?;
    let value = value.trim().trim_matches(['"', '\'']).replace('\\', "");
    key.trim().eq_ignore_ascii_case(name).then_some(value)
}

/// Returns true for HTML and XML, which may declare their encoding themselves.
fn is_page(content_type: Option<&str>, bytes: &[u8]) -> bool {
    match content_type.map(|text| MediaType::of(text).kind) {
        Some(kind) if !kind.is_empty() => kind.ends_with("html") || kind.ends_with("xml"),
        _ => bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<'),
    }
}

/// Returns the encoding that a page declares in its first bytes: `<?xml encoding=…?>`, `<meta charset=…>`, or
/// `<meta http-equiv=content-type content=…>`. A declared UTF-16 cannot be true, since the declaration was readable.
fn encoding_in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(PRESCAN_BYTES)].to_ascii_lowercase();
    let in_xml = head.starts_with(b"<?xml").then(|| {
        let end = position(&head, b"?>").unwrap_or(head.len());
        value_after(&head[..end], b"encoding")
    });
    let found = in_xml.flatten().or_else(|| encoding_in_meta(&head))?;
    Some(if found == UTF_16LE || found == UTF_16BE { UTF_8 } else { found })
}

fn encoding_in_meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut rest = head;
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            rest = &rest[position(rest, b"-->")?..];
        } else if rest.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
            let name_end = rest.iter().skip(2).position(is_name_end).map_or(rest.len(), |at| at + 2);
            let mut attributes = HtmlAttributes { rest: &rest[name_end..] };
            let found: Vec<_> = attributes.by_ref().collect();
            if &rest[..name_end] == b"<meta"
                && let Some(found) = encoding_in_attributes(&found)
            {
                return Some(found);
            }
            rest = attributes.rest;
            continue;
        }
        rest = &rest[1..];
    }
    None
}

/// Returns the encoding that the attributes of a `meta` declare: `charset`, or `content` with a matching `http-equiv`.
fn encoding_in_attributes(attributes: &[(&[u8], &[u8])]) -> Option<&'static Encoding> {
    let value = |name: &[u8]| attributes.iter().find(|(found, _)| *found == name).map(|(_, value)| *value);
    let content = value(b"http-equiv").filter(|value| *value == b"content-type").and(value(b"content"));
    value(b"charset").and_then(labelled).or_else(|| value_after(content?, b"charset"))
}

/// The attributes of a tag, name and value (WHATWG HTML, "get an attribute"). Ends at the end of the tag, or where an
/// attribute is truncated.
struct HtmlAttributes<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for HtmlAttributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
        let rest = self.rest;
        let rest = &rest[rest.iter().position(|byte| !is_between(byte)).unwrap_or(rest.len())..];
        self.rest = rest;
        if rest.first().is_none_or(|byte| *byte == b'>') {
            return None;
        }
        let is_end = |(at, byte): (usize, &u8)| is_name_end(byte) || (at > 0 && *byte == b'=');
        let name_end = rest.iter().enumerate().position(is_end).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(name_end);
        let Some(value) = behind.trim_ascii_start().strip_prefix(b"=") else {
            self.rest = behind;
            return Some((name, b""));
        };
        let value = value.trim_ascii_start();
        let quote = value.first().copied().filter(|byte| matches!(byte, b'"' | b'\''));
        let (value, length) = match quote {
            Some(quote) => {
                let value = &value[1..];
                let Some(length) = value.iter().position(|byte| *byte == quote) else {
                    self.rest = b"";
                    return None;
                };
                (value, length)
            }
            None => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
                (value, value.iter().position(is_end).unwrap_or(value.len()))
            }
        };
        self.rest = &value[length + usize::from(quote.is_some())..];
        Some((name, &value[..length]))
    }
}

fn is_name_end(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}

/// Returns the encoding that follows `name` and an equals sign.
fn value_after(text: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let behind = &text[position(text, name)? + name.len()..];
    let value = behind.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let is_end =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b';' | b'>' | b'/' | b'?');
    let end = value.iter().position(is_end).unwrap_or(value.len());
    labelled(&value[..end])
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// Returns true for UTF-8; its last character may be truncated if there are more bytes.
fn is_utf8(bytes: &[u8], is_cut: bool) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| is_cut && error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("text/html; charset=iso-8859-1", b"", "windows-1252")]
    #[case("text/html;charset=\"Shift_JIS\"", b"", "Shift_JIS")]
    #[case("text/html; x=y; CHARSET='UTF-16LE'", b"", "UTF-16LE")]
    #[case("text/plain; charset=utf-16", b"\xfe\xff\0a", "UTF-16BE")]
    #[case("text/plain; charset=latin1", b"\xef\xbb\xbfa", "UTF-8")]
    #[case("text/plain; charset=koi8-r", b"\xc1", "KOI8-R")]
    #[case("text/plain; charset=no-such-one", b"caf\xc3\xa9", "UTF-8")]
    #[case("text/plain; charset=no-such-one", b"caf\xe9", "windows-1252")]
    #[case("text/plain; charset=", b"caf\xe9", "windows-1252")]
    #[case("text/plain; charset=iso-2022-kr", b"caf\xe9", "windows-1252")]
    #[case("text/html", b"<html><meta charset=gb2312>", "GBK")]
    #[case("text/html", b"<META  name=x>< meta><meta CharSet = 'euc-jp' />", "EUC-JP")]
    #[case("text/html", b"<!-- <meta charset=big5> --><meta charset=\"euc-kr\">", "EUC-KR")]
    #[case(
        "text/html",
        b"<meta http-equiv=Content-Type content=\"text/html; charset=iso-8859-2\">",
        "ISO-8859-2"
    )]
    #[case("text/html", b"<meta charset=utf-16>\xff", "UTF-8")]
    #[case("text/html", b"<meta name=x content=\"charset=big5\"><meta charset=euc-kr>", "EUC-KR")]
    #[case("text/html", b"<meta content=\"text/html; charset=koi8-r\">", "UTF-8")]
    #[case("text/html", b"<meta content=\"a/b; charset=koi8-r\" http-equiv=Content-Type>", "KOI8-R")]
    #[case("text/html", b"<meta data-charset=big5>", "UTF-8")]
    #[case("text/html", b"<metadata charset=big5>", "UTF-8")]
    #[case("text/html", b"<a title='<meta charset=big5>' b>", "UTF-8")]
    #[case("text/html", b"</p x><meta/charset=big5", "Big5")]
    #[case("text/html", b"<meta charset='big5", "UTF-8")]
    #[case("text/plain; a=\"x;charset=big5\"; charset=koi8-r", b"", "KOI8-R")]
    #[case("text/plain; a=\"\\\";charset=big5\"; charset=koi8-r", b"", "KOI8-R")]
    #[case("text/plain; charset=\"koi8\\-r", b"", "KOI8-R")]
    #[case("text/plain; charset=koi8-r; charset=big5", b"", "KOI8-R")]
    #[case("text/html, text/plain; charset=koi8-r", b"<meta charset=big5>", "KOI8-R")]
    #[case("text/html; charset=koi8-r, text/html", b"", "KOI8-R")]
    #[case("text/html; charset=koi8-r, text/plain", b"<meta charset=big5>", "UTF-8")]
    #[case("text/plain", b"<meta charset=big5>", "UTF-8")]
    #[case("application/xml", b"<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?>", "ISO-8859-15")]
    #[case("application/xhtml+xml", b"<?xml version='1.0' encoding='windows-1251'?>", "windows-1251")]
    #[case("", b" <meta charset=big5>", "Big5")]
    #[case("", b"", "UTF-8")]
    fn an_encoding_is_found_as_browsers_find_it(
        #[case] content_type: &str,
        #[case] bytes: &[u8],
        #[case] expected: &str,
    ) {
        let content_type = Some(content_type).filter(|text| !text.is_empty());
        assert_eq!(encoding_of(content_type, bytes, false).name(), expected);
    }

    #[test]
    fn the_last_character_may_be_cut_with_the_body() {
        assert_eq!(encoding_of(None, b"caf\xc3", true).name(), "UTF-8");
        assert_eq!(encoding_of(None, b"caf\xc3", false).name(), "windows-1252");
        assert_eq!(encoding_of(None, b"c\xe9af", true).name(), "windows-1252");
    }
}
