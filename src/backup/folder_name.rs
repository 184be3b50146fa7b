//! Names of the folders of a server's backups: each contains the start time of the backup.

use chrono::{DateTime, NaiveDateTime};

use crate::clock::Timestamp;

/// Prefix of the names; the start time follows.
const START: &str = "watchkeeper-";
/// The format of the start time: RFC 3339 without colons.
const STAMP: &str = "%Y-%m-%dT%H%M%SZ";

/// Returns the folder name of a backup that starts at this moment.
pub(super) fn folder_name(moment: Timestamp) -> String {
    format!("{START}{}", stamp(moment))
}

/// Formats a moment to the second.
fn stamp(moment: Timestamp) -> String {
    let moment = DateTime::from_timestamp_millis(moment.ms()).unwrap_or_default();
    moment.format(STAMP).to_string()
}

/// Parses the start time from the name of a folder; `None` for any other name.
pub(super) fn parse_folder_name(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(START)?;
    let read = NaiveDateTime::parse_from_str(text, STAMP).ok()?.and_utc().into();
    (stamp(read) == text).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_are_named_by_their_time() {
        let at = Timestamp::from_ms(1_795_724_223_250);
        let name = folder_name(at);
        assert_eq!(name, "watchkeeper-2026-11-26T201703Z");
        assert_eq!(parse_folder_name(&name), Some(Timestamp::from_ms(1_795_724_223_000)));
        for other in [
            "watchkeeper-",
            "watchkeeper-monday",
            "mine",
            "watchkeeper-2026-11-26T201703Z.old",
            "watchkeeper-2026-11-26T2017Z",
        ] {
            assert_eq!(parse_folder_name(other), None, "{other}");
        }
    }
}
