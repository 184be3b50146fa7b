//! Fingerprint for comparing two requests (contract 1.10): method, path, query string and body.
//!
//! A JSON body is hashed in canonical form, independent of key order and white space. Headers are not included.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::http::kit::body::parse_object;

/// Returns the SHA-256 hash of a request.
#[must_use]
pub fn fingerprint(method: &str, path: &str, query: &str, body: &[u8]) -> [u8; 32] {
    let body = parse_object(body).map_or_else(|_| body.to_vec(), |object| canonical(Value::Object(object)));
    let mut hash = Sha256::new();
    for part in [method.as_bytes(), path.as_bytes(), query.as_bytes()] {
        hash.update(part);
        // No part can contain this byte, so parts cannot run into each other.
        hash.update([0]);
    }
    hash.update(body);
    hash.finalize().into()
}

fn canonical(mut value: Value) -> Vec<u8> {
    value.sort_all_objects();
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const BODY: &[u8] = br#"{"b": [{"y": 1, "x": 2}], "a": "t"}"#;

    #[rstest]
    #[case("POST", "/v1/tags", "", br#"{"a":"t","b":[{"x":2,"y":1}]}"#, true)]
    #[case("POST", "/v1/tags", "", br#"{"a":"t","b":[{"x":2,"y":1}], "c": null}"#, false)]
    #[case("POST", "/v1/tags", "", br#"{"a":"T","b":[{"x":2,"y":1}]}"#, false)]
    #[case("POST", "/v1/tags", "a=1", BODY, false)]
    #[case("POST", "/v1/tags/ensure", "", BODY, false)]
    #[case("POST", "/v1/tag", "s", BODY, false)]
    #[case("PUT", "/v1/tags", "", BODY, false)]
    #[case("POST", "/v1/tags", "", b"", false)]
    #[case("POST", "/v1/tags", "", b"{", false)]
    fn the_same_request_has_the_same_fingerprint(
        #[case] method: &str,
        #[case] path: &str,
        #[case] query: &str,
        #[case] body: &[u8],
        #[case] same: bool,
    ) {
        let first = fingerprint("POST", "/v1/tags", "", BODY);
        assert_eq!(fingerprint(method, path, query, body) == first, same);
    }
}
