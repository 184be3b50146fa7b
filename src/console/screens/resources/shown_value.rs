//! Values of the API as a person reads them: in a cell of a list, or beside their label.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screens::resources::field_texts::{has_words, last_name, word_of};

/// Longest value, in characters.
const VALUE_LENGTH: usize = 120;
/// Members of an object that stand for it, the best first.
const NAMES: [&str; 6] = ["name", "label", "title", "hostname", "scheduled_start", "status"];

/// Returns the value of a member, by its path.
pub(super) fn shown_value(texts: ConsoleTexts, path: &str, value: &Value) -> String {
    let member = last_name(path);
    let text = match value {
        Value::Null => String::new(),
        Value::Bool(is_true) => texts.text(if *is_true { "yes" } else { "no" }),
        Value::Number(number) => number.to_string(),
        Value::String(text) if is_instant(text) => format!("{} {} UTC", &text[..10], &text[11..19]),
        Value::String(text) if has_words(member) => word_of(texts, member, text),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(|item| shown_value(texts, member, item)).collect::<Vec<_>>().join(", ")
        }
        Value::Object(object) => {
            let named = NAMES.into_iter().find_map(|name| Some((name, object.get(name)?)));
            let text = || object.iter().find(|(_, value)| value.is_string());
            let shown = named.or_else(|| text().map(|(name, value)| (name.as_str(), value)));
            shown.map(|(name, value)| shown_value(texts, name, value)).unwrap_or_default()
        }
    };
    match text.char_indices().nth(VALUE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_instant(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Words of the API are translated; what people have entered is not.
    #[rstest]
    #[case("status", json!("resolved"), "behoben")]
    #[case("slug", json!("public"), "public")]
    #[case("name", json!("down"), "down")]
    #[case("tags", json!([{"label": "major"}, {"label": "team:web"}]), "major, team:web")]
    #[case("next_occurrences", json!([{"scheduled_start": "2026-11-28T10:00:00.000Z", "status": "planned"}]), "2026-11-28 10:00:00 UTC")]
    #[case("certificate", json!({"status": "active", "expires_at": null}), "aktiv")]
    #[case("recurrence.rrule", json!("FREQ=DAILY"), "FREQ=DAILY")]
    #[case("started_at", json!("2026-11-28T10:00:01.500Z"), "2026-11-28 10:00:01 UTC")]
    #[case("is_published", json!(true), "ja")]
    fn only_words_are_translated(#[case] path: &str, #[case] value: Value, #[case] expected: &str) {
        assert_eq!(shown_value(ConsoleTexts::of("de"), path, &value), expected);
    }
}
