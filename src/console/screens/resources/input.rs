//! What the API gets for what was entered into a form.

use serde_json::{Map, Value, json};

use crate::console::form_data::FormData;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec, FieldTime};

/// Ends the name of the input that removes a stored secret.
pub(in crate::console) const CLEARED: &str = "clear";

/// What was entered into the field at this path cannot be sent to the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::console) struct MalformedField(pub(in crate::console) String);

/// What the API gets for an optional field that is left empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EmptyValue {
    /// Nothing.
    Omitted,
    /// Null.
    Cleared,
}

/// Returns the body of a request with what was entered. A field that is left empty is not sent on creation, and is cleared on
/// a change.
///
/// # Errors
/// The field that is not a number, or not a list of pairs.
pub(in crate::console) fn body_of(
    fields: &[FieldSpec],
    form: &FormData,
    time: FieldTime,
) -> Result<Value, MalformedField> {
    let empty = if time == FieldTime::Change { EmptyValue::Cleared } else { EmptyValue::Omitted };
    let shown: Vec<FieldSpec> = fields.iter().copied().filter(|spec| spec.is_shown(time)).collect();
    object_of(&shown, form, "", empty).map(Value::Object)
}

fn object_of(
    fields: &[FieldSpec],
    form: &FormData,
    prefix: &str,
    empty: EmptyValue,
) -> Result<Map<String, Value>, MalformedField> {
    let mut object = Map::new();
    for spec in fields {
        if let Some(value) = entered_value(spec, form, prefix, empty)? {
            put(&mut object, spec.name, value);
        }
    }
    Ok(object)
}

fn entered_value(
    spec: &FieldSpec,
    form: &FormData,
    prefix: &str,
    empty: EmptyValue,
) -> Result<Option<Value>, MalformedField> {
    let path = spec.path(prefix);
    let text = form.text(&path);
    let malformed = || MalformedField(path.clone());
    let is_cleared = empty == EmptyValue::Cleared && !spec.is_required && !spec.name.contains('.');
    let value = match spec.kind {
        FieldKind::Flag => Value::Bool(text == "true"),
        FieldKind::References(_) | FieldKind::Order(_) | FieldKind::Words(_) | FieldKind::Permissions => {
            form.all(&path).collect()
        }
        FieldKind::Lines => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
        FieldKind::Rows(fields) => rows_of(fields, form, &path)?,
        FieldKind::Group(fields) => {
            if !spec.is_required && !is_entered(fields, form, &path) {
                return Ok(is_cleared.then_some(Value::Null));
            }
            Value::Object(object_of(fields, form, &path, EmptyValue::Omitted)?)
        }
        FieldKind::Settings(fields) => settings_of(fields, form, &path, empty)?,
        FieldKind::ChannelSettings => return Ok(None),
        FieldKind::Secret | FieldKind::SecretPairs if text.is_empty() => {
            let is_removed = form.text(&format!("{path}.{CLEARED}")) == "true";
            return Ok(is_removed.then_some(Value::Null));
        }
        FieldKind::Exact if !form.exact(&path).is_empty() => json!(plain_lines(form.exact(&path))),
        _ if text.is_empty() => return Ok(is_cleared.then_some(Value::Null)),
        FieldKind::Number => number(text).ok_or_else(malformed)?,
        FieldKind::SecretPairs => pairs(text).ok_or_else(malformed)?,
        FieldKind::Time => json!(instant(text)),
        FieldKind::Secret => json!(form.exact(&path)),
        FieldKind::Long => json!(plain_lines(form.exact(&path))),
        FieldKind::Exact
        | FieldKind::Text
        | FieldKind::Word(_)
        | FieldKind::Reference(_)
        | FieldKind::ChannelKind => {
            json!(text)
        }
    };
    if !value.as_array().is_some_and(Vec::is_empty) || spec.is_required {
        return Ok(Some(value));
    }
    Ok(match (empty, spec.kind) {
        (EmptyValue::Omitted, _) => None,
        (EmptyValue::Cleared, FieldKind::Rows(_)) => Some(Value::Null),
        (EmptyValue::Cleared, _) => Some(value),
    })
}

/// Returns a text with plain line ends, which browsers send otherwise.
fn plain_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Returns true if something was entered into one of the required fields.
fn is_entered(fields: &[FieldSpec], form: &FormData, prefix: &str) -> bool {
    fields.iter().any(|spec| spec.is_required && form.has_content(&spec.path(prefix)))
}

fn rows_of(fields: &[FieldSpec], form: &FormData, path: &str) -> Result<Value, MalformedField> {
    let rows = (0..form.rows(path))
        .map(|index| object_of(fields, form, &format!("{path}.{index}"), EmptyValue::Omitted));
    Ok(Value::Array(rows.map(|row| row.map(Value::Object)).collect::<Result<_, _>>()?))
}

