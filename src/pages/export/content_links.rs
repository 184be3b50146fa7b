//! The addresses of parts in a text of any format: those that begin with the public URL of the page, such as addresses of
//! preview images, and links in feeds.

/// Characters that end an address.
const ENDS: [char; 9] = ['"', '\'', '<', '>', '\\', ')', '?', '#', '&'];

/// Returns the paths of all addresses in this text that are below the public URL of the page.
pub(super) fn own_paths<'a>(text: &'a str, url: &'a str) -> impl Iterator<Item = &'a str> {
    let rests = text.split(url).skip(1).filter(|_| !url.is_empty());
    let path = |rest: &'a str| rest.split(|c: char| c.is_whitespace() || ENDS.contains(&c)).next();
    rests.filter_map(path).filter(|path| path.starts_with('/'))
}

/// Returns the public URL of a page, without a slash at its end, from its root document.
pub(super) fn public_url(root: &str) -> Option<&str> {
    let (_, rest) = root.split_once("<link rel=\"canonical\" href=\"")?;
    let (canonical, _) = rest.split_once('"')?;
    let host = canonical.find("://")? + 3;
    Some(canonical[host..].find('/').map_or(canonical, |end| &canonical[..host + end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_page_are_found_in_any_text() {
        let text = "<link>https://a.example/x</link> \"https://a.example/y.png\" https://a.example.org/z https://a.example";
        assert_eq!(own_paths(text, "https://a.example").collect::<Vec<_>>(), ["/x", "/y.png"]);
        assert_eq!(own_paths(text, "").count(), 0);
    }

    #[test]
    fn the_canonical_link_tells_the_public_url() {
        let root = "<link rel=\"canonical\" href=\"http://shop.localhost:8080/en/\">";
        assert_eq!(public_url(root), Some("http://shop.localhost:8080"));
        assert_eq!(public_url("<p>"), None);
    }
}
