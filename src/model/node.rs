//! Names of engine nodes.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum number of characters of a name.
pub const NAME_MAX_LENGTH: usize = 32;

/// The name of an engine node, matching `^[a-z0-9][a-z0-9_-]{0,31}$`. One token of a bus subject; cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(Arc<str>);

impl NodeName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a valid node name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a valid node name; use 1 to 32 of a-z, 0-9, '_', '-', beginning with a letter or digit"
)]
pub struct InvalidNodeName(pub String);

impl FromStr for NodeName {
    type Err = InvalidNodeName;

    fn from_str(text: &str) -> Result<Self, InvalidNodeName> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let mut bytes = text.bytes();
        let starts_well = bytes.next().is_some_and(plain);
        let goes_on_well = bytes.all(|byte| plain(byte) || matches!(byte, b'_' | b'-'));
        if starts_well && goes_on_well && text.len() <= NAME_MAX_LENGTH {
            Ok(Self(text.into()))
        } else {
            Err(InvalidNodeName(text.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("engine-1", true)]
    #[case("0_a", true)]
    #[case("", false)]
    #[case("-a", false)]
    #[case("Engine", false)]
    #[case("a.b", false)]
    #[case("a*", false)]
    #[case("a2345678901234567890123456789012", true)]
    #[case("a23456789012345678901234567890123", false)]
    fn a_name_is_one_plain_token(#[case] text: &str, #[case] is_name: bool) {
        assert_eq!(text.parse::<NodeName>().is_ok(), is_name);
    }
}
