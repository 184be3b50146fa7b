//! Builds the request body from flags.

use std::str::FromStr;

use serde_json::{Map, Value};

use crate::config::sources::ConfigError;

/// An assignment `NAME=VALUE`. Dots in the name lead into objects; the value is JSON, or text if it is not valid JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SettingAssignment {
    path: Vec<String>,
    value: Value,
}

impl FromStr for SettingAssignment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let form = "use NAME=VALUE, such as retries=3";
        let (name, value) = text.split_once('=').ok_or(form)?;
        let path: Vec<String> = name.split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            return Err(form);
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        Ok(Self { path, value })
    }
}

/// The period given by flags.
pub(super) struct TimeRangeArguments {
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
}

pub(super) fn written(
    period: &TimeRangeArguments,
    settings: &[SettingAssignment],
    policy: &[SettingAssignment],
) -> Result<Value, ConfigError> {
    let mut body = Map::new();
    for (name, time) in [("from", &period.from), ("to", &period.to)] {
        body.extend(time.as_ref().map(|time| (name.to_owned(), time.as_str().into())));
    }
    for (name, assignments) in [("settings", settings), ("incident_policy", policy)] {
        if !assignments.is_empty() {
            body.insert(name.to_owned(), Value::Object(members(assignments)?));
        }
    }
    Ok(Value::Object(body))
}

fn members(assignments: &[SettingAssignment]) -> Result<Map<String, Value>, ConfigError> {
    let mut members = Map::new();
    for SettingAssignment { path, value } in assignments {
        let twice = || ConfigError(format!("{} is given twice", path.join(".")));
        let Some((last, outer)) = path.split_last() else { continue };
        let mut object = &mut members;
        for name in outer {
            let inner = object.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
            object = inner.as_object_mut().ok_or_else(twice)?;
        }
        if object.insert(last.clone(), value.clone()).is_some() {
            return Err(twice());
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn body(words: &[&str]) -> Result<Value, String> {
        let all = words.iter().map(|word| word.parse()).collect::<Result<Vec<SettingAssignment>, _>>()?;
        let period = TimeRangeArguments { from: Some("2026-11-01".into()), to: None };
        written(&period, &all, &[]).map_err(|error| error.to_string())
    }

    #[rstest]
    #[case(&["retries=3"], &json!({"retries": 3}))]
    #[case(&["confirmation=all", "retries=0"], &json!({"confirmation": "all", "retries": 0}))]
    #[case(&["assigned_probes=[\"fra\"]"], &json!({"assigned_probes": ["fra"]}))]
    #[case(&["assigned_probes=null"], &json!({"assigned_probes": null}))]
    #[case(&["config.method=GET", "config.follow=true"], &json!({"config": {"method": "GET", "follow": true}}))]
    #[case(&["a=b=c"], &json!({"a": "b=c"}))]
    fn assignments_become_members(#[case] words: &[&str], #[case] expected: &Value) {
        assert_eq!(body(words).unwrap(), json!({"from": "2026-11-01", "settings": expected}));
    }

    #[rstest]
    #[case(&["retries"], "use NAME=VALUE")]
    #[case(&["=3"], "use NAME=VALUE")]
    #[case(&["config..x=3"], "use NAME=VALUE")]
    #[case(&["retries=3", "retries=4"], "retries is given twice")]
    #[case(&["retries=3", "retries.x=4"], "retries.x is given twice")]
    fn a_malformed_assignment_is_refused(#[case] words: &[&str], #[case] expected: &str) {
        let error = body(words).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
