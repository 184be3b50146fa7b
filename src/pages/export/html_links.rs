//! The links in an HTML document: found, and replaced. The documents are rendered by templates of this program, so that they
//! are well formed.

use std::borrow::Cow;

/// Attributes that hold a link.
const ATTRIBUTES: [&str; 5] = ["href", "src", "srcset", "action", "poster"];
/// Elements whose content is not HTML.
const RAW: [&str; 2] = ["script", "style"];

/// Calls `replace` with each link, and returns the document with the links that it returns; a link stays if that is `None`.
pub(super) fn replace_links(html: &str, mut replace: impl FnMut(&str) -> Option<String>) -> String {
    let mut written = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let (text, tag_and_rest) = rest.split_at(start);
        written.push_str(text);
        if tag_and_rest.starts_with("<!--") {
            let end = tag_and_rest.find("-->").map_or(tag_and_rest.len(), |end| end + 3);
            written.push_str(&tag_and_rest[..end]);
            rest = &tag_and_rest[end..];
            continue;
        }
        let (tag, after) = tag_and_rest.split_at(tag_length(tag_and_rest));
        written.push_str(&replace_in_tag(tag, &mut replace));
        rest = after;
        let name = tag[1..].split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if RAW.contains(&name) {
            let end = rest.find(&format!("</{name}")).unwrap_or(rest.len());
            written.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    written.push_str(rest);
    written
}

/// Returns the bytes of the tag at the start of this text, with both brackets; a bracket in a quoted value does not end it.
fn tag_length(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '>') => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn replace_in_tag(tag: &str, replace: &mut impl FnMut(&str) -> Option<String>) -> String {
    let mut written = String::with_capacity(tag.len());
    let mut rest = tag;
    // Every value is quoted.
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = &rest[at..=at];
        let Some(end) = rest[at + 1..].find(quote).map(|end| at + 1 + end) else { break };
        let (before, value) = (&rest[..at], &rest[at + 1..end]);
        let name = before.trim_end().trim_end_matches('=').rsplit(char::is_whitespace).next();
        written.push_str(before);
        written.push_str(quote);
        let new = name.filter(|name| ATTRIBUTES.contains(name)).and_then(|_| replace(&unescaped(value)));
        match new {
            Some(new) => written.push_str(&new.replace('&', "&amp;").replace(['"', '\''], "")),
            None => written.push_str(value),
        }
        written.push_str(quote);
        rest = &rest[end + 1..];
    }
    written.push_str(rest);
    written
}

/// Returns the text of an attribute, as far as links contain escaped characters.
fn unescaped(value: &str) -> Cow<'_, str> {
    if value.contains('&') {
        Cow::Owned(value.replace("&#38;", "&").replace("&amp;", "&"))
    } else {
        Cow::Borrowed(value)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("<a href=\"/x\" title=\"href\">/x</a>", &["/x"], "<a href=\"[/x]\" title=\"href\">/x</a>")]
    #[case("<img src='/a' alt=\"a > b\"><p>\"/y\"</p>", &["/a"], "<img src='[/a]' alt=\"a > b\"><p>\"/y\"</p>")]
    #[case("<source srcset=\"/a\" media=\"all\">", &["/a"], "<source srcset=\"[/a]\" media=\"all\">")]
    #[case("<a href=\"/x?a&#38;b\">", &["/x?a&b"], "<a href=\"[/x?a&amp;b]\">")]
    #[case("<!-- <a href=\"/x\"> --><b data-src=\"/y\">", &[], "<!-- <a href=\"/x\"> --><b data-src=\"/y\">")]
    #[case("<style>a[href=\"/x\"] {}</style><a href=\"/y\">", &["/y"], "<style>a[href=\"/x\"] {}</style><a href=\"[/y]\">")]
    #[case("<script src=\"/s\" defer></script>", &["/s"], "<script src=\"[/s]\" defer></script>")]
    #[case("a < b", &[], "a < b")]
    fn links_are_found_and_replaced(#[case] html: &str, #[case] links: &[&str], #[case] expected: &str) {
        let mut found = Vec::new();
        let written = replace_links(html, |link| {
            found.push(link.to_owned());
            Some(format!("[{link}]"))
        });
        assert_eq!((found, written.as_str()), (links.iter().map(|l| (*l).to_owned()).collect(), expected));
        assert_eq!(replace_links(html, |_| None), html);
    }
}
