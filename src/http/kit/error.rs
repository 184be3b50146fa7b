//! The error type for every refusal of the API (contract 5.1, 5.2): status, exact message, further members, headers.
//!
//! Errors are created where their cause is known and rendered once, at the gate, which adds the request id. Internal causes
//! are logged with that id and never reach the client. `From` exists only where it is right in every case: field errors are
//! 422, and a database error determines its own status (`store_error`).

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use crate::backup::RequestError;
use crate::http::kit::bad_request::BadRequest;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::quota::QuotaExceeded;
use crate::model::access::Permission;

/// `Retry-After` in seconds while measurement data is unavailable.
const MEASUREMENTS_RETRY_SECONDS: u64 = 30;
/// `Retry-After` in seconds while the server is unavailable.
const SERVICE_RETRY_SECONDS: u64 = 5;

/// A refusal of a request.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// 400: the request cannot be parsed.
    #[error(transparent)]
    Malformed(#[from] BadRequest),
    /// 401: the request has no valid token.
    #[error("Send a valid API token as a Bearer token.")]
    Unauthorised,
    /// 402 or 403: a quota of the plan is exhausted.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// 403: the token lacks the permission.
    #[error("This token is missing the permission '{0}'.")]
    Forbidden(Permission),
    /// 403: the token is confined to an access scope, and the operation concerns the whole organisation.
    #[error("This token is confined to an access scope; this needs one that sees the whole organisation.")]
    Confined,
    /// 403: the token is confined to an access scope, and the resource also concerns services outside of it. Holds the kind
    /// of resource.
    #[error("This {0} also concerns services outside of the access scope of this token.")]
    Shared(&'static str),
    /// 403: the plan has no API access.
    #[error("The plan of this organisation does not include API access.")]
    NoApiAccess,
    /// 404: the path or the resource does not exist.
    #[error("The requested resource does not exist.")]
    NotFound,
    /// 405: the path exists, but not with this method. Holds the allowed methods, such as `GET, HEAD`.
    #[error("This method is not allowed here. Allowed: {0}.")]
    MethodNotAllowed(String),
    /// 408: the body did not arrive in time.
    #[error("The request body did not arrive in time.")]
    BodyTimeout,
    /// 409: the state of the resource does not allow the operation. Without `Retry-After`, because a repetition would be
    /// refused.
    #[error(transparent)]
    Conflict(#[from] StateConflict),
    /// 409: a request with the same key is still running.
    #[error("A request with this Idempotency-Key is still running.")]
    KeyRunning,
    /// 413: the body exceeds the limit.
    #[error("The request body is too large.")]
    BodyTooLarge,
    /// 422: fields are invalid. Holds the errors of all fields.
    #[error("{}", .0.message())]
    Fields(FieldErrors),
    /// 429: the rate limit is exceeded. Holds the seconds until the window ends.
    #[error("Too many requests. Try again in {0} seconds.")]
    TooManyRequests(u64),
    /// 429: a domain is verified too often. Holds the seconds until the next attempt is allowed.
    #[error("This domain was checked a moment ago. Try again in {0} seconds.")]
    VerifyCooldown(u64),
    /// 429: too many simulations are running. Holds the seconds until the next attempt.
    #[error("Other simulations are running. Try again in {0} seconds.")]
    Simulating(u64),
    /// 429: too many trials of checks are running. Holds the seconds until the next attempt.
    #[error("Other trials are running. Try again in {0} seconds.")]
    TooManyTrials(u64),
    /// 429: the service was asked to check too recently. Holds the seconds until the next attempt is allowed.
    #[error("This service was asked to check a moment ago. Try again in {0} seconds.")]
    CheckCooldown(u64),
    /// 429: the organisation has too many open event streams. Holds the seconds until the next attempt.
    #[error("Too many streams of events are open. Close one, or try again in {0} seconds.")]
    TooManyStreams(u64),
    /// 500: an internal error. Its cause is logged, and not shown to the client.
    #[error("Internal server error.")]
    Internal(anyhow::Error),
    /// 503: the measurement store is unavailable.
    #[error("Measurement data is not available at the moment.")]
    MeasurementsUnavailable,
    /// 503: no node watches the service at the moment.
    #[error("No node watches this service at the moment. Try again soon.")]
    Unwatched,
    /// 503: the server is starting, stopping, or without a database.
    #[error("The service is not available at the moment.")]
    Unavailable,
    /// 503: the database is available, but its disk is full, so that nothing can be written.
    #[error("The disk of the server is full: nothing can be saved at the moment.")]
    DiskFull,
    /// 503: the database aborted this write in favour of another one. The write had no effect; the gate repeats it before
    /// reporting the error.
    #[error("The service is not available at the moment.")]
    GivenUp,
}

/// A state that conflicts with the request (409).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateConflict {
    /// The operation is not possible in this state of the maintenance.
    #[error("The maintenance is '{status}'; this operation needs {}.", quoted(.needed))]
    Transition {
        /// Present state of the maintenance.
        status: &'static str,
        /// States in which the operation is possible.
        needed: &'static [&'static str],
    },
    /// The incident is resolved.
    #[error("The incident is already resolved.")]
    IncidentResolved,
    /// The window of the maintenance cannot be changed in its present state, which is given here.
    #[error("The window of a maintenance in state '{0}' cannot be changed here.")]
    WindowLocked(&'static str),
    /// The cover request is closed. Holds its state.
    #[error("The cover request is '{0}'; only an open one can be answered.")]
    CoverOver(&'static str),
    /// A later message about the same subject has been delivered, so the earlier one is not sent again.
    #[error("A later message about the same subject has been delivered; this one would arrive out of order.")]
    MessageOvertaken,
    /// The server cannot make a backup now.
    #[error(transparent)]
    Backup(RequestError),
    /// The service is paused, so it is not checked.
    #[error("The service is paused; resume it first.")]
    ServicePaused,
    /// No location checks the service.
    #[error("No location checks this service: it has no settings, or its type is not checked.")]
    NotChecked,
    /// The series has lost its last service.
    #[error("The series is cancelled; create a new one.")]
    SeriesCancelled,
}

fn quoted(states: &[&str]) -> String {
    let quoted: Vec<String> = states.iter().map(|state| format!("'{state}'")).collect();
    quoted.join(", ")
}

impl From<FieldErrors> for ApiError {
    fn from(errors: FieldErrors) -> Self {
        Self::Fields(errors)
    }
}

impl ApiError {
    /// Returns the HTTP status (contract 5.1).
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorised => StatusCode::UNAUTHORIZED,
            Self::Quota(exceeded) => exceeded.quota.status(),
            Self::Forbidden(_) | Self::Confined | Self::Shared(_) | Self::NoApiAccess => {
                StatusCode::FORBIDDEN
            }
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict(_) | Self::KeyRunning => StatusCode::CONFLICT,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Fields(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests(_)
            | Self::VerifyCooldown(_)
            | Self::Simulating(_)
            | Self::TooManyTrials(_)
            | Self::CheckCooldown(_)
            | Self::TooManyStreams(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::MeasurementsUnavailable
            | Self::Unwatched
            | Self::Unavailable
            | Self::DiskFull
            | Self::GivenUp => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the JSON body (contract 5.1): `message`, the members of the status, and `request_id`.
    #[must_use]
    pub fn body(&self, request_id: &str) -> Value {
        let mut body = Map::new();
        body.insert("message".into(), self.to_string().into());
        match self {
            Self::Fields(errors) => {
                body.insert("errors".into(), errors.to_json());
            }
            Self::NoApiAccess => {
                body.insert("upsell".into(), json!({"reason": "feature", "key": "api_access"}));
            }
            Self::Quota(exceeded) => {
                body.insert("upsell".into(), json!({"reason": "limit", "key": exceeded.quota.key()}));
                body.insert("limit".into(), exceeded.limit.into());
                body.insert("usage".into(), exceeded.usage.into());
            }
            _ => {}
        }
        body.insert("request_id".into(), request_id.into());
        Value::Object(body)
    }

    /// Returns the same error without the usage of a quota, for callers who may not know how much of the plan is used.
    #[must_use]
    pub fn without_usage(self) -> Self {
        match self {
            Self::Quota(exceeded) => Self::Quota(QuotaExceeded { usage: exceeded.limit.into(), ..exceeded }),
            other => other,
        }
    }

    /// Returns the headers that belong to the status.
    #[must_use]
    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let retry = |seconds: u64| vec![(header::RETRY_AFTER, HeaderValue::from(seconds))];
        match self {
            Self::Unauthorised => vec![(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))],
            Self::MethodNotAllowed(allowed) => {
                HeaderValue::from_str(allowed).map(|value| (header::ALLOW, value)).into_iter().collect()
            }
            Self::KeyRunning => retry(1),
            Self::TooManyRequests(seconds)
            | Self::VerifyCooldown(seconds)
            | Self::Simulating(seconds)
            | Self::TooManyTrials(seconds)
            | Self::CheckCooldown(seconds)
            | Self::TooManyStreams(seconds) => retry(*seconds),
            Self::MeasurementsUnavailable => retry(MEASUREMENTS_RETRY_SECONDS),
            Self::Unwatched | Self::Unavailable | Self::DiskFull | Self::GivenUp => {
                retry(SERVICE_RETRY_SECONDS)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the whole response. An internal error is logged here, with the request id that the client sees.
    #[must_use]
    pub fn to_response(&self, request_id: &str) -> HttpResponse {
        if let Self::Internal(error) = self {
            tracing::error!(request_id, error = format!("{error:#}"), "internal error");
        }
        let mut response = HttpResponse::build(self.status());
        for header in self.headers() {
            response.insert_header(header);
        }
        response.content_type("application/json; charset=utf-8").body(self.body(request_id).to_string())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http::kit::quota::PlanQuota;
    use crate::http::kit::rule::FieldRule;

    fn quota(quota: PlanQuota, limit: u32, usage: u64) -> ApiError {
        ApiError::Quota(QuotaExceeded { quota, limit, usage })
    }

    /// Contract 5.1, 5.2 and 3.2: status, body (without `request_id`) and headers of each error.
    #[rstest]
    #[case(
        ApiError::Malformed(BadRequest::Json),
        400,
        r#"{"message":"The request body is not valid JSON."}"#,
        ""
    )]
    #[case(
        ApiError::Malformed(BadRequest::NoObject),
        400,
        r#"{"message":"The request body must be a JSON object."}"#,
        ""
    )]
    #[case(
        ApiError::Malformed(BadRequest::ContentType),
        400,
        r#"{"message":"Send the request body as application/json."}"#,
        ""
    )]
    #[case(
        ApiError::Malformed(BadRequest::FileContentType),
        400,
        r#"{"message":"Send the file as multipart/form-data."}"#,
        ""
    )]
    #[case(
        ApiError::Malformed(BadRequest::IdempotencyKey),
        400,
        r#"{"message":"The Idempotency-Key header must have 1 to 255 visible ASCII characters."}"#,
        ""
    )]
    #[case(
        ApiError::Unauthorised,
        401,
        r#"{"message":"Send a valid API token as a Bearer token."}"#,
        "www-authenticate: Bearer"
    )]
    #[case(quota(PlanQuota::Statuspages, 20, 20), 402, r#"{"message":"The plan allows 20 status pages; 20 exist.","upsell":{"reason":"limit","key":"statuspages"},"limit":20,"usage":20}"#, "")]
    #[case(quota(PlanQuota::Components, 250, 251), 402, r#"{"message":"The plan allows 250 components per status page; 251 exist.","upsell":{"reason":"limit","key":"components"},"limit":250,"usage":251}"#, "")]
    #[case(quota(PlanQuota::Services, 50, 50), 403, r#"{"message":"The plan allows 50 active services; 50 are in use.","upsell":{"reason":"limit","key":"services"},"limit":50,"usage":50}"#, "")]
    #[case(quota(PlanQuota::CustomDomains, 1, 1), 403, r#"{"message":"The plan allows 1 custom domains per status page; 1 exist.","upsell":{"reason":"limit","key":"custom_domains"},"limit":1,"usage":1}"#, "")]
    #[case(
        ApiError::Forbidden(Permission::ServicesCreate),
        403,
        r#"{"message":"This token is missing the permission 'services.create'."}"#,
        ""
    )]
    #[case(
        ApiError::Confined,
        403,
        r#"{"message":"This token is confined to an access scope; this needs one that sees the whole organisation."}"#,
        ""
    )]
    #[case(
        ApiError::Shared("incident"),
        403,
        r#"{"message":"This incident also concerns services outside of the access scope of this token."}"#,
        ""
    )]
    #[case(ApiError::NoApiAccess, 403, r#"{"message":"The plan of this organisation does not include API access.","upsell":{"reason":"feature","key":"api_access"}}"#, "")]
    #[case(ApiError::NotFound, 404, r#"{"message":"The requested resource does not exist."}"#, "")]
    #[case(ApiError::MethodNotAllowed("GET, HEAD, POST".into()), 405, r#"{"message":"This method is not allowed here. Allowed: GET, HEAD, POST."}"#, "allow: GET, HEAD, POST")]
    #[case(ApiError::BodyTimeout, 408, r#"{"message":"The request body did not arrive in time."}"#, "")]
    #[case(ApiError::Conflict(StateConflict::Transition { status: "completed", needed: &["scheduled"] }), 409, r#"{"message":"The maintenance is 'completed'; this operation needs 'scheduled'."}"#, "")]
    #[case(ApiError::Conflict(StateConflict::Transition { status: "cancelled", needed: &["scheduled", "in_progress"] }), 409, r#"{"message":"The maintenance is 'cancelled'; this operation needs 'scheduled', 'in_progress'."}"#, "")]
    #[case(
        ApiError::Conflict(StateConflict::IncidentResolved),
        409,
        r#"{"message":"The incident is already resolved."}"#,
        ""
    )]
    #[case(
        ApiError::Conflict(StateConflict::WindowLocked("completed")),
        409,
        r#"{"message":"The window of a maintenance in state 'completed' cannot be changed here."}"#,
        ""
    )]
    #[case(
        ApiError::KeyRunning,
        409,
        r#"{"message":"A request with this Idempotency-Key is still running."}"#,
        "retry-after: 1"
    )]
    #[case(ApiError::BodyTooLarge, 413, r#"{"message":"The request body is too large."}"#, "")]
    #[case(
        ApiError::Fields(FieldErrors::of("name", FieldRule::Required)),
        422,
        r#"{"message":"This field is required.","errors":{"name":["This field is required."]}}"#,
        ""
    )]
    #[case(
        ApiError::TooManyRequests(17),
        429,
        r#"{"message":"Too many requests. Try again in 17 seconds."}"#,
        "retry-after: 17"
    )]
    #[case(
        ApiError::VerifyCooldown(9),
        429,
        r#"{"message":"This domain was checked a moment ago. Try again in 9 seconds."}"#,
        "retry-after: 9"
    )]
    #[case(
        ApiError::Simulating(5),
        429,
        r#"{"message":"Other simulations are running. Try again in 5 seconds."}"#,
        "retry-after: 5"
    )]
    #[case(ApiError::Internal(anyhow::anyhow!("hunter2")), 500, r#"{"message":"Internal server error."}"#, "")]
    #[case(
        ApiError::MeasurementsUnavailable,
        503,
        r#"{"message":"Measurement data is not available at the moment."}"#,
        "retry-after: 30"
    )]
    #[case(
        ApiError::Unavailable,
        503,
        r#"{"message":"The service is not available at the moment."}"#,
        "retry-after: 5"
    )]
    #[case(
        ApiError::DiskFull,
        503,
        r#"{"message":"The disk of the server is full: nothing can be saved at the moment."}"#,
        "retry-after: 5"
    )]
    #[case(
        ApiError::GivenUp,
        503,
        r#"{"message":"The service is not available at the moment."}"#,
        "retry-after: 5"
    )]
    fn errors_have_the_status_body_and_headers_of_the_contract(
        #[case] error: ApiError,
        #[case] status: u16,
        #[case] body: &str,
        #[case] headers: &str,
    ) {
        assert_eq!(error.status().as_u16(), status);
        let mut expected: Value = serde_json::from_str(body).unwrap();
        expected["request_id"] = "req-1".into();
        assert_eq!(error.body("req-1").to_string(), expected.to_string());
        let shown = error.headers().into_iter();
        let shown: Vec<String> =
            shown.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        assert_eq!(shown.join("\n"), headers);
        let response = error.to_response("req-1");
        assert_eq!(response.status().as_u16(), status);
        assert_eq!(response.headers().get("content-type").unwrap(), "application/json; charset=utf-8");
    }
}
