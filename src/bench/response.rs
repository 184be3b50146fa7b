//! The HTTP/1.1 responses that the bench's clients read: their end, and their status.
//!
//! Only responses with a `Content-Length`, or with a status that has no body, are understood; the measured servers send
//! nothing else.

use anyhow::bail;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// A status whose responses have no body, even if they have a `Content-Length` (RFC 9110, section 15.4.5).
const NOT_MODIFIED: u16 = 304;

/// Reads one whole response; returns its status.
pub(super) async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> anyhow::Result<u16> {
    answer.clear();
    loop {
        if stream.read_buf(answer).await? == 0 {
            bail!("the server has closed a connection");
        }
        if let Some((status, length)) = measure(answer)
            && answer.len() >= length
        {
            return Ok(status);
        }
    }
}

/// Returns status and length in bytes of a response whose head is complete.
fn measure(answer: &[u8]) -> Option<(u16, usize)> {
    const END: &[u8] = b"\r\n\r\n";
    const LENGTH: &[u8] = b"content-length: ";
    let head = answer.windows(END.len()).position(|bytes| bytes == END)?;
    let status = std::str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()?;
    if status == NOT_MODIFIED {
        return Some((status, head + END.len()));
    }
    let line = answer[..head].windows(LENGTH.len()).position(|bytes| bytes.eq_ignore_ascii_case(LENGTH))?;
    let digits = answer[line + LENGTH.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    let body = digits.fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
    Some((status, head + END.len() + body))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("HTTP/1.1 200 OK\r\ncontent-length: 12\r\na: b\r\n\r\n", Some((200, 57)))]
    #[case("HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n", Some((429, 44)))]
    #[case("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n", None)]
    #[case("HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n", Some((304, 38)))]
    fn the_length_of_a_response_is_read_from_its_head(
        #[case] answer: &str,
        #[case] expected: Option<(u16, usize)>,
    ) {
        assert_eq!(measure(answer.as_bytes()), expected);
    }
}
