//! The content security policy of a document in a file, which has no header.

/// Directives that browsers ignore, with an error, outside of a header.
const HEADER_ONLY: [&str; 4] = ["frame-ancestors", "sandbox", "report-uri", "report-to"];

/// Returns the policy of a header as the content of a `meta` element. For a document that is read from a disk, `'self'`
/// matches nothing, so that the scheme of such documents is added.
pub(super) fn static_policy(header: &str) -> String {
    let directives = header.split(';').map(str::trim);
    let kept = directives.filter(|directive| {
        let name = directive.split(' ').next().unwrap_or_default();
        !name.is_empty() && !HEADER_ONLY.contains(&name)
    });
    kept.map(|directive| directive.replace("'self'", "'self' file:")).collect::<Vec<_>>().join("; ")
}

/// Adds a policy to an HTML document, before everything to which it applies.
pub(super) fn with_policy(html: &str, policy: &str) -> String {
    let Some((before, after)) = html.split_once("<head>") else { return html.to_owned() };
    let policy = policy.replace('"', "&quot;");
    format!("{before}<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">{after}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "default-src 'none'; img-src 'self' data:; frame-ancestors 'none'; trusted-types wk",
        "default-src 'none'; img-src 'self' file: data:; trusted-types wk"
    )]
    #[case("sandbox; report-uri /x;", "")]
    fn a_policy_is_written_for_files(#[case] header: &str, #[case] expected: &str) {
        assert_eq!(static_policy(header), expected);
    }

    #[test]
    fn a_document_has_its_policy_first() {
        let html = "<html>\n<head>\n<title>x</title></head>";
        let expected =
            "<html>\n<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"a 'b'\">\n<title>";
        assert!(with_policy(html, "a 'b'").starts_with(expected));
    }
}
