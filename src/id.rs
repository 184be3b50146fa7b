//! 21-character ids (contract 1.5): random, from `A-Za-z0-9_-`, never reused.
//!
//! An [`Id`] is a plain copyable value; an id of the wrong form cannot be built, so it need not be checked again. Tag ids have
//! a further rule and are drawn by [`Id::tag`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// Length of an id in characters.
pub const ID_LENGTH: usize = 21;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// An id of the form `^[A-Za-z0-9_-]{21}$`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; ID_LENGTH]);

impl Id {
    /// Draws a new id: 126 random bits.
    ///
    /// # Panics
    /// When the operating system provides no randomness.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes = [0; ID_LENGTH];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        Self(bytes.map(|byte| ALPHABET[usize::from(byte & 63)]))
    }

    /// Draws a tag id: at least one uppercase letter (specification 2.3).
    #[must_use]
    pub fn tag() -> Self {
        loop {
            let id = Self::random();
            if id.0.iter().any(u8::is_ascii_uppercase) {
                return id;
            }
        }
    }

    /// The id as text of 21 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the first half of the id's SHA-256 in hexadecimal digits. Two processes that know the id recognise each
    /// other by it, and nobody else learns the id from it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        Sha256::digest(self.0).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// A well-mixed 64-bit hash (FNV-1a with a final avalanche), the same on every machine and in every
    /// version: phases and shards are derived from it.
    #[must_use]
    pub fn stable_hash(&self) -> u64 {
        let fnv = self.0.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 33)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Error: the text does not have the form of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id has 21 characters from A-Z, a-z, 0-9, _ and -")]
pub struct InvalidId;

impl FromStr for Id {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let bytes: [u8; ID_LENGTH] = text.as_bytes().try_into().map_err(|_| InvalidId)?;
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if bytes.iter().all(allowed) { Ok(Self(bytes)) } else { Err(InvalidId) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_id_parses_back() {
        let id = Id::random();
        assert_eq!(id.as_str().parse(), Ok(id));
        assert_ne!(id, Id::random());
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["", "short", "22_characters_is_1_more", "contains a blank here", "ümlauts-count-bytes-x"]
        {
            assert_eq!(text.parse::<Id>(), Err(InvalidId), "{text}");
        }
    }

    #[test]
    fn hashes_spread_evenly_over_buckets() {
        let mut buckets = [0_u32; 16];
        for _ in 0..16_000 {
            buckets[usize::try_from(Id::random().stable_hash() % 16).unwrap()] += 1;
        }
        assert!(buckets.iter().all(|count| (800..1200).contains(count)), "{buckets:?}");
    }
}
