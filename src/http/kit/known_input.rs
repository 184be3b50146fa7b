//! The known parameters and body members of an operation, and errors for unknown ones (contract 7, no. 48).
//!
//! The known names come from the description of the API, so a parameter or member is known exactly if it is described.
//! Values are not checked here: a member of the wrong type is refused by its reader.

use serde_json::{Map, Value};

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;

/// Maximum number of unknown parameters, and of unknown members, that are reported: a request may hold tens of thousands.
pub(super) const NAMED_MAX: usize = 100;

/// Known parameters and body of one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownInput {
    /// Names of the known query parameters.
    pub parameters: Vec<String>,
    /// The known parts of the body.
    pub body: KnownBody,
}

/// The body of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KnownBody {
    /// The operation has no body: every member that is sent is unknown.
    #[default]
    Empty,
    /// A JSON object with these members.
    Object(KnownValue),
    /// A body other than JSON.
    Other,
}

/// A value in a JSON body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownValue {
    /// Known members of an object, in the order of the description; `None` = the value has no fixed members.
    pub members: Option<Vec<(String, Self)>>,
    /// The entries of a list, which all have this form; `None` = the value is no list.
    pub entries: Option<Box<Self>>,
    /// True if an object may have members of any name.
    pub is_open: bool,
}

impl KnownInput {
    /// Returns an error for each query parameter that the operation does not know. Its text lists the known parameters.
    #[must_use]
    pub fn unknown_parameters(&self, query: &QueryString) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for name in query.names() {
            if errors.count() >= NAMED_MAX {
                break;
            }
            if !self.parameters.iter().any(|known| known == name) {
                errors.add(name, FieldRule::unknown_parameter(&self.parameters));
            }
        }
        errors
    }

    /// Returns errors for unknown body members by their dotted paths. Their texts list the members known at that path.
    #[must_use]
    pub fn unknown_members(&self, body: &Map<String, Value>) -> FieldErrors {
        let mut errors = FieldErrors::default();
        match &self.body {
            KnownBody::Empty => collect_unknown(body, &[], "", &mut errors),
            KnownBody::Object(known) => known.check_object(body, "", &mut errors),
            KnownBody::Other => {}
        }
        errors
    }
}

impl KnownValue {
    /// Combines two descriptions of one value: a part is known if one of the descriptions knows it.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.is_open |= other.is_open;
        self.entries = match (self.entries, other.entries) {
            (Some(one), Some(two)) => Some(Box::new(one.or(*two))),
            (one, two) => one.or(two),
        };
        self.members = match (self.members, other.members) {
            (Some(one), Some(two)) => Some(joined(one, two)),
            (one, two) => one.or(two),
        };
        self
    }

    fn check_value(&self, value: &Value, path: &str, errors: &mut FieldErrors) {
        match value {
            Value::Object(members) => self.check_object(members, path, errors),
            Value::Array(entries) => {
                for (known, (index, entry)) in self.entries.iter().cycle().zip(entries.iter().enumerate()) {
                    known.check_value(entry, &format!("{path}.{index}"), errors);
                }
            }
            _ => {}
        }
    }

    fn check_object(&self, sent: &Map<String, Value>, path: &str, errors: &mut FieldErrors) {
        if let Some(known) = self.members.as_ref().filter(|_| !self.is_open) {
            collect_unknown(sent, known, path, errors);
        }
    }
}

/// Returns the members of both descriptions; members with the same name are combined.
fn joined(mut one: Vec<(String, KnownValue)>, two: Vec<(String, KnownValue)>) -> Vec<(String, KnownValue)> {
    for (name, value) in two {
        match one.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = std::mem::take(known).or(value),
            None => one.push((name, value)),
        }
    }
    one
}

