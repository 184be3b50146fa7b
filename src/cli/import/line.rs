//! Parses one line of a file into a result, or into a message with the flaw and what is allowed.

use crate::cli::import::column::{ImportColumn, LineFields};
use crate::clock::Timestamp;
use crate::http::kit::timestamp;
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, Micros, PhaseTimings};
use crate::model::location::LocationCode;

/// Timestamps below this are seconds, others milliseconds: the year 5138 in seconds, 1973 in milliseconds.
const SECONDS_END: f64 = 100_000_000_000.0;
/// Latest accepted time: 2201-01-01, as in the API.
const TIME_END_MS: f64 = 7_289_654_400_000.0;
/// Longest duration in milliseconds; as microseconds it still fits a 32-bit column.
const DURATION_MAX_MS: f64 = 2_147_483.0;

/// The values of a line, without its service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportLine {
    pub(super) location: LocationCode,
    pub(super) checked_at: Timestamp,
    pub(super) scheduled_at: Timestamp,
    pub(super) attempt: u8,
    pub(super) measurement: Measurement,
}

impl ImportLine {
    /// Parses a line; `location` is the default location.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong, and what is allowed.
    pub(super) fn read(fields: &LineFields<'_>, location: Option<&LocationCode>) -> Result<Self, String> {
        let location = match (fields.get(ImportColumn::Location), location) {
            (Some(text), _) => text.parse().map_err(|error| format!("location: {error}"))?,
            (None, Some(location)) => location.clone(),
            (None, None) => {
                return Err("location is missing; name one in the line or by --default-location".into());
            }
        };
        let checked_at = moment(fields, ImportColumn::Time)?.ok_or("time is missing")?;
        let scheduled_at = moment(fields, ImportColumn::ScheduledAt)?.unwrap_or(checked_at);
        let status = status(fields.get(ImportColumn::Status).ok_or("status is missing")?)?;
        let attempt =
            number(fields, ImportColumn::Attempt, 1..=255, "a whole number from 1 to 255")?.unwrap_or(1);
        let measurement = Measurement {
            status,
            response_time: duration(fields, ImportColumn::ResponseTime)?,
            timings: PhaseTimings {
                dns: duration(fields, ImportColumn::Dns)?,
                connect: duration(fields, ImportColumn::Connect)?,
                tls: duration(fields, ImportColumn::Tls)?,
                ttfb: duration(fields, ImportColumn::Ttfb)?,
                transfer: duration(fields, ImportColumn::Transfer)?,
                total: duration(fields, ImportColumn::Total)?,
            },
            status_code: number(
                fields,
                ImportColumn::StatusCode,
                100..=999,
                "a whole number from 100 to 999",
            )?,
            failure: failure(fields, status)?.map(Box::new),
        };
        Ok(Self { location, checked_at, scheduled_at, attempt, measurement })
    }
}

fn refused(column: ImportColumn, text: &str, allowed: &str) -> String {
    let shown: String = text.chars().take(60).collect();
    format!("{} = '{shown}' is not allowed; it must be {allowed}", column.name())
}

fn moment(fields: &LineFields<'_>, column: ImportColumn) -> Result<Option<Timestamp>, String> {
    let Some(text) = fields.get(column) else { return Ok(None) };
    let at = timestamp::parse(text).or_else(|| unix_time(text));
    let allowed = "RFC 3339 such as 2026-11-20T16:51:00Z, or Unix seconds or milliseconds";
    at.map(Some).ok_or_else(|| refused(column, text, allowed))
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn unix_time(text: &str) -> Option<Timestamp> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = text.parse().ok().filter(|_| is_plain)?;
    let ms = if number < SECONDS_END { (number * 1_000.0).round() } else { number };
    (0.0..TIME_END_MS).contains(&ms).then(|| Timestamp::from_ms(ms as i64))
}

fn status(text: &str) -> Result<CheckStatus, String> {
    match text.to_ascii_lowercase().as_str() {
        "up" | "1" | "true" => Ok(CheckStatus::Up),
        "down" | "0" | "false" => Ok(CheckStatus::Down),
        "degraded" => Ok(CheckStatus::Degraded),
        _ => Err(refused(ImportColumn::Status, text, "up, degraded or down (or 1, true; 0, false)")),
    }
}

fn number<T>(
    fields: &LineFields<'_>,
    column: ImportColumn,
    range: std::ops::RangeInclusive<u16>,
    allowed: &str,
) -> Result<Option<T>, String>
where
    T: TryFrom<u16>,
{
    let Some(text) = fields.get(column) else { return Ok(None) };
    let number = text.parse::<u16>().ok().filter(|number| range.contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.map(Some).ok_or_else(|| refused(column, text, allowed))
}

/// Converts milliseconds to microseconds. A duration that was rounded to 0 becomes 1 µs, because it was measured.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn duration(fields: &LineFields<'_>, column: ImportColumn) -> Result<Option<Micros>, String> {
    let Some(text) = fields.get(column) else { return Ok(None) };
    let ms = text.parse::<f64>().ok().filter(|ms| (0.0..=DURATION_MAX_MS).contains(ms));
    let us = ms.map(|ms| (ms * 1_000.0).round() as u32);
    let us = us.and_then(|us| Micros::new(us.max(1)));
    us.map(Some).ok_or_else(|| refused(column, text, "milliseconds from 0 to 2147483"))
}

