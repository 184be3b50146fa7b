//! Describes trials of checks (an addition to the contract).

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{named, view};
use crate::http::v1::services::openapi::tried;
use crate::http::v1::trials::view::TrialView;

const EXAMPLE: &str = include_str!("example.json");
const WORDS: &str = "Runs one check at once, on the server that answers, and stores nothing. The body is that of `POST /v1/services`; \
    `tags` and `depends_on` are ignored. With `service_id` it is that of an update of this service, whose stored secrets are used \
    only for the scheme, host and port of its stored target; with another one they must be sent (422). A timeout of more than 30 \
    seconds is cut to 30. Needs `services.create` or `services.edit`. `Idempotency-Key` has no effect. 429 while four trials of the organisation run.";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![("Trial", view::<TrialView<'_>>()), ("TryService", tried())];
    let about = "Tries a check before it is stored.";
    ApiChapter { name: "Trials", about, schemas, operations: vec![run()] }
}

fn run() -> ApiOperation {
    let sent = json!({
        "name": "Shop", "check_type": "http", "target": "https://shop.example.com/health",
        "settings": {"interval_seconds": 60, "config": {"conditions": [
            {"field": "status_code", "operator": "neq", "value": 200, "status": "down"},
            {"field": "response_time_ms", "operator": "gt", "value": 800, "status": "degraded"},
        ]}},
    });
    ApiOperation::new(HttpVerb::Post, "/v1/trials", "run_trial", "Try a check")
        .says(WORDS)
        .takes("TryService", Some(sent))
        .answers(
            200,
            "What the check has found.",
            enveloped(named("Trial")),
            Some(json!({"data": example(EXAMPLE)})),
        )
        .refuses(&[422])
}
