//! The fields of a form: how the value of a resource is shown in one, and what the API gets for what was entered.

use serde_json::{Map, Value, json};

use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec, FieldTime};

/// A field as the form shows it.
#[derive(Debug)]
pub(in crate::console) struct ConsoleField {
    /// Name of the input.
    pub(in crate::console) name: String,
    pub(in crate::console) label: String,
    pub(in crate::console) control: FormControl,
    pub(in crate::console) value: String,
    pub(in crate::console) options: Vec<FormOption>,
    pub(in crate::console) hint: Option<String>,
    pub(in crate::console) problem: Option<String>,
    pub(in crate::console) is_required: bool,
}

/// The element by which a field is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) enum FormControl {
    Line,
    Number,
    Secret,
    /// A time in UTC.
    Time,
    Lines,
    /// JSON.
    Data,
    Choice,
    /// Several of the options.
    Choices,
    Flag,
}

/// An option of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::console) struct FormOption {
    pub(in crate::console) value: String,
    pub(in crate::console) text: String,
    pub(in crate::console) is_chosen: bool,
}

/// Options of a choice that belong together.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::console) struct OptionGroup {
    pub(in crate::console) title: String,
    pub(in crate::console) options: Vec<FormOption>,
}

impl ConsoleField {
    /// True if the options are named `group.option`, such as permissions.
    pub(in crate::console) fn has_groups(&self) -> bool {
        !self.options.is_empty() && self.options.iter().all(|option| is_grouped(&option.value))
    }

    /// The options by the part of their names before the dot; one group without a title for other options.
    pub(in crate::console) fn groups(&self) -> Vec<OptionGroup> {
        if !self.has_groups() {
            return vec![OptionGroup { title: String::new(), options: self.options.clone() }];
        }
        let mut groups: Vec<OptionGroup> = Vec::new();
        for option in &self.options {
            let (title, text) = option.text.split_once('.').unwrap_or(("", &option.text));
            let (title, option) =
                (title.replace('_', " "), FormOption { text: text.replace('_', " "), ..option.clone() });
            match groups.iter_mut().find(|group| group.title == title) {
                Some(group) => group.options.push(option),
                None => groups.push(OptionGroup { title, options: vec![option] }),
            }
        }
        groups
    }

    /// The classes of the element, after `field`.
    pub(in crate::console) const fn class(&self) -> &'static str {
        match self.control {
            FormControl::Choices | FormControl::Lines | FormControl::Data => " broad",
            FormControl::Flag => " flag",
            _ => "",
        }
    }

    pub(in crate::console) fn is(&self, control: &str) -> bool {
        let own = match self.control {
            FormControl::Line => "line",
            FormControl::Number => "number",
            FormControl::Secret => "secret",
            FormControl::Time => "time",
            FormControl::Lines => "lines",
            FormControl::Data => "data",
            FormControl::Choice => "choice",
            FormControl::Choices => "choices",
            FormControl::Flag => "flag",
        };
        own == control
    }
}

fn is_grouped(name: &str) -> bool {
    name.split_once('.').is_some_and(|(group, rest)| {
        let is_word = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        is_word(group) && is_word(rest)
    })
}

/// Returns the label of a field: its text, or its name in words.
pub(in crate::console) fn label_of(texts: ConsoleTexts, name: &str) -> String {
    let plain = name.strip_suffix("_ids").map(|stem| format!("{stem}s")).unwrap_or_else(|| name.to_owned());
    let plain = plain.strip_suffix("_id").map(str::to_owned).unwrap_or(plain);
    let last = plain.rsplit('.').next().unwrap_or(&plain).to_owned();
    let words = last.replace('_', " ");
    let mut letters = words.chars();
    let sentence = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
    texts.text_or(&format!("field-{}", last.replace('_', "-")), &sentence.unwrap_or_default())
}

/// Returns the word of the API in the language of the console.
pub(in crate::console) fn word_of(texts: ConsoleTexts, word: &str) -> String {
    texts.text_or(&format!("word-{}", word.replace(['_', '.'], "-")), &word.replace('_', " "))
}

