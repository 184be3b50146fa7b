//! The texts of a message for people: its facts, each with a line of its own, a colour, and truncation and escaping for
//! the receivers.
//!
//! Lengths are in UTF-16 code units, as most services count; this is never less than the number of characters.

use std::borrow::Cow;

use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::notification::change::ServiceGroup;
use crate::model::notification::message::{IncidentFacts, MessageSubject, NotificationMessage, ServiceFacts};
use crate::model::outage_evidence::duration;
use crate::texts::reason::OutageReason;

/// Maximum number of services listed by name; the others are only counted.
const NAMED_MAX: usize = 10;
/// Maximum length of the text of a fact.
const FACT_LENGTH: usize = 900;
/// Maximum length of a list of names, with room for the number of the others.
const NAMES_LENGTH: usize = 860;

/// A fact of a message, shown on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SummaryFact {
    /// Short name for people.
    pub(super) label: Cow<'static, str>,
    /// The fact; one line.
    pub(super) text: String,
}

/// The labels of the reasons; distinct, because some services store facts by label.
const REASON_LABELS: [&str; 3] = ["Reason", "Reason 2", "Reason 3"];

impl SummaryFact {
    /// Returns true if the fact is the reason of a service's failure, which is longer than other facts.
    pub(super) fn is_reason(&self) -> bool {
        REASON_LABELS.contains(&&*self.label)
    }
}

/// Returns the facts of a message, in reading order; at most a dozen.
pub(super) fn facts(message: &NotificationMessage) -> Vec<SummaryFact> {
    if let MessageSubject::News(news) = &message.subject {
        let line = |label: &str, text: &str| SummaryFact {
            label: Cow::Owned(label.to_owned()),
            text: cut(&one_line(text), FACT_LENGTH),
        };
        return news.lines.iter().map(|one| line(&one.label, &one.text)).collect();
    }
    let mut facts = Vec::new();
    let mut add = |label: &'static str, text: String| {
        if !text.is_empty() {
            let text = cut(&one_line(&text), FACT_LENGTH);
            facts.push(SummaryFact { label: Cow::Borrowed(label), text });
        }
    };
    for (label, reason) in REASON_LABELS.into_iter().zip(reasons(message)) {
        add(label, reason);
    }
    if let Some(severity) = message.severity() {
        let before = message.incident().and_then(|incident| incident.change.previous_severity);
        let before = before.map(|before| format!(" (was {before})")).unwrap_or_default();
        add("Severity", format!("{severity}{before}"));
    }
    if let Some(incident) = message.incident() {
        add("Status", incident.status.as_str().to_owned());
        let group = |group: &ServiceGroup| names(&group.services, group.count, group.services.len());
        add("Joined", incident.change.joined.as_ref().map(group).unwrap_or_default());
        add("Recovered", incident.change.recovered.as_ref().map(group).unwrap_or_default());
        add("Services", names(&incident.services, incident.services_count, NAMED_MAX));
        add("Began", minute(incident.started_at));
        add("Ended", incident.resolved_at.map(minute).unwrap_or_default());
        add("Duration", incident.duration_seconds().map(duration).unwrap_or_default());
        add("Acknowledged by", incident.acknowledged_by.clone().unwrap_or_default());
    }
    facts
}

/// Returns the failure reasons of the message's services, one line each; services that have not recovered come first.
pub(super) fn reasons(message: &NotificationMessage) -> impl Iterator<Item = String> {
    let reported = message.incident().map_or(&[] as &[ServiceFacts], IncidentFacts::reported_services);
    let of = move |are_recovered: bool| reported.iter().filter(move |one| one.is_recovered == are_recovered);
    let at = message.at;
    of(false).chain(of(true)).filter_map(move |service| {
        let evidence = service.evidence.as_deref()?;
        let reason =
            OutageReason { service: &service.name, evidence, recovered_at: service.recovered_at, at };
        Some(reason.written_in("en"))
    })
}

