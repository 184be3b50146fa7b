//! Components that all operations share: refusals (contract 5), headers (1.9 to 1.12), and parts of the envelope (1.4).
//!
//! Each is defined once, below `components`, and referenced by operations.

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::ParameterStyle;
use utoipa::openapi::{Components, ContentBuilder, Header, Ref, Response, ResponseBuilder};

use crate::http::openapi::shape::{ApiSchema, enum_of, integer, list_of, map_of, named, object, string, url};

/// Every refusal: status, name, meaning, schema, example, further headers.
const REFUSALS: [Refusal; 13] = [
    (
        400,
        "Malformed",
        "The body cannot be parsed, its content type is wrong, or the Idempotency-Key is malformed.",
        "Error",
        &[],
    ),
    (401, "Unauthorised", "No valid token.", "Error", &["WWW-Authenticate"]),
    (402, "LimitReached", "A limit of the plan is reached.", "PlanError", &[]),
    (
        403,
        "Forbidden",
        "The token lacks a permission, its access scope does not reach as far, or the plan does not include this; with \
         `upsell` the plan is the cause.",
        "Refusal",
        &[],
    ),
    (404, "NotFound", "There is no such resource in this organisation.", "Error", &[]),
    (408, "BodyTimeout", "The body did not arrive in time.", "Error", &[]),
    (409, "Conflict", "The state of the resource does not allow it.", "Error", &[]),
    (
        409,
        "KeyRunning",
        "The state of the resource does not allow it; or, with `Retry-After`, a request with this Idempotency-Key is still running.",
        "Error",
        &["Retry-After?"],
    ),
    (413, "TooLarge", "The body is too large.", "Error", &[]),
    (422, "Invalid", "Fields are invalid; `errors` lists all of them.", "FieldErrors", &[]),
    (429, "TooManyRequests", "The rate limit of this window is reached.", "Error", &["Retry-After"]),
    (500, "InternalError", "An unexpected error; it is logged under the request id.", "Error", &[]),
    (
        503,
        "Unavailable",
        "The server, its database or the measurement data cannot be reached at the moment.",
        "Error",
        &["Retry-After"],
    ),
];