/// Returns the value of a field in a resource.
pub(super) fn value_at<'a>(view: &'a Value, spec: &FieldSpec) -> &'a Value {
    let found = at_path(view, spec.name);
    if !found.is_null() {
        return found;
    }
    // The API shows a reference as an object with id and name, and takes its id.
    let stem = spec.name.strip_suffix("_ids").map(|stem| format!("{stem}s"));
    let stem = stem.or_else(|| spec.name.strip_suffix("_id").map(str::to_owned));
    stem.map_or(found, |stem| at_path(view, &stem))
}

/// Returns the value at a path of members; null if there is none.
pub(super) fn at_path<'a>(view: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(view, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// Returns a value as it is entered into a field.
pub(super) fn entered_form(value: &Value, kind: FieldKind) -> Vec<String> {
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
        (FieldKind::Data, value) => vec![serde_json::to_string_pretty(value).unwrap_or_default()],
        (FieldKind::Lines, Value::Array(items)) => vec![items.iter().map(one).collect::<Vec<_>>().join("\n")],
        (_, Value::Array(items)) => items.iter().map(one).collect(),
        (FieldKind::Time, Value::String(time)) => vec![time.trim_end_matches('Z').chars().take(19).collect()],
        (FieldKind::Secret, _) => Vec::new(),
        (_, value) => vec![one(value)],
    }
}

/// What was entered cannot be sent to the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedField(pub(super) &'static str);

/// Returns the body of a request with what was entered. A field that is left empty is not sent on creation, and is cleared on
/// a change.
///
/// # Errors
/// The field that is not a number, or not JSON.
pub(super) fn body_of(
    fields: &[FieldSpec],
    form: &FormData,
    time: FieldTime,
) -> Result<Value, MalformedField> {
    let mut body = Map::new();
    for spec in fields.iter().filter(|spec| is_shown(spec, time)) {
        if let Some(value) = entered_value(spec, form, time)? {
            put(&mut body, spec.name, value);
        }
    }
    Ok(Value::Object(body))
}

/// Returns true if a field is in the form at this time.
pub(super) fn is_shown(spec: &FieldSpec, time: FieldTime) -> bool {
    spec.when == FieldTime::Always || spec.when == time
}

fn entered_value(
    spec: &FieldSpec,
    form: &FormData,
    time: FieldTime,
) -> Result<Option<Value>, MalformedField> {
    let text = form.text(spec.name);
    let value = match spec.kind {
        FieldKind::Flag => Value::Bool(form.text(spec.name) == "true"),
        FieldKind::References(_) | FieldKind::Words(_) | FieldKind::Permissions => {
            form.all(spec.name).collect()
        }
        FieldKind::Lines => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
        FieldKind::Secret if text.is_empty() => return Ok(None),
        _ if text.is_empty() => {
            let is_cleared = time == FieldTime::Change && !spec.is_required && !spec.name.contains('.');
            return Ok(is_cleared.then_some(Value::Null));
        }
        FieldKind::Number => number(text).ok_or(MalformedField(spec.name))?,
        FieldKind::Data => serde_json::from_str(text).map_err(|_| MalformedField(spec.name))?,
        FieldKind::Time => json!(instant(text)),
        FieldKind::Secret => json!(form.exact(spec.name)),
        FieldKind::Text | FieldKind::Long | FieldKind::Word(_) | FieldKind::Reference(_) => json!(text),
    };
    let is_empty_list = value.as_array().is_some_and(Vec::is_empty);
    Ok(if is_empty_list && time == FieldTime::Creation && !spec.is_required { None } else { Some(value) })
}

fn number(text: &str) -> Option<Value> {
    let text = text.replace(',', ".");
    text.parse::<i64>().map(Value::from).ok().or_else(|| text.parse::<f64>().ok().map(Value::from))
}

