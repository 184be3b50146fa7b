//! Converts texts that people write in Markdown (CommonMark) to HTML that is safe to show to everybody.
//!
//! Raw HTML is left out, images become their description, and links lead only to `http`, `https` and `mailto`. So a text can
//! neither run anything in a browser nor make the browser contact another host.

use std::fmt::Write as _;

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};
use pulldown_cmark_escape::escape_href;

/// URL schemes that a link may have.
const SCHEMES: [&str; 3] = ["http:", "https:", "mailto:"];
/// Maximum nesting of quotes and lists; deeper ones are shown at the last level.
const DEPTH_MAX: usize = 12;

/// Converts Markdown to HTML. Headings start at `<h4>`, below the headings of a page.
#[must_use]
pub fn to_html(markdown: &str) -> String {
    let mut filter = MarkdownFilter::default();
    let events = Parser::new_ext(markdown, Options::empty()).filter_map(|event| filter.pass(event));
    let mut text = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut text, events);
    text
}

/// A filter that passes on the parts that are safe to show.
#[derive(Default)]
struct MarkdownFilter {
    /// Number of open quotes and lists, including those that are left out.
    depth: usize,
    /// For each open link, whether it is shown.
    links: Vec<bool>,
}

impl MarkdownFilter {
    fn pass<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        match event {
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Start(Tag::Image { .. } | Tag::HtmlBlock)
            | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => None,
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let scheme = if link_type == LinkType::Email { "mailto:" } else { "" };
                let address = format!("{scheme}{dest_url}");
                let is_shown = is_safe(&address);
                self.links.push(is_shown);
                is_shown.then(|| own_html(link(&address)))
            }
            Event::End(TagEnd::Link) => {
                self.links.pop().unwrap_or_default().then(|| own_html("</a>".to_owned()))
            }
            Event::Start(Tag::Heading { level, .. }) => Some(own_html(format!("<h{}>", below_page(level)))),
            Event::End(TagEnd::Heading(level)) => Some(own_html(format!("</h{}>\n", below_page(level)))),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => {
                self.depth += 1;
                (self.depth <= DEPTH_MAX).then_some(event)
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => {
                self.depth -= 1;
                (self.depth < DEPTH_MAX).then_some(event)
            }
            other => Some(other),
        }
    }
}

fn own_html<'a>(text: String) -> Event<'a> {
    Event::InlineHtml(CowStr::from(text))
}

/// Returns true for a URL that is safe to open in a browser.
fn is_safe(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| address.starts_with(scheme))
}

/// Returns the opening tag of a link. The target gets no credit from search engines, and no access to the page.
fn link(address: &str) -> String {
    let mut tag = String::from("<a href=\"");
    // Writing to a `String` cannot fail.
    let _ = escape_href(&mut tag, address);
    let _ = write!(tag, "\" rel=\"nofollow noopener ugc\">");
    tag
}

/// Returns the level of a heading in a text that is itself below a heading of the third level.
const fn below_page(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 4,
        HeadingLevel::H2 => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("plain", "<p>plain</p>\n")]
    #[case("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n")]
    #[case("**bold** *slanted* `code`", "<p><strong>bold</strong> <em>slanted</em> <code>code</code></p>\n")]
    #[case("* a\n* b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n")]
    #[case("# Head\n### Deep", "<h4>Head</h4>\n<h6>Deep</h6>\n")]
    #[case(
        "[log](https://a.example/?x=1&y=2)",
        "<p><a href=\"https://a.example/?x=1&amp;y=2\" rel=\"nofollow noopener ugc\">log</a></p>\n"
    )]
    #[case(
        "<mail@a.example>",
        "<p><a href=\"mailto:mail@a.example\" rel=\"nofollow noopener ugc\">mail@a.example</a></p>\n"
    )]
    #[case("![drawing](https://a.example/x.png)", "<p>drawing</p>\n")]
    #[case("a < b & c", "<p>a &lt; b &amp; c</p>\n")]
    fn markdown_is_shown(#[case] markdown: &str, #[case] html: &str) {
        assert_eq!(to_html(markdown), html);
    }

    #[rstest]
    #[case("<script>alert(1)</script>")]
    #[case("a <img src=x onerror=alert(1)> b")]
    #[case("<svg onload=alert(1)>\n\ntext")]
    #[case("<math><mtext></mtext><style><img src=x onerror=alert(1)></style></math>")]
    #[case("[x](javascript:alert(1))")]
    #[case("[x](JaVaScRiPt:alert(1))")]
    #[case("[x]( javascript:alert(1))")]
    #[case("[x](&#106;avascript:alert(1))")]
    #[case("[x](java\\nscript:alert(1))")]
    #[case("[x](data:text/html,<script>alert(1)</script>)")]
    #[case("[x](vbscript:msgbox)")]
    #[case("[x](//evil.example)")]
    #[case("[x](/console/delete)")]
    #[case("<javascript:alert(1)>")]
    #[case("[x]: javascript:alert(1)\n[x]")]
    #[case("![x](javascript:alert(1))")]
    #[case("![x](https://evil.example/track.png)")]
    #[case("[![x](https://evil.example/a.png)](javascript:alert(1))")]
    #[case("[x](https://a.example/\"onmouseover=\"alert(1))")]
    #[case("<!-- --><style>*{display:none}</style>")]
    #[case("<iframe src=https://evil.example>")]
    #[case("```<script>\nalert(1)\n```")]
    fn no_text_becomes_active(#[case] markdown: &str) {
        let html = to_html(markdown);
        let mut rest = html.as_str();
        while let Some(at) = rest.find('<') {
            let (tag, after) = rest[at + 1..].split_once('>').unwrap();
            let name = tag.trim_start_matches('/').split(' ').next().unwrap();
            assert!(["p", "a", "code", "pre", "em", "strong", "li", "ul"].contains(&name), "{html}");
            if name == "a" && !tag.starts_with('/') {
                let href = tag.strip_prefix("a href=\"").unwrap();
                let (address, attributes) = href.split_once('"').unwrap();
                assert_eq!(attributes, " rel=\"nofollow noopener ugc\"", "{html}");
                assert!(address.starts_with("https://") || address.starts_with("mailto:"), "{html}");
            }
            rest = after;
        }
    }

    #[test]
    fn deep_nesting_is_flattened() {
        let html = to_html(&format!("{}deep", "> ".repeat(2_000)));
        assert_eq!(html.matches("<blockquote>").count(), DEPTH_MAX, "{html}");
        assert_eq!(html.matches("</blockquote>").count(), DEPTH_MAX);
        assert!(html.contains("deep"));
    }
}
