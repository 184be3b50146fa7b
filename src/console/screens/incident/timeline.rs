//! The timeline of an incident: what visitors read, and what only members of the organisation do.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::texts::markdown;

/// An entry of the timeline.
pub(super) struct TimelineRow {
    /// Time in UTC, to the second.
    pub(super) time: String,
    pub(super) status: String,
    /// The text as HTML, as status pages show it.
    pub(super) message: String,
    /// True for an entry that visitors never see.
    pub(super) is_internal: bool,
}

/// Returns the entries of an incident of the API, the newest first.
pub(super) fn rows(texts: ConsoleTexts, incident: &Value) -> Vec<TimelineRow> {
    let entries = |name: &str| incident[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let public = entries("updates").iter().map(|entry| (entry, false));
    let internal = entries("internal_updates").iter().map(|entry| (entry, true));
    let mut all: Vec<(&Value, bool)> = public.chain(internal).collect();
    all.sort_by_key(|(entry, _)| entry["created_at"].as_str().unwrap_or_default());
    let row = |(entry, is_internal): (&Value, bool)| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let time = text("created_at");
        TimelineRow {
            time: time.get(..19).unwrap_or(time).replace('T', " "),
            status: texts.text_or(&format!("word-{}", text("status")), text("status")),
            message: markdown::to_html(text("message")),
            is_internal,
        }
    };
    all.into_iter().rev().map(row).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_are_in_one_order_the_newest_first() {
        let entry = |time: &str, message: &str| json!({"created_at": time, "status": "identified", "message": message});
        let incident = json!({
            "updates": [entry("2026-11-28T10:00:00.000Z", "One"), entry("2026-11-28T10:02:00.000Z", "**Three**")],
            "internal_updates": [entry("2026-11-28T10:01:00.000Z", "Two")],
        });
        let rows = rows(ConsoleTexts::of("en"), &incident);
        let lines: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {} {}", row.time, row.message.trim(), row.is_internal))
            .collect();
        assert_eq!(
            lines,
            [
                "2026-11-28 10:02:00 <p><strong>Three</strong></p> false",
                "2026-11-28 10:01:00 <p>Two</p> true",
                "2026-11-28 10:00:00 <p>One</p> false",
            ]
        );
    }
}
