//! Rules for the body that a service accepts, as a tree: required and optional members and their lengths.
//!
//! What a rule does not name is refused, though many services would pass over it: a misspelt name is found that way. Lengths are
//! in UTF-16 code units, the longest of the ways in which services count.

use serde_json::{Map, Value};

/// The rule for a value.
pub(super) enum Shape {
    /// A text that is not empty, with this maximum number of characters.
    Text(usize),
    /// The same in a markup, which this function reads.
    Markup(usize, fn(&str) -> Result<(), String>),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A whole number of this range.
    Whole(i64, i64),
    /// A time, as RFC 3339 writes it.
    Time,
    /// True or false.
    Flag,
    /// Nothing.
    Null,
    /// An object of texts under any names, with this maximum number of characters in all.
    Texts(usize),
    /// An object of any values, with this maximum number of characters in all.
    AnyObject(usize),
    /// A list with this maximum number of values.
    List(usize, &'static Self),
    /// An object of these members.
    Object(&'static [Member]),
}

/// The rule for a member of an object.
pub(super) struct Member {
    name: &'static str,
    is_required: bool,
    shape: Shape,
}

/// A member that must be there.
pub(super) const fn must(name: &'static str, shape: Shape) -> Member {
    Member { name, is_required: true, shape }
}

/// A member that may be there.
pub(super) const fn may(name: &'static str, shape: Shape) -> Member {
    Member { name, is_required: false, shape }
}

impl Shape {
    /// Says what is wrong with a value, and where.
    pub(super) fn check(&self, value: &Value, at: &str) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{at}: {what}"));
        match (self, value) {
            (Self::Text(most), Value::String(text)) => within(text, *most).or_else(|what| wrong(&what)),
            (Self::Markup(most, read), Value::String(text)) => {
                within(text, *most).and_then(|()| read(text)).or_else(|what| wrong(&what))
            }
            (Self::OneOf(words), Value::String(text)) if words.contains(&text.as_str()) => Ok(()),
            (Self::Whole(least, most), Value::Number(number)) => match number.as_i64() {
                Some(whole) if (*least..=*most).contains(&whole) => Ok(()),
                _ => wrong("no whole number of the range"),
            },
            (Self::Time, Value::String(text)) if is_time(text) => Ok(()),
            (Self::Flag, Value::Bool(_)) | (Self::Null, Value::Null) => Ok(()),
            (Self::Texts(most), Value::Object(members)) => texts(members, *most).or_else(|what| wrong(&what)),
            (Self::AnyObject(most), Value::Object(_)) => {
                within(&value.to_string(), *most).or_else(|what| wrong(&what))
            }
            (Self::List(most, each), Value::Array(values)) if values.len() <= *most => {
                let mut numbered = values.iter().enumerate();
                numbered.try_for_each(|(number, value)| each.check(value, &format!("{at}[{number}]")))
            }
            (Self::Object(members), Value::Object(values)) => object(members, values, at),
            _ => wrong("not what is taken here"),
        }
    }
}

fn object(members: &[Member], values: &Map<String, Value>, at: &str) -> Result<(), String> {
    if let Some(name) = values.keys().find(|name| members.iter().all(|member| member.name != **name)) {
        return Err(format!("{at}.{name}: unknown"));
    }
    members.iter().try_for_each(|member| match values.get(member.name) {
        Some(value) => member.shape.check(value, &format!("{at}.{}", member.name)),
        None if member.is_required => Err(format!("{at}.{}: missing", member.name)),
        None => Ok(()),
    })
}

fn within(text: &str, most: usize) -> Result<(), String> {
    match text.encode_utf16().count() {
        0 => Err("empty".into()),
        length if length > most => Err(format!("{length} characters of {most}")),
        _ => Ok(()),
    }
}

fn texts(members: &Map<String, Value>, most: usize) -> Result<(), String> {
    let mut length = 0;
    for (name, value) in members {
        let text = value.as_str().ok_or_else(|| format!("{name} is no text"))?;
        length += name.encode_utf16().count() + text.encode_utf16().count();
    }
    if length <= most { Ok(()) } else { Err(format!("{length} characters of {most}")) }
}

fn is_time(text: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd:dd.dddZ";
    let fits = |(c, form): (char, char)| if form == 'd' { c.is_ascii_digit() } else { c == form };
    text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const RULE: Shape = Shape::Object(&[
        must("name", Shape::Text(3)),
        may("kind", Shape::OneOf(&["a", "b"])),
        may("parts", Shape::List(2, &Shape::Object(&[must("size", Shape::Whole(1, 5))]))),
        may("at", Shape::Time),
        may("more", Shape::Texts(8)),
    ]);

    #[rstest]
    #[case(json!({"name": "abc", "kind": "b", "parts": [{"size": 1}, {"size": 5}], "more": {"x": "1234567"}}), "")]
    #[case(json!({"name": "abc", "at": "2026-11-20T15:02:00.000Z"}), "")]
    #[case(json!({}), "body.name: missing")]
    #[case(json!({"name": ""}), "body.name: empty")]
    #[case(json!({"name": "🚨🚨"}), "body.name: 4 characters of 3")]
    #[case(json!({"name": 1}), "body.name: not what is taken here")]
    #[case(json!({"name": "a", "kind": "c"}), "body.kind: not what is taken here")]
    #[case(json!({"name": "a", "nmae": "b"}), "body.nmae: unknown")]
    #[case(json!({"name": "a", "parts": [{"size": 1}, {"size": 6}]}), "body.parts[1].size: no whole number of the range")]
    #[case(json!({"name": "a", "parts": [{}, {}, {}]}), "body.parts: not what is taken here")]
    #[case(json!({"name": "a", "at": "yesterday"}), "body.at: not what is taken here")]
    #[case(json!({"name": "a", "more": {"x": "12345678"}}), "body.more: 9 characters of 8")]
    fn a_rule_finds_fields_that_a_service_would_refuse(#[case] value: Value, #[case] found: &str) {
        assert_eq!(RULE.check(&value, "body").err().unwrap_or_default(), found);
    }
}
