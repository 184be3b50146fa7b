//! Reads `starts_at` and `ends_at` of overrides, absences and cover requests, and `from` and `to` of queries.

use serde_json::{Map, Value};

use crate::clock::{DAY_MS, Timestamp};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::model::oncall::entry::LENGTH_DAYS_MAX;
use crate::model::oncall::schedule::DAYS_MAX;
use crate::model::time_range::TimeRange;

/// Length of the default period, in days.
const DAYS: i64 = 14;

/// Reads the period of an override, an absence or a cover request. A field that is missing in an update keeps its value.
pub(super) fn read_time(fields: &BodyFields<'_>, stored: Option<TimeRange>) -> Option<TimeRange> {
    let read = |name| match stored {
        None => fields.required(name),
        Some(_) => fields.optional(name),
    };
    let from = read("starts_at").and_then(|field| field.timestamp());
    let to = read("ends_at").and_then(|field| field.timestamp());
    let from = from.or_else(|| stored.map(|stored| stored.from))?;
    let to = to.or_else(|| stored.map(|stored| stored.to))?;
    if to <= from {
        fields.refuse("ends_at", FieldRule::After("starts_at"));
        return None;
    }
    if to.ms_since(from) > LENGTH_DAYS_MAX * DAY_MS {
        fields.refuse("ends_at", FieldRule::DaysAfter(LENGTH_DAYS_MAX, "starts_at"));
        return None;
    }
    Some(TimeRange { from, to })
}

/// Reads the period in a query string, with two weeks from now as the default.
pub(super) fn read_asked(query: &QueryString, now: Timestamp) -> Result<TimeRange, FieldErrors> {
    let mut errors = FieldErrors::default();
    let (from, to) = query.period(&mut errors);
    errors.into_result(())?;
    bounded(from, to, now)
}

/// Reads the period in a body, with two weeks from now as the default.
pub(super) fn read_sent(body: &Map<String, Value>, now: Timestamp) -> Result<TimeRange, FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let [from, to] = ["from", "to"].map(|name| fields.skippable(name).and_then(|field| field.timestamp()));
    errors.into_inner().into_result(())?;
    bounded(from, to, now)
}

fn bounded(from: Option<Timestamp>, to: Option<Timestamp>, now: Timestamp) -> Result<TimeRange, FieldErrors> {
    let whole = DAYS * DAY_MS;
    let from = from.unwrap_or_else(|| to.filter(|to| *to <= now).map_or(now, |to| to.plus_ms(-whole)));
    let to = to.unwrap_or_else(|| from.plus_ms(whole));
    if to <= from {
        return Err(FieldErrors::of("to", FieldRule::After("from")));
    }
    if to.ms_since(from) > DAYS_MAX * DAY_MS {
        return Err(FieldErrors::of("to", FieldRule::PeriodDays(DAYS_MAX)));
    }
    Ok(TimeRange { from, to })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: a query on 25 November, and its period or the refused field.
    #[rstest]
    #[case::two_weeks("", Ok("2026-11-25 2026-12-09"))]
    #[case::from("from=2026-12-01", Ok("2026-12-01 2026-12-15"))]
    #[case::to("to=2026-12-01", Ok("2026-11-25 2026-12-01"))]
    #[case::to_the_past("to=2026-11-20", Ok("2026-11-06 2026-11-20"))]
    #[case::the_longest("from=2026-01-01&to=2027-02-05", Ok("2026-01-01 2027-02-05"))]
    #[case::too_long("from=2026-01-01&to=2027-02-06", Err("to"))]
    #[case::backwards("from=2026-12-02&to=2026-12-01", Err("to"))]
    #[case::nonsense("from=soon", Err("from"))]
    fn a_period_is_read(#[case] query: &str, #[case] expected: Result<&str, &str>) {
        let now = Timestamp::from_ms(1_795_564_800_000);
        let read = read_asked(&QueryString::parse(query), now);
        let shown = read.map(|range| format!("{} {}", range.from.date(), range.to.date()));
        let refused = |errors: &FieldErrors| errors.iter().next().map(|(path, _)| path.to_owned()).unwrap();
        assert_eq!(shown.as_deref().map_err(refused), expected.map_err(str::to_owned));
    }
}
