//! The script that all pages share. Pages work without it; it shows changes while a page is open, times in the zone of the
//! visitor, and the days of an uptime bar.

use std::sync::LazyLock;

use crate::representation::{Representation, is_hash};

const START: &str = "/static/script.";
const ENDING: &str = ".js";

/// The script.
pub(super) static SCRIPT: LazyLock<Representation> =
    LazyLock::new(|| Representation::new(include_str!("templates/script.js")));

/// Returns the URL of the script, which contains a hash of its content.
pub(super) fn address() -> String {
    format!("{START}{}{ENDING}", SCRIPT.revision())
}

/// Returns the hash in the URL of a script; `None` if it is not the path of one.
pub(super) fn revision_at(path: &str) -> Option<&str> {
    path.strip_prefix(START)?.strip_suffix(ENDING).filter(|revision| is_hash(revision))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_script_is_found_at_its_address_and_small() {
        assert_eq!(revision_at(&address()), Some(SCRIPT.revision()));
        assert_eq!(revision_at("/static/script.css"), None);
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(SCRIPT.plain()).unwrap();
        let bytes = packed.finish().unwrap().len();
        assert!(bytes <= 6 * 1_024, "{bytes}");
    }
}
