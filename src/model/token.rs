//! The text form of API tokens (contract 1.13): a prefix, 43 random base62 characters, and a checksum of 6 characters.
//!
//! The text is shown once, and only its SHA-256 is stored. The checksum detects a mistyped token without a query. Who owns
//! a token is known to the store.

use std::fmt;

use sha2::{Digest, Sha256};

/// Number of characters of the random part; they carry 256 bits.
const SECRET_LENGTH: usize = 43;
/// Number of characters of the checksum; 62^6 is more than 2^32.
const CHECKSUM_LENGTH: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// SHA-256 of the text of a token, by which it is stored and looked up.
pub type TokenHash = [u8; 32];

/// The text of a token whose checksum is correct. Its debug output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenText(String);

impl TokenText {
    /// Creates a random token.
    ///
    /// # Panics
    /// If the operating system provides no randomness.
    #[must_use]
    pub fn random(prefix: &str) -> Self {
        let body: String = std::iter::repeat_with(random_digit).take(SECRET_LENGTH).collect();
        let body = format!("{prefix}{body}");
        let checksum = checksum(&body);
        Self(body + &checksum)
    }

    /// Parses a token as a client sent it; `None` if its form or checksum is wrong.
    #[must_use]
    pub fn parse(prefix: &str, text: &str) -> Option<Self> {
        let secret = text.strip_prefix(prefix)?;
        let base62 = secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if secret.len() != SECRET_LENGTH + CHECKSUM_LENGTH || !base62 {
            return None;
        }
        let (body, sent) = text.split_at(text.len() - CHECKSUM_LENGTH);
        (checksum(body) == sent).then(|| Self(text.to_owned()))
    }

    /// Returns the hash of the token, which is stored instead of the text.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The text itself, which is shown only once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenText(..)")
    }
}

/// A random character out of 62, all equally likely: bytes from 248 (4 x 62) on are drawn again.
fn random_digit() -> char {
    loop {
        let mut byte = [0];
        getrandom::fill(&mut byte).expect("the operating system provides randomness");
        if byte[0] < 248 {
            return char::from(BASE62[usize::from(byte[0] % 62)]);
        }
    }
}

/// The CRC-32 of `body` in base62, most significant digit first, padded with `0`.
fn checksum(body: &str) -> String {
    let mut rest = u64::from(crc32fast::hash(body.as_bytes()));
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = usize::try_from(rest % 62).map_or(b'0', |at| BASE62[at]);
        rest /= 62;
    }
    digits.map(char::from).iter().collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const KNOWN: &str = "wk_0000000000000000000000000000000000000000000";

    #[rstest]
    #[case("wk_")]
    #[case("")]
    #[case("other-prefix_")]
    fn a_drawn_token_parses_back(#[case] prefix: &str) {
        let token = TokenText::random(prefix);
        assert_eq!(token.expose().len(), prefix.len() + 49);
        assert_eq!(TokenText::parse(prefix, token.expose()), Some(token.clone()));
        assert_ne!(TokenText::random(prefix), token);
    }

    #[test]
    fn every_single_mistyped_character_is_noticed() {
        let token = TokenText::random("wk_");
        for at in 0..token.expose().len() {
            let mut bytes = token.expose().as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let mistyped = String::from_utf8(bytes).unwrap();
            assert_eq!(TokenText::parse("wk_", &mistyped), None, "{mistyped}");
        }
    }

    #[rstest]
    #[case("")]
    #[case("wk_")]
    #[case("wk_short")]
    #[case("WK_0000000000000000000000000000000000000000000000000")]
    #[case("wk_00000000000000000000000000000000000000000000000000")]
    #[case("wk_000000000000000000000000000000000000000000000000-")]
    #[case("wk_0000000000000000000000000000000000000000000äääää")]
    fn other_forms_are_refused(#[case] text: &str) {
        assert_eq!(TokenText::parse("wk_", text), None);
    }

    /// The checksum is CRC-32 (IEEE) in base62; digits come before capitals, capitals before small letters.
    #[test]
    fn the_checksum_is_reproducible() {
        let text = format!("{KNOWN}{}", checksum(KNOWN));
        assert!(TokenText::parse("wk_", &text).is_some());
        assert_eq!(checksum(""), "000000");
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum("123456789"), "3jZRME");
    }

    #[test]
    fn the_hash_is_sha_256_of_the_whole_text() {
        let hash = TokenText("abc".into()).hash();
        assert_eq!(hash[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn debug_output_shows_nothing() {
        assert_eq!(format!("{:?}", TokenText::random("wk_")), "TokenText(..)");
    }
}
