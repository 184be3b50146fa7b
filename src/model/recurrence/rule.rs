//! Recurrence rules as texts (RFC 5545, 3.3.10), and the subset that is accepted.
//!
//! The crate `rrule` parses and expands rules. It would read an `UNTIL` without zone in the zone of this machine, and
//! combine lists of hours, minutes and seconds without a limit. So `UNTIL` is parsed here, and lists are counted before
//! `rrule` parses them.

use std::str::FromStr;

use chrono::{NaiveDate, NaiveDateTime, TimeDelta, TimeZone as _};
use rrule::{Frequency, RRule, RRuleSet, Tz, Unvalidated};

use crate::clock::Timestamp;
use crate::model::recurrence::zone::IanaZone;

/// Maximum number of characters of a rule.
pub const RULE_LENGTH_MAX: usize = 500;
/// Maximum of `COUNT` in a rule.
const COUNT_MAX: u32 = 10_000;
/// Maximum number of values of a list, and of times of a day that the lists of hours, minutes and seconds make together.
const VALUES_MAX: usize = 100;
/// The parts of a rule whose value is a list.
const LISTS: [&str; 9] =
    ["BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTH", "BYSETPOS"];
/// The parts of a rule whose value is not a list.
const OTHERS: [&str; 5] = ["FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST"];
/// Other properties of RFC 5545, which add or remove occurrences.
const EXCEPTIONS: [&str; 3] = ["EXDATE", "EXRULE", "RDATE"];
/// The lists whose values are combined into times of a day.
const OF_A_DAY: [&str; 3] = ["BYSECOND", "BYMINUTE", "BYHOUR"];

/// A recurrence rule of RFC 5545, parsed.
#[derive(Clone, Debug)]
pub struct RecurrenceRule {
    text: String,
    until: Option<RecurrenceEnd>,
    unended: RRule<Unvalidated>,
}

/// The value of `UNTIL`: the last moment at which an occurrence may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecurrenceEnd {
    At(Timestamp),
    Wall(NaiveDateTime),
}

/// The reason why a text is not accepted as a rule. Its `Display` is shown to clients.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The text contains `DTSTART`, `RRULE:` or another line.
    #[error("Send the rule alone, such as FREQ=WEEKLY;BYDAY=SU; it begins at scheduled_start.")]
    NotAlone,
    /// The text adds or removes occurrences.
    #[error(
        "A rule names no exceptions ({0}). Leave a window out by cancelling its maintenance, and create one more as a \
         maintenance of its own."
    )]
    Exceptions(String),
    /// A part is not of the form `NAME=VALUE`.
    #[error("Each part of a rule looks like FREQ=WEEKLY, with semicolons between; {0:?} does not.")]
    Part(String),
    /// No part of rules has this name.
    #[error(
        "{0} is not a part of a rule. Use FREQ, INTERVAL, COUNT, UNTIL, WKST and those that begin with BY."
    )]
    Unknown(String),
    /// The value of a part cannot be parsed.
    #[error("RFC 5545 knows no such value of {0}.")]
    Value(String),
    /// The text is too long.
    #[error("Use at most {RULE_LENGTH_MAX} characters.")]
    Length,
    /// `FREQ` is missing, or more frequent than daily.
    #[error("FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
    Frequency,
    /// A part occurs twice.
    #[error("{0} is there twice.")]
    Twice(String),
    /// A list is too long.
    #[error("{0} has too many values.")]
    Values(String),
    /// The rule has both `COUNT` and `UNTIL`.
    #[error("Use COUNT or UNTIL, not both.")]
    TwoEnds,
    /// `COUNT` is out of range.
    #[error("COUNT must be between 1 and {COUNT_MAX}.")]
    Count,
    /// `INTERVAL` is out of range.
    #[error("INTERVAL must be between 1 and {max}.", max = u16::MAX)]
    Interval,
    /// `UNTIL` cannot be parsed.
    #[error("UNTIL must look like 20261231T235959Z, 20261231T235959 or 20261231.")]
    Until,
    /// Any other violation of RFC 5545.
    #[error("This is not a rule of RFC 5545: {0}.")]
    Form(String),
}

/// Rules are equal if their texts are equal.
impl PartialEq for RecurrenceRule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RecurrenceRule {}

impl FromStr for RecurrenceRule {
    type Err = RuleProblem;

    fn from_str(text: &str) -> Result<Self, RuleProblem> {
        let text = text.trim();
        if text.len() > RULE_LENGTH_MAX {
            return Err(RuleProblem::Length);
        }
        let upper = text.to_ascii_uppercase();
        if let Some(name) = EXCEPTIONS.iter().find(|name| upper.contains(**name)) {
            return Err(RuleProblem::Exceptions((*name).to_owned()));
        }
        if upper.contains([':', '\n', '\r']) || upper.contains("DTSTART") {
            return Err(RuleProblem::NotAlone);
        }
        let parts = parts(text, &upper)?;
        let until = parts.iter().find(|(name, _)| *name == "UNTIL").map(|(_, end)| RecurrenceEnd::read(end));
        let until = until.transpose()?;
        let rest: Vec<String> = parts
            .iter()
            .filter(|(name, _)| *name != "UNTIL")
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let unended: RRule<Unvalidated> =
            rest.join(";").parse().map_err(|error| wrong_value(&rest).unwrap_or_else(|| form(error)))?;
        check(&unended, until)?;
        Ok(Self { text: text.to_owned(), until, unended })
    }
}

