//! `Prefer: handling=strict` (RFC 7240; contract 7, no. 48): unknown parts of a request, and repeated keys of a JSON object,
//! are refused instead of ignored.
//!
//! Refused parts are found before the handler runs, but reported in the order of the checks of contract 1.8. For that the
//! handler runs with a [`WriteGrant`](crate::http::gate::write::WriteGrant) that cannot be committed, so that errors of
//! earlier checks are reported first.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::ApiReply;

const PREFER: HeaderName = HeaderName::from_static("prefer");
const HANDLING: &str = "handling";
const STRICT: &str = "strict";

/// Response header that confirms strict handling.
pub const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// The value of [`PREFERENCE_APPLIED`].
pub const HANDLED_STRICTLY: HeaderValue = HeaderValue::from_static("handling=strict");

/// Returns true if a request with these headers is to be handled strictly. If a preference has several values, the first
/// counts.
#[must_use]
pub fn is_strict(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(PREFER).filter_map(|line| line.to_str().ok());
    let mut preferences = lines.flat_map(|line| line.split(',')).filter_map(|preference| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        name.trim().eq_ignore_ascii_case(HANDLING).then(|| value.trim().trim_matches('"'))
    });
    preferences.next().is_some_and(|value| value.eq_ignore_ascii_case(STRICT))
}

/// Returns the response to a request; `refused` lists the parts that a strict request must not have (`None` = not strict).
///
/// # Errors
/// 422 with the refused parts, also if the handler succeeded, found errors in other fields, or reported an exceeded quota.
/// Otherwise the error of the handler.
pub(super) fn refuse_strictly(
    outcome: Result<ApiReply, ApiError>,
    refused: Option<FieldErrors>,
) -> Result<ApiReply, ApiError> {
    let Some(refused) = refused else { return outcome };
    match outcome {
        Ok(_) | Err(ApiError::Quota(_)) if !refused.is_empty() => Err(refused.into()),
        Err(ApiError::Fields(errors)) => Err(errors.merge_strict(refused).into()),
        answered => answered,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["handling=strict"], true)]
    #[case(&["Handling = \"strict\""], true)]
    #[case(&["respond-async, handling=strict; foo=bar"], true)]
    #[case(&["wait=10", "handling=strict"], true)]
    #[case(&["handling=lenient, handling=strict"], false)]
    #[case(&["handling=lenient"], false)]
    #[case(&["handling"], false)]
    #[case(&["strict"], false)]
    #[case(&["wait=10; handling=strict"], false)]
    #[case(&[], false)]
    fn only_strict_handling_is_strict(#[case] lines: &[&'static str], #[case] expected: bool) {
        let headers = lines.iter().map(|line| (PREFER, HeaderValue::from_static(line))).collect();
        assert_eq!(is_strict(&headers), expected);
    }
}
