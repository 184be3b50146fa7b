//! The content of a node's lease key: the data folder of the node, and the time since the node last reached the
//! databases.
//!
//! The text is `FOLDER AGE`: an id, and milliseconds. Earlier versions write the id only, later ones may append words.

use std::fmt;
use std::str::FromStr;

use crate::id::Id;

/// The value of a node's lease key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseValue {
    /// Id of the data folder of the process. Two processes with the same node name have different folders.
    pub folder: Id,
    /// The time since the node last reached both databases, in milliseconds; `None` = an earlier version wrote it.
    pub database_age_ms: Option<i64>,
}

/// The text is not a lease of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown lease format")]
pub struct LeaseValueError;

impl fmt::Display for LeaseValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.folder)?;
        self.database_age_ms.map_or(Ok(()), |age| write!(f, " {age}"))
    }
}

impl FromStr for LeaseValue {
    type Err = LeaseValueError;

    fn from_str(text: &str) -> Result<Self, LeaseValueError> {
        let mut words = text.split(' ');
        let folder = words.next().unwrap_or_default().parse().map_err(|_| LeaseValueError)?;
        let age = words.next().map(|age| age.parse().ok().filter(|age| *age >= 0).ok_or(LeaseValueError));
        Ok(Self { folder, database_age_ms: age.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const FOLDER: &str = "V1StGXR8_Z5jdHi6B-myT";

    #[rstest]
    #[case::of_an_earlier_version(FOLDER, None)]
    #[case::of_this_version("V1StGXR8_Z5jdHi6B-myT 250", Some(250))]
    fn a_lease_is_read_as_it_was_written(#[case] text: &str, #[case] database_age_ms: Option<i64>) {
        let value = LeaseValue { folder: FOLDER.parse().unwrap(), database_age_ms };
        assert_eq!((text.parse(), value.to_string().as_str()), (Ok(value), text));
    }

    #[test]
    fn fields_of_later_versions_are_ignored() {
        let value = LeaseValue { folder: FOLDER.parse().unwrap(), database_age_ms: Some(7) };
        assert_eq!(format!("{FOLDER} 7 more").parse(), Ok(value));
    }

    #[rstest]
    #[case("")]
    #[case("folder")]
    #[case("V1StGXR8_Z5jdHi6B-myT soon")]
    #[case("V1StGXR8_Z5jdHi6B-myT -1")]
    #[case("V1StGXR8_Z5jdHi6B-myT\n")]
    fn a_malformed_lease_is_refused(#[case] text: &str) {
        assert_eq!(text.parse::<LeaseValue>(), Err(LeaseValueError));
    }
}