impl RecurrenceRule {
    /// The rule as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The wall times of the rule from `start` on, in order. `UNTIL` is read in `zone` if it is an instant. The search for
    /// the next time ends after a limited number of steps.
    ///
    /// # Errors
    /// [`RuleProblem::Form`] for errors that can be found only with the start.
    pub fn walls(
        &self,
        start: NaiveDateTime,
        zone: IanaZone,
    ) -> Result<impl Iterator<Item = NaiveDateTime> + use<>, RuleProblem> {
        // Wall times are expanded as if they were UTC, so that no zone shifts them. They are converted to instants
        // afterwards.
        let start = Tz::UTC.from_utc_datetime(&start);
        let rule = self.unended.clone().validate(start).map_err(form)?;
        let set = RRuleSet::new(start).rrule(rule).limit();
        let until = self.until;
        let named = set.into_iter().map(|at| at.naive_utc());
        Ok(named.take_while(move |wall| until.is_none_or(|until| until.allows(*wall, zone))))
    }
}

impl RecurrenceEnd {
    fn read(text: &str) -> Result<Self, RuleProblem> {
        if let Some(utc) = text.strip_suffix('Z') {
            let at = wall(utc)?.and_utc().timestamp_millis();
            return Ok(Self::At(Timestamp::from_ms(at)));
        }
        if text.contains('T') {
            return wall(text).map(Self::Wall);
        }
        let day = NaiveDate::parse_from_str(text, "%Y%m%d").map_err(|_| RuleProblem::Until)?;
        let end = day.and_hms_opt(23, 59, 59).ok_or(RuleProblem::Until)?;
        Ok(Self::Wall(end + TimeDelta::milliseconds(999)))
    }

    fn allows(self, wall: NaiveDateTime, zone: IanaZone) -> bool {
        match self {
            Self::At(last) => zone.instant(wall) <= last,
            Self::Wall(last) => wall <= last,
        }
    }
}

fn wall(text: &str) -> Result<NaiveDateTime, RuleProblem> {
    NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%S").map_err(|_| RuleProblem::Until)
}

/// Splits a rule into parts by name. Each part may occur once, and lists have a limited length. `written` is the rule as
/// the client wrote it, for error texts.
fn parts<'a>(written: &str, upper: &'a str) -> Result<Vec<(&'a str, &'a str)>, RuleProblem> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    let mut times = 1;
    for (part, written) in upper.split(';').zip(written.split(';')) {
        let (name, value) = part.split_once('=').ok_or_else(|| RuleProblem::Part(written.to_owned()))?;
        if !LISTS.contains(&name) && !OTHERS.contains(&name) {
            return Err(RuleProblem::Unknown(name.to_owned()));
        }
        if found.iter().any(|(other, _)| *other == name) {
            return Err(RuleProblem::Twice(name.to_owned()));
        }
        let values = value.split(',').count();
        times *= if OF_A_DAY.contains(&name) { values } else { 1 };
        if LISTS.contains(&name) && (values > VALUES_MAX || times > VALUES_MAX) {
            return Err(RuleProblem::Values(name.to_owned()));
        }
        found.push((name, value));
    }
    if found.iter().any(|(name, _)| *name == "FREQ") { Ok(found) } else { Err(RuleProblem::Frequency) }
}

fn check(rule: &RRule<Unvalidated>, until: Option<RecurrenceEnd>) -> Result<(), RuleProblem> {
    use Frequency::{Daily, Monthly, Weekly, Yearly};
    if !matches!(rule.get_freq(), Daily | Weekly | Monthly | Yearly) {
        return Err(RuleProblem::Frequency);
    }
    if rule.get_interval() == 0 {
        return Err(RuleProblem::Interval);
    }
    match rule.get_count() {
        Some(count) if !(1..=COUNT_MAX).contains(&count) => Err(RuleProblem::Count),
        Some(_) if until.is_some() => Err(RuleProblem::TwoEnds),
        _ => Ok(()),
    }
}

/// The part that cannot be parsed: the first one that fails when parsed alone.
fn wrong_value(parts: &[String]) -> Option<RuleProblem> {
    let is_wrong = |part: &&String| {
        let alone = if part.starts_with("FREQ=") { (*part).clone() } else { format!("FREQ=DAILY;{part}") };
        alone.parse::<RRule<Unvalidated>>().is_err()
    };
    let name = parts.iter().find(is_wrong)?.split('=').next()?;
    Some(match name {
        "FREQ" => RuleProblem::Frequency,
        "INTERVAL" => RuleProblem::Interval,
        "COUNT" => RuleProblem::Count,
        name => RuleProblem::Value(name.to_owned()),
    })
}

