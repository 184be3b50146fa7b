//! Who has changed an object, and how: the newest entries of the audit log about it.

use serde_json::Value;

use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;

/// Number of entries.
const SHOWN: usize = 5;
/// Longest value that is shown whole, in characters.
const VALUE_LENGTH: usize = 60;

/// Returns the newest entries about an object as lines; none if the user may not see the audit log.
pub(in crate::console) async fn changes_of(visit: &UserVisit, id: &str) -> Result<Vec<String>, ScreenError> {
    let body = match visit.get(&format!("/v1/audit-log?object={id}&per_page={SHOWN}")).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_) | ApiError::Confined) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let entries = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(entries.iter().map(line).collect())
}

/// Returns an entry as a line: time, actor, action, and the changed fields.
pub(in crate::console) fn line(entry: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let at = text(&entry["at"]);
    let changes = entry["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let changes = changes.iter().map(|change| {
        format!("{}: {} → {}", text(&change["field"]), plain(&change["old"]), plain(&change["new"]))
    });
    let changes: Vec<String> = changes.collect();
    let time = at.get(..19).unwrap_or(&at).replace('T', " ");
    let who = format!("{time} UTC · {} · {}", text(&entry["actor"]["name"]), text(&entry["action"]));
    if changes.is_empty() { who } else { format!("{who} · {}", changes.join("; ")) }
}

fn plain(value: &Value) -> String {
    let text = match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(VALUE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
