//! Names of the folders that a server makes backups in: each is the moment at which the backup was begun.

use chrono::{DateTime, NaiveDateTime};

use crate::clock::Timestamp;

/// Start of the names; the moment follows.
const START: &str = "watchkeeper-";
/// The form of that moment: RFC 3339 without colons.
const STAMP: &str = "%Y-%m-%dT%H%M%SZ";

/// Name of the folder of a backup that is begun at this moment.
pub(super) fn folder_name(moment: Timestamp) -> String {
    format!("{START}{}", stamp(moment))
}

/// A moment to the second.
fn stamp(moment: Timestamp) -> String {
    let moment = DateTime::from_timestamp_millis(moment.ms()).unwrap_or_default();
    moment.format(STAMP).to_string()
}

/// Reads the moment from the name of a folder; `None` for any other name.
pub(super) fn moment(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(START)?;
    let read = NaiveDateTime::parse_from_str(text, STAMP).ok()?.and_utc().into();
    (stamp(read) == text).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_backups_are_their_moments() {
        let at = Timestamp::from_ms(1_795_724_223_250);
        let name = folder_name(at);
        assert_eq!(name, "watchkeeper-2026-11-26T201703Z");
        assert_eq!(moment(&name), Some(Timestamp::from_ms(1_795_724_223_000)));
        for other in [
            "watchkeeper-",
            "watchkeeper-monday",
            "mine",
            "watchkeeper-2026-11-26T201703Z.old",
            "watchkeeper-2026-11-26T2017Z",
        ] {
            assert_eq!(moment(other), None, "{other}");
        }
    }
}
