//! The style sheet and the scripts of the console. Their addresses contain a hash of their content, so browsers keep them.

use std::sync::LazyLock;

use crate::representation::{Representation, is_hash};

const FOLDER: &str = "/static/";

/// The style sheet.
static STYLE: LazyLock<Representation> = LazyLock::new(|| {
    Representation::new(concat!(
        include_str!("../html_kit/palette.css"),
        include_str!("static_files/console.css")
    ))
});
/// The script. The console works without it.
static SCRIPT: LazyLock<Representation> =
    LazyLock::new(|| Representation::new(include_str!("static_files/console.js")));

/// The script for passkeys, only in the documents that have forms for them.
static PASSKEYS: LazyLock<Representation> =
    LazyLock::new(|| Representation::new(include_str!("static_files/passkeys.js")));

/// A file of the console.
pub(super) struct StaticFile {
    pub(super) content: &'static Representation,
    pub(super) media_type: &'static str,
    /// True if the address has the hash of the present content.
    pub(super) is_current: bool,
}

/// Returns the address of the style sheet.
pub(super) fn style_address() -> String {
    format!("/console{FOLDER}console.{}.css", STYLE.revision())
}

/// Returns the address of the script.
pub(super) fn script_address() -> String {
    format!("/console{FOLDER}console.{}.js", SCRIPT.revision())
}

/// Returns the address of the script for passkeys.
pub(super) fn passkey_script_address() -> String {
    format!("/console{FOLDER}passkeys.{}.js", PASSKEYS.revision())
}

/// Returns the file at a path below `/console`.
pub(super) fn find(path: &str) -> Option<StaticFile> {
    let (name, rest) = path.strip_prefix(FOLDER)?.split_once('.')?;
    let (revision, ending) = rest.split_once('.')?;
    let (content, media_type): (&'static Representation, _) = match (name, ending) {
        ("console", "css") => (&STYLE, "text/css; charset=utf-8"),
        ("console", "js") => (&SCRIPT, "text/javascript; charset=utf-8"),
        ("passkeys", "js") => (&PASSKEYS, "text/javascript; charset=utf-8"),
        _ => return None,
    };
    let is_current = content.revision() == revision;
    is_hash(revision).then_some(StaticFile { content, media_type, is_current })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn files_are_found_at_their_addresses() {
        for address in [style_address(), script_address(), passkey_script_address()] {
            assert!(find(address.strip_prefix("/console").unwrap()).unwrap().is_current, "{address}");
        }
        assert!(!find("/static/console.0123.js").unwrap().is_current);
        assert!(find("/static/console.0123.html").is_none() && find("/static/other.0123.js").is_none());
    }

    #[test]
    fn the_scripts_are_small() {
        for (script, limit) in [(&SCRIPT, 8 * 1_024), (&PASSKEYS, 1_152)] {
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(script.plain()).unwrap();
            let bytes = packed.finish().unwrap().len();
            assert!(bytes <= limit, "{bytes}");
        }
    }
}
