//! One GET over HTTP/2 with hand-written frames: the minimum that the protocol requires of a client (RFC 9113).

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Preface, empty settings, and the headers of the only request: `GET https://localhost/` from the static table of RFC 7541.
const REQUEST: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\
    \x00\x00\x00\x04\x00\x00\x00\x00\x00\
    \x00\x00\x0e\x01\x05\x00\x00\x00\x01\x82\x87\x84\x41\x09localhost";
const SETTINGS_ACK: &[u8] = b"\x00\x00\x00\x04\x01\x00\x00\x00\x00";
const FRAME_HEAD_BYTES: usize = 9;
const END_STREAM: u8 = 1;

/// Sends the request, and reads until its stream ends.
pub(super) async fn get(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    stream.write_all(REQUEST).await?;
    let mut received = Vec::with_capacity(4_096);
    while !is_complete(&received) {
        if stream.read_buf(&mut received).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    stream.write_all(SETTINGS_ACK).await
}

/// Returns true if a complete frame of headers or data that ends the stream was received.
fn is_complete(mut received: &[u8]) -> bool {
    while let Some((head, rest)) = received.split_at_checked(FRAME_HEAD_BYTES) {
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let Some(behind) = rest.get(length..) else { return false };
        let (kind, flags) = (head[3], head[4]);
        if kind <= 1 && flags & END_STREAM != 0 {
            return true;
        }
        received = behind;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_complete_with_its_last_frame() {
        let settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00";
        let headers = b"\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88";
        let data = b"\x00\x00\x02\x00\x01\x00\x00\x00\x01ok";
        let all = [&settings[..], headers, data].concat();
        for length in 0..all.len() {
            assert!(!is_complete(&all[..length]), "{length}");
        }
        assert!(is_complete(&all));
    }
}
