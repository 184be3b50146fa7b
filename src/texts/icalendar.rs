//! iCalendar (RFC 5545), as far as feeds of shifts and maintenances need the format: escaped texts, times in UTC, folded lines.

use crate::clock::Timestamp;

/// Maximum length of a line in octets, without the line end (RFC 5545, 3.1).
const LINE_OCTETS: usize = 75;
const LINE_END: &str = "\r\n";

/// A calendar.
#[derive(Debug)]
pub struct CalendarFeed {
    /// Name of the product part that made it, for `PRODID`.
    pub product: &'static str,
    /// Name of the calendar.
    pub name: String,
    /// Address of a page about it.
    pub url: Option<String>,
    /// The events, in any order.
    pub events: Vec<CalendarEvent>,
}

/// An event with a start and an end.
#[derive(Debug)]
pub struct CalendarEvent {
    /// Unique id, stable between requests.
    pub uid: String,
    /// Time of the last change.
    pub changed_at: Timestamp,
    /// Start of the event.
    pub from: Timestamp,
    /// End of the event.
    pub to: Timestamp,
    /// Title, in one line.
    pub summary: String,
    /// More about the event; `None` for an event of which only its time is known.
    pub details: Option<EventDetails>,
}

/// More about an event.
#[derive(Debug)]
pub struct EventDetails {
    /// Plain text.
    pub description: String,
    /// Address of a page about it.
    pub url: String,
    /// Number of the version of the event; rises with each change.
    pub sequence: usize,
    /// True if the event will not take place.
    pub is_cancelled: bool,
}

impl CalendarFeed {
    /// Renders the calendar, which asks programs to refresh it every hour.
    #[must_use]
    pub fn render(&self) -> String {
        let mut lines = vec!["BEGIN:VCALENDAR".to_owned(), "VERSION:2.0".to_owned()];
        lines.push(format!("PRODID:-//Watchkeeper//{}//EN", self.product));
        lines.extend(
            ["CALSCALE:GREGORIAN", "REFRESH-INTERVAL;VALUE=DURATION:PT1H", "X-PUBLISHED-TTL:PT1H"]
                .map(str::to_owned),
        );
        lines.push(format!("X-WR-CALNAME:{}", escaped(&self.name)));
        if let Some(url) = &self.url {
            lines.push(format!("NAME:{}", escaped(&self.name)));
            lines.push(format!("URL:{}", in_one_line(url)));
        }
        for event in &self.events {
            event.render(&mut lines);
        }
        lines.push("END:VCALENDAR".to_owned());
        lines.iter().map(|line| folded(line) + LINE_END).collect()
    }
}

impl CalendarEvent {
    fn render(&self, lines: &mut Vec<String>) {
        lines.push("BEGIN:VEVENT".to_owned());
        lines.push(format!("UID:{}", escaped(&self.uid)));
        lines.push(format!("DTSTAMP:{}", utc(self.changed_at)));
        lines.push(format!("DTSTART:{}", utc(self.from)));
        lines.push(format!("DTEND:{}", utc(self.to)));
        lines.push(format!("SUMMARY:{}", escaped(&self.summary)));
        if let Some(details) = &self.details {
            let status = if details.is_cancelled { "CANCELLED" } else { "CONFIRMED" };
            lines.push(format!("DESCRIPTION:{}", escaped(&details.description)));
            lines.push(format!("URL:{}", in_one_line(&details.url)));
            lines.push(format!("LAST-MODIFIED:{}", utc(self.changed_at)));
            lines.push(format!("SEQUENCE:{}", details.sequence));
            lines.push(format!("STATUS:{status}"));
            lines.push("TRANSP:TRANSPARENT".to_owned());
        }
        lines.push("END:VEVENT".to_owned());
    }
}

/// Returns an address without control characters.
fn in_one_line(url: &str) -> String {
    url.chars().filter(|character| !character.is_control()).collect()
}

/// Escapes the special characters of a text (RFC 5545, 3.3.11).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | ';' | ',' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Splits a line into parts of at most 75 octets, without splitting characters. Every part except the first begins with a
/// space.
fn folded(line: &str) -> String {
    let (mut folded, mut octets) = (String::with_capacity(line.len()), 0);
    for character in line.chars() {
        if octets + character.len_utf8() > LINE_OCTETS {
            folded.push_str(LINE_END);
            folded.push(' ');
            octets = 1;
        }
        folded.push(character);
        octets += character.len_utf8();
    }
    folded
}

/// Formats a time as `20261125T080000Z`.
fn utc(at: Timestamp) -> String {
    let whole: String = at.to_string().chars().take(19).filter(|part| !matches!(part, '-' | ':')).collect();
    whole + "Z"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Shop, Berlin; night", r"Shop\, Berlin\; night")]
    #[case(r"a\b", r"a\\b")]
    #[case("one\r\ntwo\u{7}", r"one\ntwo")]
    fn texts_are_escaped(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(escaped(text), expected);
    }

    #[test]
    fn a_feed_has_its_lines_in_order() {
        let at = |ms: i64| Timestamp::from_ms(1_795_564_800_000 + ms);
        let event = CalendarEvent {
            uid: "a-1@watchkeeper".into(),
            changed_at: at(0),
            from: at(3_600_000),
            to: at(86_400_999),
            summary: "On call: Shop, Berlin".into(),
            details: None,
        };
        let feed =
            CalendarFeed { product: "On call", name: "Anna".into(), url: None, events: vec![event] }.render();
        let lines: Vec<&str> = feed.split("\r\n").collect();
        let expected = [
            "X-WR-CALNAME:Anna",
            "BEGIN:VEVENT",
            "UID:a-1@watchkeeper",
            "DTSTAMP:20261125T000000Z",
            "DTSTART:20261125T010000Z",
            "DTEND:20261126T000000Z",
            r"SUMMARY:On call: Shop\, Berlin",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ];
        assert_eq!(lines[6..], expected);
        assert_eq!(lines[0], "BEGIN:VCALENDAR");
    }

    proptest! {
        /// RFC 5545, 3.1: removing each line end with the space after it restores the line.
        #[test]
        fn long_lines_are_folded(line in "[a-zä€😀 ]{0,300}") {
            let folded = folded(&line);
            prop_assert!(folded.split("\r\n").all(|piece| piece.len() <= LINE_OCTETS));
            prop_assert_eq!(folded.replace("\r\n ", ""), line);
        }
    }
}
