//! Timestamps in the forms that clients may use (contract 1.6).
//!
//! Accepted are RFC 3339 with any offset, the same without offset (UTC), and a plain date (midnight UTC). A fraction may
//! have any length and is cut to milliseconds. Years are 1970 to 2200. Responses use the `Display` of `clock::Timestamp`.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};

use crate::clock::Timestamp;

/// 2201-01-01T00:00:00Z in Unix milliseconds, the first moment that is out of range.
const END_MS: i64 = 7_289_654_400_000;

/// Parses a timestamp in a body; `None` if the text is invalid or out of range.
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    let at = parse_any_year(text.trim())?;
    (0..END_MS).contains(&at.ms()).then_some(at)
}

/// Parses a timestamp in a query string, where a space counts as a `+` that the client did not encode.
#[must_use]
pub fn parse_query(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    match text.rsplit_once(' ') {
        Some((moment, offset)) if moment.contains([':']) => parse(&format!("{moment}+{offset}")),
        _ => parse(text),
    }
}

fn parse_any_year(text: &str) -> Option<Timestamp> {
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return has_rfc_3339_shape(text).then(|| date.and_time(NaiveTime::MIN).and_utc().into());
    }
    if !has_rfc_3339_shape(text) {
        return None;
    }
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc().into());
    }
    let at = NaiveDateTime::parse_from_str(&text.to_ascii_uppercase(), "%Y-%m-%dT%H:%M:%S%.f").ok()?;
    Some(at.and_utc().into())
}

/// Returns true if all parts have the fixed positions of RFC 3339. chrono also accepts single digits, signs and inner
/// spaces.
fn has_rfc_3339_shape(text: &str) -> bool {
    let has_form = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        10 => matches!(byte, b'T' | b't'),
        13 | 16 => *byte == b':',
        _ => byte.is_ascii_digit(),
    };
    let bytes = text.as_bytes();
    matches!(bytes.len(), 10 | 19..) && bytes.iter().take(19).enumerate().all(has_form)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Contract 1.6: the forms of a body.
    #[rstest]
    #[case("2026-11-20T16:51:00Z", Some("2026-11-20T16:51:00.000Z"))]
    #[case("2026-11-20t16:51:00z", Some("2026-11-20T16:51:00.000Z"))]
    #[case("2026-11-20T16:51:00+01:00", Some("2026-11-20T15:51:00.000Z"))]
    #[case("2026-11-20T16:51:00-08:30", Some("2026-11-21T01:21:00.000Z"))]
    #[case("2026-11-20T16:51:00", Some("2026-11-20T16:51:00.000Z"))]
    #[case("2026-11-20t16:51:00.5", Some("2026-11-20T16:51:00.500Z"))]
    #[case("2026-11-20", Some("2026-11-20T00:00:00.000Z"))]
    #[case("  2026-11-20  ", Some("2026-11-20T00:00:00.000Z"))]
    #[case("2026-11-20T16:51:00.1Z", Some("2026-11-20T16:51:00.100Z"))]
    #[case("2026-11-20T16:51:00.123456789123Z", Some("2026-11-20T16:51:00.123Z"))]
    #[case("2026-11-20T16:51:00.9999+02:00", Some("2026-11-20T14:51:00.999Z"))]
    #[case("1970-01-01", Some("1970-01-01T00:00:00.000Z"))]
    #[case("2200-12-31T23:59:59.999Z", Some("2200-12-31T23:59:59.999Z"))]
    #[case("2024-02-29", Some("2024-02-29T00:00:00.000Z"))]
    #[case("2025-02-29", None)]
    #[case("2201-01-01", None)]
    #[case("1969-12-31T23:59:59Z", None)]
    #[case("1970-01-01T00:00:00+00:01", None)]
    #[case("2026-13-01", None)]
    #[case("2026-11-20T24:00:00Z", None)]
    #[case("2026-11-20T16:51Z", None)]
    #[case("2026-11-20T16:51", None)]
    #[case("2026-11-20 16:51:00Z", None)]
    #[case("2026-11-20T16:51:00 01:00", None)]
    #[case("2026-11-20T16:51:00+0100", None)]
    #[case("2026-11-20T16:51:00.Z", None)]
    #[case("2026-11-20Z", None)]
    #[case("2026-1-2", None)]
    #[case("+2026-11-20", None)]
    #[case("1795193460", None)]
    #[case("yesterday", None)]
    #[case("", None)]
    #[case("２０２６-11-20", None)]
    fn a_body_timestamp_has_one_of_the_forms(#[case] text: &str, #[case] moment: Option<&str>) {
        assert_eq!(parse(text).map(|at| at.to_string()).as_deref(), moment);
    }

    /// Contract 1.6: in queries a space is read as the `+` of an offset.
    #[rstest]
    #[case("2026-11-20T16:51:00 01:00", Some("2026-11-20T15:51:00.000Z"))]
    #[case("2026-11-20T16:51:00.250 00:30", Some("2026-11-20T16:21:00.250Z"))]
    #[case("2026-11-20T16:51:00+01:00", Some("2026-11-20T15:51:00.000Z"))]
    #[case("2026-11-20", Some("2026-11-20T00:00:00.000Z"))]
    #[case("2026-11-20 16:51:00", None)]
    #[case("2026-11-20 16:51:00 01:00", None)]
    #[case("now", None)]
    fn a_query_timestamp_may_have_lost_its_plus(#[case] text: &str, #[case] moment: Option<&str>) {
        assert_eq!(parse_query(text).map(|at| at.to_string()).as_deref(), moment);
    }

    proptest! {
        #[test]
        fn written_timestamps_can_be_parsed(ms in 0..END_MS) {
            let at = Timestamp::from_ms(ms);
            prop_assert_eq!(parse(&at.to_string()), Some(at));
            prop_assert_eq!(parse_query(&at.to_string()), Some(at));
        }

        #[test]
        fn no_input_causes_a_panic(text in "\\PC{0,40}") {
            let _ = (parse(&text), parse_query(&text));
        }
    }
}
