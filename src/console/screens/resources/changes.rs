//! Who has changed an object, and how: the newest entries of the audit log about it.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::{label_of, text_name};
use crate::console::screens::resources::shown_value::shown_value;
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
    Ok(entries.iter().map(|entry| line(visit.texts, entry, "")).collect())
}

/// Returns an entry as a line: time, actor, action, the object, and the changed fields.
pub(in crate::console) fn line_with_object(texts: ConsoleTexts, entry: &Value) -> String {
    let object = &entry["object"];
    let name = object["name"].as_str().or_else(|| object["kind"].as_str()).unwrap_or_default();
    line(texts, entry, name)
}

/// Returns an entry as a line; `object` is empty where all entries are about the same one.
fn line(texts: ConsoleTexts, entry: &Value, object: &str) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let at = text(&entry["at"]);
    let changes = entry["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let changes = changes.iter().map(|change| {
        let field = text(&change["field"]);
        let [old, new] = ["old", "new"].map(|side| plain(texts, &field, &change[side]));
        format!("{}: {old} → {new}", field_label(texts, &field))
    });
    let changes: Vec<String> = changes.collect();
    let time = at.get(..19).unwrap_or(&at).replace('T', " ");
    let actor = &entry["actor"];
    // The engine and the command line have a kind, but no name of their own.
    let kind = text_name("actor", &[actor["kind"].as_str().unwrap_or_default()]);
    let actor = texts.text_or(&kind, actor["name"].as_str().unwrap_or_default());
    let action = entry["action"].as_str().unwrap_or_default();
    let action = texts.text_or(&text_name("audit", &[action]), &action.replace('_', " "));
    let parts = [format!("{time} UTC"), actor, action, object.to_owned(), changes.join("; ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Returns the label of a changed field; its path if only that says which one of several it is.
fn field_label(texts: ConsoleTexts, path: &str) -> String {
    if path.contains('.') { path.to_owned() } else { label_of(texts, path) }
}

fn plain(texts: ConsoleTexts, path: &str, value: &Value) -> String {
    let text = match value {
        Value::Null => "–".to_owned(),
        other => shown_value(texts, path, other),
    };
    match text.char_indices().nth(VALUE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::console::console_texts::LANGUAGES;
    use crate::http::gate::audit_trail::AuditAction;
    use crate::http::gate::route::HttpVerb;
    use crate::http::v1::routes::routes;

    #[rstest]
    #[case(
        "en",
        "2026-11-28 10:00:01 UTC · Anna · changed · Shop · Status: up → down; settings.retries: 1 → –"
    )]
    #[case(
        "de",
        "2026-11-28 10:00:01 UTC · Anna · geändert · Shop · Status: in Betrieb → ausgefallen; settings.retries: 1 → –"
    )]
    fn an_entry_is_a_line(#[case] locale: &str, #[case] expected: &str) {
        let change = |field: &str, old: Value, new: Value| json!({"field": field, "old": old, "new": new});
        let entry = json!({"at": "2026-11-28T10:00:01.500Z", "actor": {"name": "Anna"}, "action": "update",
            "object": {"kind": "service", "name": "Shop"},
            "changes": [change("status", json!("up"), json!("down")), change("settings.retries", json!(1), Value::Null)]});
        assert_eq!(line_with_object(ConsoleTexts::of(locale), &entry), expected);
    }

    /// Every action of the API has a word in every language.
    #[test]
    fn every_action_has_a_word() {
        let routes = routes().unwrap();
        let lines: Vec<_> = routes.lines().collect();
        let writes = lines.iter().flat_map(|line| line.verbs.iter().map(|verb| (*verb, line.path)));
        let writes = writes.filter(|(verb, _)| !matches!(verb, HttpVerb::Get | HttpVerb::Head));
        let actions: std::collections::BTreeSet<String> =
            writes.map(|(verb, path)| AuditAction::of(verb, path).name).collect();
        let of_console =
            ["sign_in", "sign_out", "set_password", "end_session", "add_passkey", "remove_passkey"];
        let actions = actions.into_iter().chain(of_console.map(str::to_owned));
        let actions: Vec<String> = actions.map(|action| text_name("audit", &[&action])).collect();
        for locale in LANGUAGES {
            let texts = ConsoleTexts::of(locale);
            let missing: Vec<&String> =
                actions.iter().filter(|name| texts.text_or(name, "").is_empty()).collect();
            assert!(missing.is_empty(), "{locale}: {missing:?}");
        }
    }
}