/// Adds errors for unknown members of this object, and recurses into known members.
fn collect_unknown(
    sent: &Map<String, Value>,
    known: &[(String, KnownValue)],
    path: &str,
    errors: &mut FieldErrors,
) {
    for (name, value) in sent {
        if errors.count() >= NAMED_MAX {
            return;
        }
        let member_path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match known.iter().find(|(known, _)| known == name) {
            Some((_, known)) => known.check_value(value, &member_path, errors),
            None => {
                let allowed: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
                errors.add(member_path, FieldRule::unknown_member(&allowed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn object(members: &[(&str, KnownValue)]) -> KnownValue {
        let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        KnownValue { members: Some(members), ..KnownValue::default() }
    }

    fn list_of(entry: KnownValue) -> KnownValue {
        KnownValue { entries: Some(Box::new(entry)), ..KnownValue::default() }
    }

    fn input() -> KnownInput {
        let plain = KnownValue::default;
        let open = KnownValue { is_open: true, ..KnownValue::default() };
        let bearer = object(&[("type", plain()), ("token", plain())]);
        let basic = object(&[("type", plain()), ("username", plain())]);
        let layer = object(&[("name", plain())]);
        let body = object(&[
            ("name", plain()),
            ("headers", open),
            ("auth", bearer.or(basic)),
            ("layers", list_of(layer)),
        ]);
        let parameters = ["tag", "page"].map(str::to_owned).into();
        KnownInput { parameters, body: KnownBody::Object(body) }
    }

    /// Returns path and text of each error.
    fn texts(errors: &FieldErrors) -> Vec<(String, String)> {
        errors.iter().map(|(path, rule)| (path.to_owned(), rule.to_string())).collect()
    }

    const TOP: &str = "Unknown field. Allowed: name, headers, auth, layers.";

    #[rstest]
    #[case(json!({"name": "a", "headers": {"X-Any": "1"}, "auth": {"type": "basic", "token": null}}), &[])]
    #[case(json!({"nmae": "a", "id": 1}), &[("nmae", TOP), ("id", TOP)])]
    #[case(json!({"auth": {"user": "a"}}), &[("auth.user", "Unknown field. Allowed: type, token, username.")])]
    #[case(
        json!({"layers": [{"name": 1}, {"nmae": 1}, {"x": {}}]}),
        &[("layers.1.nmae", "Unknown field. Allowed: name."), ("layers.2.x", "Unknown field. Allowed: name.")]
    )]
    #[case(json!({"name": {"en": "a"}, "layers": {"0": {"x": 1}}, "auth": ["x"]}), &[])]
    fn members_that_are_not_described_are_unknown(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
        let found = texts(&input().unknown_members(body.as_object().unwrap()));
        let expected: Vec<_> =
            expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        assert_eq!(found, expected);
    }

    /// Limits time and memory for a body full of unknown members.
    #[test]
    fn only_the_first_of_very_many_are_named() {
        let body: Map<String, Value> = (0..60_000).map(|n| (format!("k{n}"), json!({"a": 1}))).collect();
        assert_eq!(input().unknown_members(&body).count(), NAMED_MAX);
        let layers = json!({"layers": vec![json!({"x": 1}); 60_000]});
        assert_eq!(input().unknown_members(layers.as_object().unwrap()).count(), NAMED_MAX);
        let query: Vec<String> = (0..60_000).map(|n| format!("k{n}=1")).collect();
        assert_eq!(input().unknown_parameters(&QueryString::parse(&query.join("&"))).count(), NAMED_MAX);
    }

    #[test]
    fn an_operation_without_a_body_has_no_known_member() {
        let body = json!({"note": 1});
        let found = texts(&KnownInput::default().unknown_members(body.as_object().unwrap()));
        assert_eq!(found, [("note".into(), "Unknown field. Nothing is allowed here.".into())]);
    }

    #[rstest]
    #[case("tag=a&page=2&page=3", &[])]
    #[case("tag[]=a&tag[1]=b", &[])]
    #[case("tags=a&q=&tags=b", &["tags", "q"])]
    #[case("tag[x]=a", &["tag[x]"])]
    #[case("TAG=a", &["TAG"])]
    fn parameters_that_are_not_described_are_unknown(#[case] query: &str, #[case] expected: &[&str]) {
        let found = texts(&input().unknown_parameters(&QueryString::parse(query)));
        let text = "Unknown parameter. Allowed: tag, page.";
        let expected: Vec<_> = expected.iter().map(|name| ((*name).to_owned(), text.to_owned())).collect();
        assert_eq!(found, expected);
    }
}
