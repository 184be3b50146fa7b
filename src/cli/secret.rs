//! A secret given by a flag: the text itself, or, to keep it out of process lists, `@FILE` or `-` for standard input.

use std::io::Read as _;

use anyhow::Context as _;

/// Reads the secret, without surrounding white space.
pub(super) fn read(given: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    match (given, given.strip_prefix('@')) {
        ("-", _) => drop(std::io::stdin().read_to_string(&mut text)?),
        (_, Some(file)) => text = std::fs::read_to_string(file).with_context(|| file.to_owned())?,
        _ => text.push_str(given),
    }
    Ok(text.trim().to_owned())
}
