//! The request id in responses and logs (contract 1.12).

use actix_web::http::header::{HeaderMap, HeaderName};

use crate::id::Id;

/// The header with the id, in requests and responses.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const MAX_LENGTH: usize = 64;

/// Returns the client's id if it has 1 to 64 visible ASCII characters, otherwise a new id.
#[must_use]
pub fn request_id(headers: &HeaderMap) -> String {
    let sent = headers.get(X_REQUEST_ID).map(|value| value.as_bytes());
    sent.and_then(visible).unwrap_or_else(|| Id::random().to_string())
}

fn visible(bytes: &[u8]) -> Option<String> {
    let fits = (1..=MAX_LENGTH).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    fits.then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(b"req-1", true)]
    #[case(b"!~", true)]
    #[case(&[b'a'; 64], true)]
    #[case(&[b'a'; 65], false)]
    #[case(b"", false)]
    #[case(b"two words", false)]
    #[case(b"t\xc3\xa4g", false)]
    fn a_visible_client_request_id_is_used(#[case] sent: &[u8], #[case] is_used: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(sent).unwrap());
        let id = request_id(&headers);
        assert_eq!(id.as_bytes() == sent, is_used);
        assert!(!id.is_empty());
    }

    #[test]
    fn a_missing_request_id_is_generated() {
        let headers = HeaderMap::new();
        assert_ne!(request_id(&headers), request_id(&headers));
    }
}
