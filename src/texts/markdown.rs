//! Texts that people write in Markdown (CommonMark), as HTML that is safe to show to everybody.
//!
//! Raw HTML is left out, pictures become their description, and links lead only to `http`, `https` and `mailto`. So no
//! text can run anything in a browser or make it ask another host.

use std::fmt::Write as _;

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};
use pulldown_cmark_escape::escape_href;

/// Possible starts of the address of a link. An `https:` without a host is relative to the page, or nothing at all.
const STARTS: [&str; 3] = ["http://", "https://", "mailto:"];
/// Levels of quotes and lists inside each other that are shown; deeper ones are shown at the last level.
const DEPTH_MAX: usize = 12;

/// Markdown as HTML. Headings begin at `<h4>`, below those of a page.
#[must_use]
pub fn to_html(markdown: &str) -> String {
    let mut filter = MarkdownFilter::default();
    let events = Parser::new_ext(markdown, Options::empty()).filter_map(|event| filter.pass(event));
    let mut text = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut text, events);
    text
}

/// Markdown as plain text, for readers that show no HTML: paragraphs are separated by a blank line, items of lists begin with a
/// hyphen, and links are followed by their address.
#[must_use]
pub fn to_text(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut addresses = Vec::new();
    for event in Parser::new_ext(markdown, Options::empty()) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push('\n'),
            Event::Start(Tag::Item) => text.push_str("- "),
            Event::End(TagEnd::Item) if !text.ends_with('\n') => text.push('\n'),
            Event::Start(Tag::List(_)) if !text.is_empty() && !text.ends_with('\n') => text.push('\n'),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::List(_)) => {
                text.truncate(text.trim_end().len());
                text.push_str("\n\n");
            }
            Event::Start(Tag::Link { dest_url, .. }) => addresses.push(dest_url),
            Event::End(TagEnd::Link) => {
                let address =
                    addresses.pop().filter(|address| is_safe(address) && !text.ends_with(&**address));
                if let Some(address) = address {
                    let _ = write!(text, " ({address})");
                }
            }
            _ => {}
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Passes on what is safe to show.
#[derive(Default)]
struct MarkdownFilter {
    /// Quotes and lists that are open, also those that are left out.
    depth: usize,
    /// For each open link: whether it is shown.
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

/// Returns true for an address that a browser may be sent to.
fn is_safe(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    STARTS.iter().any(|start| address.starts_with(start))
}

/// The opening tag of a link: its target gets no credit from search engines and no access to the page.
fn link(address: &str) -> String {
    let mut tag = String::from("<a href=\"");
    // Writing to a `String` cannot fail.
    let _ = escape_href(&mut tag, address);
    let _ = write!(tag, "\" rel=\"nofollow noopener ugc\">");
    tag
}

/// The level of a heading in a text that stands below a heading of the third level.
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
    #[case("[x](https:/console/delete)")]
    #[case("[x](https:javascript:alert(1))")]
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

    #[rstest]
    #[case("plain", "plain")]
    #[case("one\ntwo\n\nthree", "one\ntwo\n\nthree")]
    #[case("# Head\n**bold** *slanted* `code`", "Head\n\nbold slanted code")]
    #[case("Done:\n\n* a\n* b\n\nNext", "Done:\n\n- a\n- b\n\nNext")]
    #[case("See [the log](https://a.example/log).", "See the log (https://a.example/log).")]
    #[case("<https://a.example/>", "https://a.example/")]
    #[case("[x](javascript:alert(1)) <script>alert(2)</script>", "x alert(2)")]
    #[case("![drawing](https://a.example/x.png)", "drawing")]
    fn markdown_is_written_as_text(#[case] markdown: &str, #[case] text: &str) {
        assert_eq!(to_text(markdown), text);
    }

    #[test]
    fn deep_nesting_is_flattened() {
        let html = to_html(&format!("{}deep", "> ".repeat(2_000)));
        assert_eq!(html.matches("<blockquote>").count(), DEPTH_MAX, "{html}");
        assert_eq!(html.matches("</blockquote>").count(), DEPTH_MAX);
        assert!(html.contains("deep"));
    }
}
