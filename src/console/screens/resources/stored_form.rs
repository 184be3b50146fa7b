//! The value of a resource as its form holds it. A form that is sent as it was opened changes nothing.

use serde_json::Value;

use crate::console::form_data::FormData;
use crate::console::screens::resources::field_texts::object_name;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec, FieldTime};
use crate::id::Id;

/// Ends the name of the input that says that a secret is stored.
pub(in crate::console) const STORED: &str = "stored";

/// Returns the form of a stored resource; null stands for a new one.
pub(in crate::console) fn stored_form(fields: &[FieldSpec], view: &Value, time: FieldTime) -> FormData {
    let mut form = FormData::default();
    let shown = fields.iter().filter(|spec| spec.is_shown(time));
    shown.for_each(|spec| fill(&mut form, spec, "", view));
    form
}

/// Returns the form for a new resource. A link may choose the resources to which it refers, by their ids: what the address says
/// about other fields is left out.
pub(in crate::console) fn new_form(fields: &[FieldSpec], query: &FormData) -> FormData {
    let mut form = FormData::default();
    for spec in fields.iter().filter(|spec| spec.is_shown(FieldTime::Creation)) {
        let is_reference = matches!(spec.kind, FieldKind::Reference(_) | FieldKind::References(_));
        let chosen = query.all(spec.name).filter(|id| is_reference && id.parse::<Id>().is_ok());
        let chosen: Vec<&str> = chosen.collect();
        if chosen.is_empty() {
            fill(&mut form, spec, "", &Value::Null);
        }
        chosen.iter().for_each(|id| form.push(spec.name, id));
    }
    form
}

fn fill(form: &mut FormData, spec: &FieldSpec, prefix: &str, view: &Value) {
    let (path, value) = (spec.path(prefix), value_at(view, spec));
    match spec.kind {
        FieldKind::Rows(fields) => {
            for (index, row) in value.as_array().into_iter().flatten().enumerate() {
                let path = format!("{path}.{index}");
                fields.iter().for_each(|inner| fill(form, inner, &path, row));
            }
        }
        FieldKind::Group(fields) | FieldKind::Settings(fields) => {
            fields.iter().for_each(|inner| fill(form, inner, &path, value));
        }
        FieldKind::Secret | FieldKind::SecretPairs => {
            if !value.is_null() {
                form.push(&format!("{path}.{STORED}"), "true");
            }
        }
        _ if view.is_null() => form.push(&path, spec.preset),
        kind => entered_form(value, kind).iter().for_each(|entered| form.push(&path, entered)),
    }
}

/// Returns the value of a field in a resource.
pub(in crate::console) fn value_at<'a>(view: &'a Value, spec: &FieldSpec) -> &'a Value {
    let found = at_path(view, spec.name);
    if !found.is_null() {
        return found;
    }
    // The API shows a reference as an object with id and name, and takes its id.
    at_path(view, &object_name(spec.name))
}

/// Returns the value at a path of members; null if there is none.
pub(in crate::console) fn at_path<'a>(view: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(view, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// Returns a value as it is entered into a field.
fn entered_form(value: &Value, kind: FieldKind) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Object(object) => object
            .get("id")
            .or_else(|| object.get("label"))
            .or_else(|| object.values().next())
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        other => other.to_string(),
    };
    match (kind, value) {
        (_, Value::Null) => Vec::new(),
        // A line is what people enter: the label of a tag, not its id.
        (FieldKind::Lines, Value::Array(items)) => {
            let line = |item: &Value| item["label"].as_str().map_or_else(|| one(item), str::to_owned);
            vec![items.iter().map(line).collect::<Vec<_>>().join("\n")]
        }
        (_, Value::Array(items)) => items.iter().map(one).collect(),
        (FieldKind::Time, Value::String(time)) => vec![local_form(time)],
        (_, value) => vec![one(value)],
    }
}

/// Returns a time in UTC as browsers show it: to the second, or to the millisecond if it has any.
fn local_form(time: &str) -> String {
    let time = time.trim_end_matches('Z');
    time.strip_suffix(".000").unwrap_or(time).to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::console::screens::resources::spec::field;

    #[rstest]
    #[case(json!({"tag": {"id": "x", "name": "A"}}), field("tag_id", FieldKind::Reference("")), &["x"])]
    #[case(json!({"services": [{"id": "x"}, {"id": "y"}]}), field("service_ids", FieldKind::References("")), &["x", "y"])]
    #[case(json!({"at": "2026-11-28T10:00:00.000Z"}), field("at", FieldKind::Time), &["2026-11-28T10:00:00"])]
    #[case(json!({"lines": ["a", "b"]}), field("lines", FieldKind::Lines), &["a\nb"])]
    #[case(json!({"tags": [{"id": "x", "label": "team:web"}]}), field("tags", FieldKind::Lines), &["team:web"])]
    #[case(json!({"a": {"b": 5}}), field("a.b", FieldKind::Number), &["5"])]
    #[case(json!({}), field("name", FieldKind::Text), &[])]
    fn a_resource_fills_its_form(#[case] view: Value, #[case] spec: FieldSpec, #[case] expected: &[&str]) {
        assert_eq!(
            stored_form(&[spec], &view, FieldTime::Always).all(spec.name).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn a_link_chooses_references_and_nothing_else() {
        let fields =
            [field("title", FieldKind::Text).preset("Work"), field("service_ids", FieldKind::References(""))];
        let id = Id::random().to_string();
        let mut query = FormData::default();
        query.push("title", "Click here");
        query.push("service_ids", "<b>");
        query.push("service_ids", &id);
        let form = new_form(&fields, &query);
        assert_eq!((form.text("title"), form.all("service_ids").collect::<Vec<_>>()), ("Work", vec![&*id]));
    }
}
