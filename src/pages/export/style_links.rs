//! The links in a style sheet: found, and replaced.

/// Words before a link, with the characters that end the link.
const STARTS: [(&str, &str); 6] = [
    ("url(\"", "\""),
    ("url('", "'"),
    ("url(", ")"),
    ("@import \"", "\""),
    ("@import '", "'"),
    ("src(\"", "\""),
];

/// Calls `replace` with each link, and returns the style sheet with the links that it returns; a link stays if that is
/// `None`.
pub(super) fn replace_links(style: &str, mut replace: impl FnMut(&str) -> Option<String>) -> String {
    let mut written = String::with_capacity(style.len());
    let mut rest = style;
    loop {
        // Of starts at the same place the first one in the list is the longest.
        let starts = STARTS.iter().filter_map(|(start, end)| Some((rest.find(start)?, *start, *end)));
        let Some((at, start, end)) = starts.min_by_key(|(at, ..)| *at) else { break };
        let (before, after) = rest.split_at(at + start.len());
        let length = after.find(end).unwrap_or(after.len());
        let link = &after[..length];
        written.push_str(before);
        match replace(link.trim()) {
            Some(new) => written.push_str(&new),
            None => written.push_str(link),
        }
        rest = &after[length..];
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a { background: url(/assets/x) }", "a { background: url([/assets/x]) }")]
    #[case("a { background: url( '/x' ) }", "a { background: url(['/x']) }")]
    #[case("a { b: url(\"/x\") url('/y') }", "a { b: url(\"[/x]\") url('[/y]') }")]
    #[case("@import \"/z\";", "@import \"[/z]\";")]
    #[case("a { color: red }", "a { color: red }")]
    #[case("a { b: url(", "a { b: url([]")]
    fn links_are_found_and_replaced(#[case] style: &str, #[case] expected: &str) {
        assert_eq!(replace_links(style, |link| Some(format!("[{link}]"))), expected);
        assert_eq!(replace_links(style, |_| None), style);
    }
}
