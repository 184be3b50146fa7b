//! The secret part of URLs that need no token: pings and calendars. Secrets are looked up by their hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::http::kit::error::ApiError;

/// Number of random bytes in a secret.
const SECRET_BYTES: usize = 32;
/// Number of characters of a secret.
const SECRET_LENGTH: usize = 43;

/// Generates a new secret.
///
/// # Errors
/// 500 when the operating system provides no randomness.
pub(super) fn draw_secret() -> Result<String, ApiError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::Internal(anyhow::anyhow!("no randomness: {error}")))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns the hash for the lookup of a secret; `None` for a text that cannot be a secret.
pub(in crate::http) fn read_secret(text: &str) -> Option<[u8; 32]> {
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (text.len() == SECRET_LENGTH && text.bytes().all(in_alphabet)).then(|| hash(text))
}

/// Returns the SHA-256 hash of a secret.
pub(super) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&"a".repeat(43), true)]
    #[case("0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcde", true)]
    #[case(&"a".repeat(42), false)]
    #[case(&"a".repeat(44), false)]
    #[case("0123456789+/ABCDEFGHIJKLMNOPQRSTUVWXYZabcde", false)]
    fn a_secret_has_43_characters(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(read_secret(text).is_some(), expected);
    }
}
