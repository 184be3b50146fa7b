//! Hides credentials in operators' texts before they are shown.

use url::Url;

/// Replacement for a text that is not shown.
pub const HIDDEN: &str = "…";

/// Removes user info and query parameters from a text, which may contain URLs separated by commas. A text that may contain
/// a password in another form is hidden as a whole.
#[must_use]
pub fn without_credentials(text: &str) -> String {
    if text.starts_with("sqlite:") {
        // A file path has no credentials.
        return text.to_owned();
    }
    let parts: Option<Vec<String>> = text.split(',').map(part_without_credentials).collect();
    parts.map_or_else(|| HIDDEN.to_owned(), |parts| parts.join(","))
}

/// Returns the reason given by a driver, or a fixed text if the reason repeats a URL.
#[must_use]
pub fn without_urls(reason: &str) -> &str {
    if reason.contains("://") { "its URL cannot be used" } else { reason }
}

/// Returns one part without its credentials; `None` if it may still contain a password.
fn part_without_credentials(part: &str) -> Option<String> {
    if !part.contains("://") {
        // u:password@host, or password=…
        return (!part.contains(['@', '='])).then(|| part.to_owned());
    }
    let mut url = Url::parse(part.trim()).ok()?;
    let _ = url.set_username("");
    let _ = url.set_password(None);
    // A slash, a question mark or a hash in a password ends the host early, so part of the password is left behind an
    // `@`.
    if url.as_str().contains('@') {
        return None;
    }
    let has_fragment = url.fragment().is_some();
    url.set_query(None);
    url.set_fragment(None);
    let is_whole = !has_fragment && !part.contains(['@', '?']);
    Some(if is_whole { part.to_owned() } else { url.to_string() })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("postgres://me:secret@127.0.0.1:5432/wk?password=secret", "postgres://127.0.0.1:5432/wk")]
    #[case("sqlite:///data/main.db?mode=rwc", "sqlite:///data/main.db?mode=rwc")]
    #[case("tls://secret@127.0.0.1, tls://127.0.0.2", "tls://127.0.0.1, tls://127.0.0.2")]
    #[case("postgres:///wk?host=/run/postgresql&password=secret", "postgres:///wk")]
    #[case("mysql://me:secret@127.0.0.1", "mysql://127.0.0.1")]
    #[case("http://127.0.0.1#secret", "http://127.0.0.1/")]
    #[case("http://127.0.0.1", "http://127.0.0.1")]
    #[case("postgres://me:sec/ret@127.0.0.1/wk", HIDDEN)]
    #[case("postgres://me:5/secret@127.0.0.1/wk", HIDDEN)]
    #[case("postgres://me:5?secret@127.0.0.1/wk", HIDDEN)]
    #[case("postgres://me:5#secret@127.0.0.1/wk", HIDDEN)]
    #[case("tls://me:5,secret@127.0.0.1", HIDDEN)]
    #[case("postgres://me:secret@127.0.0.1:99999/wk", HIDDEN)]
    #[case("me:secret@tcp(127.0.0.1)/wk", HIDDEN)]
    #[case("host=127.0.0.1 password=secret", HIDDEN)]
    #[case("127.0.0.1:4222", "127.0.0.1:4222")]
    #[case("", "")]
    fn credentials_are_not_shown(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(without_credentials(text), shown);
    }
}