type Refusal = (u16, &'static str, &'static str, &'static str, &'static [&'static str]);

/// Headers of every response below `/v1`.
const EVERYWHERE: [&str; 5] =
    ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id", "Preference-Applied"];

/// Returns the reference to a refusal; `has_key` selects its variant for operations with an `Idempotency-Key`.
pub(super) fn refusal(status: u16, has_key: bool) -> Option<Ref> {
    let mut known = REFUSALS.iter().filter(|refusal| refusal.0 == status);
    let found = if has_key { known.next_back() } else { known.next() };
    found.map(|refusal| Ref::from_response_name(refusal.1))
}

/// Returns a refusal for paths outside of `/v1`, without rate limit headers.
pub(super) fn outside_refusal(status: u16) -> Response {
    let known = REFUSALS.iter().find(|refusal| refusal.0 == status);
    let words = known.map_or("Refused.", |refusal| refusal.2);
    let content =
        ContentBuilder::new().schema(Some(named("Error").into_schema())).example(Some(example(status)));
    ResponseBuilder::new().description(words).content("application/json", content.build()).build()
}

/// Adds the headers of every response below `/v1`.
pub(super) fn with_headers_of_every_answer(response: ResponseBuilder) -> ResponseBuilder {
    EVERYWHERE.iter().fold(response, |response, name| response.header_ref(*name, header_ref(name)))
}

/// Returns the reference to a header.
pub(super) fn header_ref(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}

pub(super) fn add(components: &mut Components) {
    for (name, shape) in schemas() {
        components.schemas.insert(name.into(), shape.into_schema());
    }
    for (name, is_certain, shape, words) in headers() {
        components.headers.insert(name.into(), header(shape, words, is_certain).into());
    }
    for line in &REFUSALS {
        components.responses.insert(line.1.into(), response(line).into());
    }
}

fn response(&(status, _, words, schema, headers): &Refusal) -> Response {
    let content = ContentBuilder::new().schema(Some(named(schema).into_schema()));
    let content = content.example(Some(example(status))).build();
    let response = ResponseBuilder::new().description(words).content("application/json", content);
    let headers = headers.iter();
    let response = headers.fold(with_headers_of_every_answer(response), |response, name| {
        let shown = name.trim_end_matches('?');
        response.header_ref(shown, header_ref(&name.replace('?', "-Or-Not")))
    });
    response.build()
}

fn header(shape: ApiSchema, words: &str, is_certain: bool) -> Header {
    // utoipa has no method for `required`.
    let required = is_certain.then(|| Extensions::from_iter([("required", true)]));
    let header = HeaderBuilder::new().schema(Some(shape.into_schema())).description(Some(words));
    header.style(Some(ParameterStyle::Simple)).extensions(required).build()
}

/// Headers: name, whether the header is always present, schema, description.
fn headers() -> [(&'static str, bool, ApiSchema, &'static str); 12] {
    let whole = || integer().at_least(0);
    [
        ("X-RateLimit-Limit", true, whole(), "Requests per window of 60 seconds."),
        ("X-RateLimit-Remaining", true, whole(), "Requests left in this window."),
        ("X-RateLimit-Reset", true, whole(), "Unix seconds at which the window ends."),
        (
            "X-Request-Id",
            true,
            string(),
            "The request's id in the log; a client's value of 1 to 64 visible ASCII characters is taken over.",
        ),
        (
            "Preference-Applied",
            false,
            enum_of(&["handling=strict"]),
            "Present when the request was handled strictly.",
        ),
        ("WWW-Authenticate", true, enum_of(&["Bearer"]), "How to authenticate."),
        ("Retry-After", true, integer().at_least(1), "Seconds after which trying again makes sense."),
        (
            "Retry-After-Or-Not",
            false,
            integer().at_least(1),
            "Seconds after which to retry; absent when a retry does not help.",
        ),
        ("Location", true, url(), "The new resource."),
        ("Content-Language", true, string(), "The language of the texts."),
        ("Vary", true, string(), "The request headers that the answer depends on."),
        (
            "Idempotent-Replayed",
            false,
            enum_of(&["true"]),
            "Present when this repeats the answer to an earlier request with the same Idempotency-Key. Long answers are not stored: the repeated one shows the present resource, or only its id if it was deleted. The answer to a request that changes nothing is computed again; if that is no longer possible, `data` is empty and `message` explains it.",
        ),
    ]
}

fn schemas() -> Vec<(&'static str, ApiSchema)> {
    let message = || string().says("One English sentence.");
    let request_id = || string().says("Equal to `X-Request-Id`.");
    let upsell = || {
        object()
            .has("reason", enum_of(&["feature", "limit"]))
            .has("key", string().says("The feature or the limit."))
    };
    let number = || integer().at_least(0);
    let link = || url().nullable();
    vec![
        ("Error", object().has("message", message()).has("request_id", request_id())),
        (
            "FieldErrors",
            object()
                .has("message", message().says("The first error text, and the number of the others."))
                .has(
                    "errors",
                    map_of(list_of(string()).items(1, 100)).says("Field path to texts, such as `tags.2`."),
                )
                .has("request_id", request_id()),
        ),
        (
            "PlanError",
            object()
                .has("message", message())
                .has("upsell", upsell())
                .has("limit", number().says("The limit of the plan."))
                .has("usage", number().says("The present usage."))
                .has("request_id", request_id()),
        ),
        (
            "Refusal",
            object()
                .has("message", message())
                .may_have("upsell", upsell())
                .may_have("limit", number().says("The limit of the plan."))
                .may_have("usage", number().says("The present usage."))
                .has("request_id", request_id()),
        ),
        (
            "PageLinks",
            object().has("first", url()).has("last", url()).has("prev", link()).has("next", link()),
        ),
        (
            "PageMeta",
            object()
                .has("current_page", integer().at_least(1))
                .has("per_page", integer().at_least(1))
                .has("total", number())
                .has("last_page", integer().at_least(1))
                .has(
                    "from",
                    integer()
                        .at_least(1)
                        .nullable()
                        .says("Position of the first row; null on an empty page."),
                )
                .has(
                    "to",
                    integer().at_least(1).nullable().says("Position of the last row; null on an empty page."),
                )
                .has("path", url()),
        ),
    ]
}

fn example(status: u16) -> Value {
    let message = match status {
        400 => "The request body is not valid JSON.",
        401 => "Send a valid API token as a Bearer token.",
        402 => "The plan allows 20 status pages; 20 exist.",
        403 => "This token is missing the permission 'services.create'.",
        404 => "The requested resource does not exist.",
        408 => "The request body did not arrive in time.",
        409 => "The maintenance is 'completed'; this operation needs 'scheduled'.",
        413 => "The request body is too large.",
        422 => "The smallest allowed value is 30.",
        429 => "Too many requests. Try again in 17 seconds.",
        500 => "Internal server error.",
        _ => "The service is not available at the moment.",
    };
    let mut body = json!({"message": message});
    match status {
        402 => {
            body["upsell"] = json!({"reason": "limit", "key": "statuspages"});
            body["limit"] = 20.into();
            body["usage"] = 20.into();
        }
        422 => body["errors"] = json!({"settings.interval_seconds": [message]}),
        _ => {}
    }
    body["request_id"] = "k3Vt0yYdXPq1mS8rZc2Lw".into();
    body
}
