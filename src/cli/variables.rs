//! Warns about environment variables that look like settings but are unknown. An unknown variable is not an error, because
//! orchestrators set variables such as `WATCHKEEPER_PORT`.

use std::collections::BTreeSet;

const PREFIX: &str = "WATCHKEEPER_";
/// Variables of tests, which no command reads.
const TESTS: [&str; 4] =
    ["WATCHKEEPER_TESTS_", "WATCHKEEPER_TEST_", "WATCHKEEPER_ENDURE", "WATCHKEEPER_INJECT_FAULT"];
/// Minimum similarity of a suggested name, from 0 to 1.
const ALIKE: f64 = 0.9;

/// Warns about each variable that no command reads.
pub(super) fn warn_of_unknown(command: &clap::Command) {
    for (name, meant) in unknown_of_process(command) {
        match meant {
            Some(meant) => {
                tracing::warn!(variable = name, suggestion = meant, "unknown setting ignored");
            }
            None => tracing::warn!(variable = name, "unknown setting ignored; see watchkeeper serve --help"),
        }
    }
}

/// Returns the variables of this process that no command reads, each with the most similar setting, if any.
pub(super) fn unknown_of_process(command: &clap::Command) -> Vec<(String, Option<String>)> {
    let given = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    unknown(&known(command), given)
}

/// Returns the variables of this command and its subcommands.
fn known(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(clap::Arg::get_env);
    let own = own.filter_map(|name| name.to_str()).map(str::to_owned);
    own.chain(command.get_subcommands().flat_map(known)).collect()
}

/// Returns the names that are not settings, each with the most similar setting, if any.
fn unknown(known: &BTreeSet<String>, given: impl Iterator<Item = String>) -> Vec<(String, Option<String>)> {
    let is_ours =
        |name: &String| name.starts_with(PREFIX) && !TESTS.iter().any(|prefix| name.starts_with(prefix));
    let mut found: Vec<_> = given
        .filter(|name| is_ours(name) && !known.contains(name))
        .map(|name| {
            let meant = most_alike(&name, known.iter().map(String::as_str), ALIKE).map(str::to_owned);
            (name, meant)
        })
        .collect();
    found.sort();
    found
}

/// Returns the word most similar to this one, if its similarity, 0 to 1, reaches the minimum.
pub(super) fn most_alike<'a>(
    given: &str,
    known: impl Iterator<Item = &'a str>,
    at_least: f64,
) -> Option<&'a str> {
    let likeness = |word: &'a str| (strsim::normalized_damerau_levenshtein(given, word), word);
    let most = known.map(likeness).max_by(|one, other| one.0.total_cmp(&other.0));
    most.filter(|(likeness, _)| *likeness >= at_least).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("WATCHKEEPER_LISEN", Some(Some("WATCHKEEPER_LISTEN")))]
    #[case("WATCHKEEPER_PROBE_DNS_SERVERS", Some(Some("WATCHKEEPER_PROBE__DNS_SERVERS")))]
    #[case("WATCHKEEPER_PORT_8080_TCP", Some(None))]
    #[case("WATCHKEEPER_LISTEN", None)]
    #[case("WATCHKEEPER_TESTS_REQUIRE_POSTGRES", None)]
    #[case("LISTEN", None)]
    fn an_unknown_variable_is_reported(#[case] name: &str, #[case] expected: Option<Option<&str>>) {
        let found = unknown(&known(&crate::cli::command()), std::iter::once(name.to_owned()));
        let found: Vec<Option<&str>> = found.iter().map(|(_, meant)| meant.as_deref()).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}