/// Returns a time without a zone, which is entered in UTC, as the API takes it.
fn instant(text: &str) -> String {
    let has_zone = text.ends_with(['Z', 'z']) || text.rfind(['+']).is_some();
    let text = text.replace(' ', "T");
    if has_zone || !text.contains('T') { text } else { format!("{text}Z") }
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

    const FIELDS: [FieldSpec; 8] = [
        needed("name", FieldKind::Text),
        field("count", FieldKind::Number),
        field("is_on", FieldKind::Flag),
        field("tag_ids", FieldKind::References("/v1/tags")),
        field("lines", FieldKind::Lines),
        field("at", FieldKind::Time),
        field("data", FieldKind::Data),
        field("rule.text", FieldKind::Text),
    ];

    /// What the API gets for what was entered.
    #[rstest]
    #[case("name=A", FieldTime::Creation, json!({"name": "A", "is_on": false}))]
    #[case("name=A&count=5&is_on=true", FieldTime::Creation, json!({"name": "A", "count": 5, "is_on": true}))]
    #[case("name=A&count=99,5", FieldTime::Creation, json!({"name": "A", "count": 99.5, "is_on": false}))]
    #[case("name=A&tag_ids=x&tag_ids=y&lines=a%0D%0A%0D%0Ab", FieldTime::Creation,
        json!({"name": "A", "is_on": false, "tag_ids": ["x", "y"], "lines": ["a", "b"]}))]
    #[case("name=A&at=2026-11-28T10:00&data=%7B%22a%22:1%7D&rule.text=R", FieldTime::Creation,
        json!({"name": "A", "is_on": false, "at": "2026-11-28T10:00Z", "data": {"a": 1}, "rule": {"text": "R"}}))]
    #[case("name=A", FieldTime::Change,
        json!({"name": "A", "count": null, "is_on": false, "tag_ids": [], "lines": [], "at": null, "data": null}))]
    fn a_form_becomes_a_body(#[case] form: &str, #[case] time: FieldTime, #[case] expected: Value) {
        assert_eq!(body_of(&FIELDS, &FormData::parse(form.as_bytes()), time), Ok(expected));
    }

    /// Options are grouped by what is before their dot, if all have one.
    #[rstest]
    #[case(&["services.view", "access_scopes.view", "services.check_now"],
        &[("services", "view,check now"), ("access scopes", "view")])]
    #[case(&["services.view", "Shop"], &[("", "services.view,Shop")])]
    #[case(&[], &[("", "")])]
    fn options_are_grouped(#[case] names: &[&str], #[case] expected: &[(&str, &str)]) {
        let option = |name: &&str| FormOption {
            value: (*name).to_owned(),
            text: (*name).to_owned(),
            is_chosen: false,
        };
        let field = ConsoleField {
            name: String::new(),
            label: String::new(),
            control: FormControl::Choices,
            value: String::new(),
            options: names.iter().map(option).collect(),
            hint: None,
            problem: None,
            is_required: false,
        };
        let shown: Vec<_> = field
            .groups()
            .into_iter()
            .map(|group| {
                let texts: Vec<String> = group.options.into_iter().map(|option| option.text).collect();
                (group.title, texts.join(","))
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(title, texts)| ((*title).to_owned(), (*texts).to_owned())).collect();
        assert_eq!(shown, expected);
    }

    #[rstest]
    #[case("count=many", "count")]
    #[case("data=%7B", "data")]
    fn malformed_fields_are_named(#[case] form: &str, #[case] name: &'static str) {
        let body = body_of(&FIELDS, &FormData::parse(form.as_bytes()), FieldTime::Creation);
        assert_eq!(body, Err(MalformedField(name)));
    }

    #[rstest]
    #[case(json!({"tag": {"id": "x", "name": "A"}}), field("tag_id", FieldKind::Reference("")), &["x"])]
    #[case(json!({"services": [{"id": "x"}, {"id": "y"}]}), field("service_ids", FieldKind::References("")), &["x", "y"])]
    #[case(json!({"at": "2026-11-28T10:00:00.000Z"}), field("at", FieldKind::Time), &["2026-11-28T10:00:00"])]
    #[case(json!({"lines": ["a", "b"]}), field("lines", FieldKind::Lines), &["a\nb"])]
    #[case(json!({"a": {"b": 5}}), field("a.b", FieldKind::Number), &["5"])]
    #[case(json!({}), field("name", FieldKind::Text), &[])]
    fn a_resource_fills_its_form(#[case] view: Value, #[case] spec: FieldSpec, #[case] expected: &[&str]) {
        assert_eq!(entered_form(value_at(&view, &spec), spec.kind), expected);
    }
}
