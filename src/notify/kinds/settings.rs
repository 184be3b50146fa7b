//! The settings of one channel with secrets in clear, as the input of requests.

use std::fmt;

use serde_json::{Map, Value};

use super::field::ChannelField;

/// Settings with secrets in clear. `Debug` hides all values.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenSettings(Map<String, Value>);

impl OpenSettings {
    /// Wraps settings whose secrets are in clear.
    #[must_use]
    pub const fn new(settings: Map<String, Value>) -> Self {
        Self(settings)
    }

    /// Returns the text of a setting; empty when it is not set.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a setting of any shape; `None` when it is not set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns all texts in secret settings, so that they can be masked in shown texts; for an address also the part after
    /// its host.
    #[must_use]
    pub fn secrets(&self, fields: &[ChannelField]) -> Vec<&str> {
        let mut found = Vec::new();
        for field in fields.iter().filter(|field| field.is_secret) {
            collect(self.0.get(field.name), &mut found);
        }
        let paths: Vec<&str> = found.iter().filter_map(|text| path_of(text)).collect();
        found.extend(paths);
        found
    }
}

fn collect<'a>(value: Option<&'a Value>, found: &mut Vec<&'a str>) {
    match value {
        Some(Value::String(text)) if !text.is_empty() => found.push(text),
        Some(Value::Array(entries)) => entries.iter().for_each(|entry| collect(Some(entry), found)),
        Some(Value::Object(members)) => members.values().for_each(|member| collect(Some(member), found)),
        _ => {}
    }
}

/// Returns path and query of an address, if they are more than a slash.
fn path_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    rest.find('/').map(|at| &rest[at..]).filter(|path| path.len() > 1)
}

impl fmt::Debug for OpenSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenSettings(..)")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::notification::ChannelKind;
    use crate::notify::kinds::{MessageEnvelope, definition, fixture};

    #[test]
    fn an_address_is_secret_without_its_host_too() {
        let settings = json!({"url": "https://hooks.slack.com/services/T0/secret"});
        let settings = OpenSettings::new(settings.as_object().unwrap().clone());
        let secrets = settings.secrets(definition(ChannelKind::Slack).fields);
        assert_eq!(secrets, ["https://hooks.slack.com/services/T0/secret", "/services/T0/secret"]);
    }

    /// A valid value of a setting.
    fn sample(field: &ChannelField) -> Value {
        match (field.name, field.is_secret) {
            ("headers", _) => json!({"X-Key": "marker-0123456789"}),
            ("to", _) => json!(["a@example.org"]),
            ("from", _) => json!("status@example.org"),
            (_, true) => json!("marker-0123456789"),
            (_, false) => json!("sample"),
        }
    }

    #[test]
    fn debug_output_hides_secrets_of_every_kind() {
        let message = fixture::test();
        let id = "rNSJxMbDTX2uHc08AiCq1".parse().unwrap();
        for kind in ChannelKind::ALL {
            let definition = definition(kind);
            let settings =
                definition.fields.iter().map(|field| (field.name.to_owned(), sample(field))).collect();
            let settings = OpenSettings::new(settings);
            assert!(!settings.secrets(definition.fields).is_empty(), "{kind}");
            let envelope = MessageEnvelope {
                id: &id,
                at_seconds: 0,
                message: &message,
                settings: &settings,
                recipient: None,
            };
            let outgoing = (definition.compose)(&envelope);
            let shown = format!("{settings:?} {envelope:?} {outgoing:?} {definition:?}");
            assert!(!shown.contains("marker"), "{shown}");
        }
    }
}
