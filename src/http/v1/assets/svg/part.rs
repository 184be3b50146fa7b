//! Parts of an SVG: decides which elements, attributes and styles are harmless.
//!
//! All decisions are made here; `svg` only walks the tree.

use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::escape::EscapeError;
use quick_xml::events::BytesStart;

/// Maximum number of attributes of an element, more than any drawing has. The time to read them grows with their square.
const MAX_ATTRIBUTES: usize = 512;

const SVG_NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// Namespaces of languages that can do more than draw.
const FOREIGN_NAMESPACES: [&str; 2] = ["www.w3.org/1999/xhtml", "www.w3.org/1998/math"];
/// Replacement for such a namespace, so that its elements have no meaning.
const INERT_NAMESPACE: &str = "urn:removed";

const FORBIDDEN_ELEMENTS: [&str; 8] =
    ["script", "foreignobject", "iframe", "embed", "object", "audio", "video", "handler"];

/// Texts that make a style refer outside of the file. They are searched after escapes are resolved, with and without
/// comments.
const HARMFUL_STYLES: [&str; 6] =
    ["@import", "image-set(", "expression(", "-moz-binding", "behavior:", "javascript:"];

/// Reason for refusing a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SvgPartError {
    /// The part is not well-formed XML.
    Unreadable,
    /// The part contains an entity that would need a definition.
    Entity,
}

/// The start of an element with its harmless attributes.
pub(super) struct SvgTag {
    /// Name as written, with its prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    /// Value of `attributeName`, which an animation element changes.
    animates: Option<String>,
    /// Namespace of the element's own prefix, if it is declared on the element itself.
    namespace: Option<String>,
}

impl SvgTag {
    /// Reads a start tag and drops its harmful attributes.
    pub(super) fn read(start: &BytesStart<'_>) -> Result<Self, SvgPartError> {
        let name = start.name().0.to_owned();
        if !is_name(&name) {
            return Err(SvgPartError::Unreadable);
        }
        let declaration = match name.split_once(':') {
            Some((prefix, _)) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        let mut tag = Self { name, attributes: Vec::new(), animates: None, namespace: None };
        for (at, attribute) in start.attributes().enumerate() {
            let attribute = attribute.map_err(|_| SvgPartError::Unreadable)?;
            let key = attribute.key.0;
            if at >= MAX_ATTRIBUTES || !is_name(key) {
                return Err(SvgPartError::Unreadable);
            }
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| refusal(&error))?;
            if !is_xml_text(&value) {
                return Err(SvgPartError::Unreadable);
            }
            if key == declaration {
                tag.namespace = Some(value.clone().into_owned());
            }
            if local(key) == "attributename" {
                tag.animates = Some(local(value.trim()));
            }
            if let Some(value) = harmless_value(key, &value) {
                tag.attributes.push((key.to_owned(), value.to_owned()));
            }
        }
        Ok(tag)
    }

    /// Returns true if the element may be the root element.
    pub(super) fn is_svg_root(&self) -> bool {
        let name = self.name.rsplit(':').next().unwrap_or_default();
        name == "svg" && self.namespace.as_deref().is_none_or(|namespace| namespace == SVG_NAMESPACE)
    }

    pub(super) fn write(&self, out: &mut String, is_empty: bool) {
        out.push('<');
        out.push_str(&self.name);
        for (key, value) in &self.attributes {
            out.push(' ');
            out.push_str(key);
            out.push_str("=\"");
            out.push_str(&quick_xml::escape::escape(value.as_str()).replace('\n', "&#10;"));
            out.push('"');
        }
        out.push_str(if is_empty { "/>" } else { ">" });
    }
}

/// Returns true if the element must be removed, with everything inside.
pub(super) fn is_forbidden_element(tag: &SvgTag) -> bool {
    let name = local(&tag.name);
    let is_animation = name.starts_with("animate") || name == "set" || name == "discard";
    let target = tag.animates.as_deref().unwrap_or_default();
    FORBIDDEN_ELEMENTS.contains(&&*name) || (is_animation && (target == "href" || target.starts_with("on")))
}

/// Returns true if the element holds a style sheet.
pub(super) fn is_style_element(tag: &SvgTag) -> bool {
    local(&tag.name) == "style"
}

