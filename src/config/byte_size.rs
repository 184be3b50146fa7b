//! An amount of bytes as operators write it: `500MiB`, `20GiB`, or a plain number.

use std::str::FromStr;

use serde::Serialize;

/// A limit in bytes, at least 64 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ByteSize(u64);

const UNITS: [(&str, u64); 9] = [
    ("KIB", 1 << 10),
    ("MIB", 1 << 20),
    ("GIB", 1 << 30),
    ("TIB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];
const LEAST: u64 = 64 << 20;

impl ByteSize {
    /// Number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Error: the text is not an amount of bytes, or the amount is below 64 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of bytes from 64MiB")]
pub struct InvalidByteSize;

impl FromStr for ByteSize {
    type Err = InvalidByteSize;

    fn from_str(text: &str) -> Result<Self, InvalidByteSize> {
        let text = text.trim().to_ascii_uppercase();
        let found = UNITS.into_iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
        let (number, factor) = found.unwrap_or((&text, 1));
        let number: u64 = number.trim_end().parse().map_err(|_| InvalidByteSize)?;
        number.checked_mul(factor).filter(|bytes| *bytes >= LEAST).map(Self).ok_or(InvalidByteSize)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("67108864", Some(64 << 20))]
    #[case("64MiB", Some(64 << 20))]
    #[case(" 20 gib ", Some(20 << 30))]
    #[case("500MB", Some(500_000_000))]
    #[case("67108864B", Some(64 << 20))]
    #[case("63MiB", None)]
    #[case("1.5GiB", None)]
    #[case("20G", None)]
    #[case("-20GiB", None)]
    #[case("", None)]
    #[case("99999999999TiB", None)]
    fn amounts_are_read(#[case] text: &str, #[case] bytes: Option<u64>) {
        assert_eq!(text.parse().ok().map(ByteSize::get), bytes);
    }
}