/// Returns settings of which the API keeps what is not sent: null stands for one that was emptied.
fn settings_of(
    fields: &[FieldSpec],
    form: &FormData,
    path: &str,
    empty: EmptyValue,
) -> Result<Value, MalformedField> {
    let mut settings = object_of(fields, form, path, empty)?;
    for spec in fields.iter().filter(|spec| !spec.is_required) {
        if let Some(value) = settings.get_mut(spec.name)
            && value.as_array().is_some_and(Vec::is_empty)
        {
            *value = Value::Null;
        }
    }
    Ok(Value::Object(settings))
}

/// Reads one `name: value` on each line; `None` if a line has no colon, or a name is there twice.
fn pairs(text: &str) -> Option<Value> {
    let mut pairs = Map::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        if pairs.insert(name.trim().to_owned(), json!(value.trim())).is_some() {
            return None;
        }
    }
    Some(Value::Object(pairs))
}

fn number(text: &str) -> Option<Value> {
    let text = text.replace(',', ".");
    text.parse::<i64>().map(Value::from).ok().or_else(|| text.parse::<f64>().ok().map(Value::from))
}

/// Returns a time without a zone, which is entered in UTC, as the API takes it. Browsers leave out seconds that are zero.
fn instant(text: &str) -> String {
    let has_zone = text.ends_with(['Z', 'z']) || text.rfind(['+']).is_some();
    let text = text.replace(' ', "T");
    match text.split_once('T') {
        Some((_, clock)) if !has_zone && clock.len() == "10:00".len() => format!("{text}:00Z"),
        Some(_) if !has_zone => format!("{text}Z"),
        _ => text,
    }
}

fn put(body: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            body.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = body.entry(first.to_owned()).or_insert_with(|| json!({}));
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::console::screens::resources::spec::{field, needed};

    const HOURS: [FieldSpec; 2] =
        [needed("days", FieldKind::Words(&["mon", "tue"])), needed("from", FieldKind::Text)];
    const QUIET: [FieldSpec; 2] = [needed("rows", FieldKind::Rows(&HOURS)), field("zone", FieldKind::Text)];
    const FIELDS: [FieldSpec; 8] = [
        needed("name", FieldKind::Text),
        field("count", FieldKind::Number),
        field("is_on", FieldKind::Flag),
        field("tag_ids", FieldKind::References("/v1/tags")),
        field("lines", FieldKind::Lines),
        field("at", FieldKind::Time),
        field("hours", FieldKind::Group(&QUIET)),
        field("rule.text", FieldKind::Text),
    ];

    /// What the API gets for what was entered.
    #[rstest]
    #[case("name=A", FieldTime::Creation, json!({"name": "A", "is_on": false}))]
    #[case("name=A&count=5&is_on=true", FieldTime::Creation, json!({"name": "A", "count": 5, "is_on": true}))]
    #[case("name=A&count=99,5", FieldTime::Creation, json!({"name": "A", "count": 99.5, "is_on": false}))]
    #[case("name=A&tag_ids=x&tag_ids=y&lines=a%0D%0A%0D%0Ab", FieldTime::Creation,
        json!({"name": "A", "is_on": false, "tag_ids": ["x", "y"], "lines": ["a", "b"]}))]
    #[case("name=A&at=2026-11-28T10:00&hours.rows.0.days=mon&hours.rows.0.from=9&hours.zone=UTC&rule.text=R", FieldTime::Creation,
        json!({"name": "A", "is_on": false, "at": "2026-11-28T10:00:00Z",
            "hours": {"rows": [{"days": ["mon"], "from": "9"}], "zone": "UTC"}, "rule": {"text": "R"}}))]
    #[case("name=A&hours.zone=UTC", FieldTime::Change,
        json!({"name": "A", "count": null, "is_on": false, "tag_ids": [], "lines": [], "at": null, "hours": null}))]
    fn a_form_becomes_a_body(#[case] form: &str, #[case] time: FieldTime, #[case] expected: Value) {
        assert_eq!(body_of(&FIELDS, &FormData::parse(form.as_bytes()), time), Ok(expected));
    }

    #[rstest]
    #[case("A: 1\r\n b :x:y ", Some(json!({"A": "1", "b": "x:y"})))]
    #[case("A", None)]
    #[case::a_name_twice("A: 1\nA: 2", None)]
    fn pairs_are_read(#[case] text: &str, #[case] expected: Option<Value>) {
        assert_eq!(pairs(text), expected);
    }

    #[rstest]
    #[case("count=many", "count")]
    #[case("count=1&count=", "")]
    fn malformed_fields_are_named(#[case] form: &str, #[case] name: &str) {
        let body = body_of(&FIELDS, &FormData::parse(form.as_bytes()), FieldTime::Creation);
        assert_eq!(body.err().map(|malformed| malformed.0).unwrap_or_default(), name);
    }
}