fn form(error: impl std::fmt::Display) -> RuleProblem {
    RuleProblem::Form(error.to_string().trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("FREQ=WEEKLY;BYDAY=SU")]
    #[case("freq=weekly;byday=su")]
    #[case("FREQ=DAILY;BYHOUR=2,14;COUNT=10")]
    #[case("FREQ=MONTHLY;BYDAY=2TU;UNTIL=20271231T235959Z")]
    #[case("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;UNTIL=20271231")]
    #[case("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;WKST=SU")]
    fn rules_are_read(#[case] text: &str) {
        assert_eq!(text.parse::<RecurrenceRule>().unwrap().as_str(), text);
    }

    #[rstest]
    #[case("", "Each part of a rule looks like FREQ=WEEKLY, with semicolons between; \"\" does not.")]
    #[case(
        "FREQ=DAILY;",
        "Each part of a rule looks like FREQ=WEEKLY, with semicolons between; \"\" does not."
    )]
    #[case(
        "Every day",
        "Each part of a rule looks like FREQ=WEEKLY, with semicolons between; \"Every day\" does not."
    )]
    #[case(
        "FREQ=DAILY;BYEASTER=0",
        "BYEASTER is not a part of a rule. Use FREQ, INTERVAL, COUNT, UNTIL, WKST and those that begin with BY."
    )]
    #[case("FREQ=SOMETIMES", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
    #[case("FREQ=DAILY;INTERVAL=-1", "INTERVAL must be between 1 and 65535.")]
    #[case("FREQ=DAILY;INTERVAL=65536", "INTERVAL must be between 1 and 65535.")]
    #[case("FREQ=DAILY;COUNT=many", "COUNT must be between 1 and 10000.")]
    #[case("FREQ=WEEKLY;BYDAY=XX", "RFC 5545 knows no such value of BYDAY.")]
    #[case("FREQ=WEEKLY;BYDAY=", "RFC 5545 knows no such value of BYDAY.")]
    #[case("FREQ=WEEKLY;wkst=someday", "RFC 5545 knows no such value of WKST.")]
    #[case(
        "FREQ=DAILY;EXDATE=20261224",
        "A rule names no exceptions (EXDATE). Leave a window out by cancelling its maintenance, and create one more as a maintenance of its own."
    )]
    #[case("BYDAY=SU", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
    #[case("FREQ=HOURLY", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
    #[case("FREQ=MINUTELY", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
    #[case("FREQ=SECONDLY;COUNT=3", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY.")]
    #[case(
        "RRULE:FREQ=DAILY",
        "Send the rule alone, such as FREQ=WEEKLY;BYDAY=SU; it begins at scheduled_start."
    )]
    #[case(
        "DTSTART=20260101;FREQ=DAILY",
        "Send the rule alone, such as FREQ=WEEKLY;BYDAY=SU; it begins at scheduled_start."
    )]
    #[case(
        "FREQ=DAILY\nSUMMARY",
        "Send the rule alone, such as FREQ=WEEKLY;BYDAY=SU; it begins at scheduled_start."
    )]
    #[case("FREQ=DAILY;FREQ=WEEKLY", "FREQ is there twice.")]
    #[case("FREQ=DAILY;COUNT=0", "COUNT must be between 1 and 10000.")]
    #[case("FREQ=DAILY;COUNT=10001", "COUNT must be between 1 and 10000.")]
    #[case("FREQ=DAILY;INTERVAL=0", "INTERVAL must be between 1 and 65535.")]
    #[case("FREQ=DAILY;COUNT=3;UNTIL=20270101", "Use COUNT or UNTIL, not both.")]
    #[case("FREQ=DAILY;UNTIL=soon", "UNTIL must look like 20261231T235959Z, 20261231T235959 or 20261231.")]
    #[case(
        "FREQ=DAILY;UNTIL=20260230",
        "UNTIL must look like 20261231T235959Z, 20261231T235959 or 20261231."
    )]
    fn an_invalid_rule_names_its_problem(#[case] text: &str, #[case] problem: &str) {
        assert_eq!(text.parse::<RecurrenceRule>().unwrap_err().to_string(), problem);
    }

    #[test]
    fn lists_multiply_no_further_than_a_hundred() {
        let numbers = |n: usize| (0..n).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let rule =
            |hours, minutes| format!("FREQ=DAILY;BYHOUR={};BYMINUTE={}", numbers(hours), numbers(minutes));
        assert!(rule(10, 10).parse::<RecurrenceRule>().is_ok());
        assert_eq!(
            rule(10, 11).parse::<RecurrenceRule>().unwrap_err(),
            RuleProblem::Values("BYMINUTE".into())
        );
        assert_eq!(
            rule(24, 60).parse::<RecurrenceRule>().unwrap_err(),
            RuleProblem::Values("BYMINUTE".into())
        );
    }
}