/// Returns the failure of a result that is not up; `None` if the line has neither code nor message.
fn failure(fields: &LineFields<'_>, status: CheckStatus) -> Result<Option<CheckFailure>, String> {
    let (code, message) = (fields.get(ImportColumn::ErrorCode), fields.get(ImportColumn::ErrorMessage));
    if status == CheckStatus::Up {
        return match (code, message) {
            (None, None) => Ok(None),
            _ => Err("error_code and error_message must be empty when status is up".into()),
        };
    }
    let known =
        |text: &str| text.parse::<ErrorCode>().map_err(|_| refused(ImportColumn::ErrorCode, text, &codes()));
    match (code.map(known).transpose()?, message) {
        (None, None) => Ok(None),
        (code, message) => {
            Ok(Some(CheckFailure::new(code.unwrap_or(ErrorCode::Internal), message.unwrap_or_default())))
        }
    }
}

fn codes() -> String {
    format!("one of {}", ErrorCode::WORDS.join(", "))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rstest::rstest;

    use super::*;

    /// Parses a valid line that is changed by `name=value` pairs, separated by `;`.
    fn read(changes: &str) -> Result<ImportLine, String> {
        let mut fields = LineFields::default();
        let fit = "location=fra;time=1795193460;status=up";
        for (name, value) in fit.split(';').chain(changes.split(';')).filter_map(|pair| pair.split_once('='))
        {
            fields.set(ImportColumn::named(name).unwrap(), Cow::Borrowed(value));
        }
        ImportLine::read(&fields, None)
    }

    #[rstest]
    #[case("1795193460", 1_795_193_460_000)]
    #[case("1795193460.25", 1_795_193_460_250)]
    #[case("1795193460250", 1_795_193_460_250)]
    #[case("2026-11-20T16:51:00.250Z", 1_795_193_460_250)]
    #[case("2026-11-20T17:51:00.25+01:00", 1_795_193_460_250)]
    #[case("2026-11-20", 1_795_132_800_000)]
    fn a_time_has_several_forms(#[case] text: &str, #[case] ms: i64) {
        assert_eq!(read(&format!("time={text}")).unwrap().checked_at.ms(), ms);
    }

    #[rstest]
    #[case("up", CheckStatus::Up)]
    #[case("UP", CheckStatus::Up)]
    #[case("1", CheckStatus::Up)]
    #[case("true", CheckStatus::Up)]
    #[case("degraded", CheckStatus::Degraded)]
    #[case("down", CheckStatus::Down)]
    #[case("0", CheckStatus::Down)]
    #[case("False", CheckStatus::Down)]
    fn a_status_has_several_spellings(#[case] text: &str, #[case] status: CheckStatus) {
        assert_eq!(read(&format!("status={text}")).unwrap().measurement.status, status);
    }

    #[test]
    fn all_columns_of_a_line_are_read() {
        let line = read(
            "status=down;scheduled_at=1795193459;attempt=3;response_time_ms=12.3456;status_code=503;dns=0;\
            connect=1;tls=2;ttfb=3;transfer=4;total=2147483;error_code=http_timeout;error_message=too slow",
        )
        .unwrap();
        let us = |us| Micros::new(us);
        let (dns, connect, tls) = (us(1), us(1_000), us(2_000));
        let (ttfb, transfer, total) = (us(3_000), us(4_000), us(2_147_483_000));
        let measurement = Measurement {
            status: CheckStatus::Down,
            response_time: us(12_346),
            timings: PhaseTimings { dns, connect, tls, ttfb, transfer, total },
            status_code: Some(503),
            failure: Some(Box::new(CheckFailure::new(ErrorCode::HttpTimeout, "too slow"))),
        };
        assert_eq!(line.measurement, measurement);
        assert_eq!((line.attempt, line.scheduled_at.ms()), (3, 1_795_193_459_000));
    }

    #[rstest]
    #[case("status=down", None)]
    #[case("status=down;error_message=gone", Some((ErrorCode::Internal, "gone")))]
    #[case("status=degraded;error_code=tls_expired", Some((ErrorCode::TlsExpired, "")))]
    fn a_reason_may_be_incomplete(#[case] line: &str, #[case] reason: Option<(ErrorCode, &str)>) {
        let expected = reason.map(|(code, text)| Box::new(CheckFailure::new(code, text)));
        assert_eq!(read(line).unwrap().measurement.failure, expected);
    }

    #[rstest]
    #[case("location=", "location is missing")]
    #[case("location=Frankfurt am Main", "location: 'Frankfurt am Main' is not a location code")]
    #[case("time=", "time is missing")]
    #[case("time=yesterday", "time = 'yesterday' is not allowed; it must be RFC 3339")]
    #[case("time=-1", "time = '-1' is not allowed")]
    #[case("time=1e9", "time = '1e9' is not allowed")]
    #[case("time=99999999999999", "time = '99999999999999' is not allowed")]
    #[case("status=", "status is missing")]
    #[case("status=ok", "status = 'ok' is not allowed; it must be up, degraded or down")]
    #[case("attempt=0", "attempt = '0' is not allowed; it must be a whole number from 1 to 255")]
    #[case("status_code=99", "status_code = '99' is not allowed")]
    #[case("dns=-1", "dns = '-1' is not allowed; it must be milliseconds from 0")]
    #[case("dns=NaN", "dns = 'NaN' is not allowed")]
    #[case("total=2147484", "total = '2147484' is not allowed")]
    #[case("error_code=tls_expired", "error_code and error_message must be empty when status is up")]
    #[case(
        "status=down;error_code=oops",
        "error_code = 'oops' is not allowed; it must be one of dns_nxdomain"
    )]
    fn an_error_names_the_allowed_values(#[case] line: &str, #[case] problem: &str) {
        let complaint = read(line).unwrap_err();
        assert!(complaint.starts_with(problem), "{complaint}");
    }
}