/// Returns true if a style sheet or a style attribute could load something.
pub(super) fn is_harmful_style(text: &str) -> bool {
    let is_harmful =
        |text: &str| HARMFUL_STYLES.iter().any(|part| text.contains(part)) || has_external_url(text);
    css_variants(text).iter().any(|text| is_harmful(text))
}

/// Returns true if XML can hold this text (XML 1.0, section 2.2).
pub(super) fn is_xml_text(text: &str) -> bool {
    let is_allowed = |character: char| match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => other >= ' ',
    };
    text.chars().all(is_allowed)
}

/// Returns the value to be written; `None` when the attribute must be removed.
fn harmless_value<'v>(key: &str, value: &'v str) -> Option<&'v str> {
    let name = local(key);
    if key == "xmlns" || key.starts_with("xmlns:") {
        let lower = value.to_lowercase();
        let is_foreign = FOREIGN_NAMESPACES.iter().any(|foreign| lower.contains(foreign));
        return Some(if is_foreign { INERT_NAMESPACE } else { value });
    }
    let stays = match &*name {
        // This attribute would make `#fragment` refer to another file.
        "base" => false,
        "href" | "src" => is_harmless_reference(value),
        "style" => !is_harmful_style(value),
        _ => !name.starts_with("on") && !css_variants(value).iter().any(|text| has_external_url(text)),
    };
    stays.then_some(value)
}

/// Returns true for `#fragment`, and for an image that is embedded in the value.
fn is_harmless_reference(value: &str) -> bool {
    // Browsers ignore white space and control characters anywhere in a URL.
    let dense: String =
        value.chars().filter(|character| !character.is_whitespace() && !character.is_control()).collect();
    let dense = dense.to_lowercase();
    let picture =
        ["png", "jpeg", "webp"].iter().find_map(|kind| dense.strip_prefix("data:image/")?.strip_prefix(kind));
    dense.starts_with('#') || picture.is_some_and(|rest| rest.starts_with([';', ',']))
}

/// Returns true if the text has a `url(…)` that refers to anything except a part of the file.
fn has_external_url(css: &str) -> bool {
    let leads_out = |(at, function): (usize, &str)| {
        let target = css[at + function.len()..]
            .trim_start_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'');
        !target.starts_with('#')
    };
    css.match_indices("url(").any(leads_out)
}

/// Returns the possible readings of the text by style engines. A text that looks like a comment may be inside of a string,
/// in which case the text after it counts.
fn css_variants(text: &str) -> [String; 2] {
    [plain_css(text, true), plain_css(text, false)]
}

/// Returns the text in lower case, with escapes resolved, with or without comments.
fn plain_css(text: &str, drops_comments: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*").filter(|_| drops_comments) {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        rest = &rest[character.len_utf8()..];
        if character == '\\' {
            let (escaped, after) = unescaped(rest);
            plain.extend(escaped);
            rest = after;
        } else {
            plain.push(character);
        }
    }
    plain.to_lowercase()
}

/// Reads the escape after a backslash: up to six hexadecimal digits and one space, or one character. Returns the rest as
/// well.
fn unescaped(rest: &str) -> (Option<char>, &str) {
    let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
    if digits == 0 {
        let mut characters = rest.chars();
        let escaped = characters.next().filter(|character| *character != '\n');
        return (escaped, characters.as_str());
    }
    let escaped = u32::from_str_radix(&rest[..digits], 16).ok().and_then(char::from_u32);
    let after = &rest[digits..];
    (escaped, after.strip_prefix([' ', '\t', '\n', '\r', '\u{c}']).unwrap_or(after))
}

/// Returns the name in lower case, without prefix.
fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or_default().to_lowercase()
}

/// Returns true for a valid name: letters, digits, `_`, `-`, `.` and at most one `:`, with a valid first character.
fn is_name(name: &str) -> bool {
    let is_inner =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | ':' | '-' | '.');
    let begins = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    begins && name.chars().all(is_inner) && name.matches(':').count() <= 1 && !name.ends_with(':')
}

fn refusal(error: &Error) -> SvgPartError {
    match error {
        Error::Escape(EscapeError::UnrecognizedEntity(..)) => SvgPartError::Entity,
        _ => SvgPartError::Unreadable,
    }
}