/// Lists the first services by name, at most `most` and as many as a fact has room for, and the number of the others.
fn names(services: &[ServiceFacts], count: usize, most: usize) -> String {
    let mut room = NAMES_LENGTH;
    let fits = |service: &&ServiceFacts| {
        let length = units(&service.name) + 2;
        let has_room = length <= room;
        room = room.saturating_sub(length);
        has_room
    };
    let named: Vec<&str> =
        services.iter().take(most).take_while(fits).map(|service| service.name.as_str()).collect();
    match count.saturating_sub(named.len()) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Returns the length of a text in UTF-16 code units.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Formats a time for people, in UTC.
fn minute(ms: i64) -> String {
    let text = Timestamp::from_ms(ms).to_string();
    format!("{} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
}

/// Returns the colour of a message as 0xRRGGBB: blue without severity, green for good news, otherwise yellow, orange or
/// red by severity.
pub(super) fn colour(message: &NotificationMessage) -> u32 {
    match message.severity() {
        None => 0x1e_88_e5,
        Some(_) if message.is_good_news() => 0x2e_9e_4f,
        Some(Severity::Minor) => 0xf2_b7_05,
        Some(Severity::Major) => 0xef_6c_00,
        Some(Severity::Critical) => 0xd3_2f_2f,
    }
}

/// Returns reasons, text and facts as plain text, line by line.
pub(super) fn plain(message: &NotificationMessage) -> String {
    let reasons = facts(message).into_iter().filter(SummaryFact::is_reason).map(|reason| reason.text);
    reasons.chain([plain_without_reasons(message)]).collect::<Vec<_>>().join("\n")
}

/// Returns text and facts as plain text, without the reasons.
pub(super) fn plain_without_reasons(message: &NotificationMessage) -> String {
    let mut lines = vec![message.text().trim().to_owned()];
    let others = facts(message).into_iter().filter(|fact| !fact.is_reason());
    lines.extend(others.map(|fact| format!("{}: {}", fact.label, fact.text)));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Returns the text with all white space replaced by single spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split(char::is_whitespace).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Truncates a text that is longer than `most`; it then ends with `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    escaped(text, most, |_| None)
}

/// Replaces characters of a text; the result is truncated if it is longer than `most`, and then ends with `…`. No
/// replacement is split.
pub(super) fn escaped(text: &str, most: usize, replacement: fn(char) -> Option<&'static str>) -> String {
    let length = |c: char| replacement(c).map_or(c.len_utf16(), |text| text.encode_utf16().count());
    let fits = text.chars().map(length).sum::<usize>() <= most;
    let mut room = if fits { most } else { most.saturating_sub(1) };
    let mut out = String::with_capacity(text.len().min(most * 4));
    for c in text.chars() {
        let Some(left) = room.checked_sub(length(c)) else { break };
        room = left;
        match replacement(c) {
            Some(text) => out.push_str(text),
            None => out.push(c),
        }
    }
    if !fits {
        out.push('…');
    }
    out
}

/// Truncates a text with more bytes than `most`; it then ends with `…`.
pub(super) fn cut_bytes(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub('…'.len_utf8())).rev().find(|at| text.is_char_boundary(*at));
    format!("{}…", &text[..end.unwrap_or(0)])
}

/// Returns the HTML escape of a character, `None` if it needs none.
pub(super) const fn html(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notify::kinds::fixture;

    #[rstest]
    #[case("short", 5, "short")]
    #[case("longer", 5, "long…")]
    #[case("a&b", 7, "a&amp;b")]
    #[case("a&b", 6, "a…")]
    #[case("a&bc", 7, "a&amp;…")]
    #[case("🚨🚨", 4, "🚨🚨")]
    #[case("🚨🚨", 3, "🚨…")]
    fn a_text_is_cut_between_its_characters(#[case] text: &str, #[case] most: usize, #[case] expected: &str) {
        assert_eq!(escaped(text, most, html), expected);
    }

    #[test]
    fn bytes_are_cut_between_characters() {
        assert_eq!(cut_bytes("ünder", 6), "ünder");
        assert_eq!(cut_bytes("üüü", 5), "ü…");
        assert_eq!(cut_bytes("üüü", 4), "…");
    }

    #[test]
    fn facts_are_short_lines() {
        let facts = facts(&fixture::incident());
        let lines: Vec<String> = facts.iter().map(|fact| format!("{}: {}", fact.label, fact.text)).collect();
        let expected = [
            "Severity: critical",
            "Status: investigating",
            "Services: API <eu> & *web*, Shop and 10 more",
            "Began: 2023-11-14 22:13 UTC",
        ];
        assert_eq!(lines, expected);
    }
}
