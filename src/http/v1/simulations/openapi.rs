//! Describes the simulation of a service's past (an addition to the contract).

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, enveloped, example};
use crate::http::openapi::shape::{ApiSchema, instant, named, object, view};
use crate::http::v1::incident_policies::openapi::write;
use crate::http::v1::services::openapi::sent_settings;
use crate::http::v1::simulations::view::SimulationView;

const EXAMPLE: &str = include_str!("example.json");
const WORDS: &str = "Replays the stored results of the period through the rules of the engine, with the settings and the incident \
    policy of the request; nothing is stored. Omitted ones are as at present. `before` holds the recorded figures, `after` the \
    simulated ones. `fidelity` says how far to trust them: it compares a replay with the present settings to the recorded \
    status. Changes whose effect stored results cannot show are refused (422): another `config`, a longer `timeout_seconds`. \
    Other services are ignored: there is no grouping, and time in which the service was unreachable, paused, in maintenance or \
    under a status override is taken as it was. 429 while other simulations run.";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![("Simulation", view::<SimulationView<'_>>()), ("SimulateService", asked())];
    let about = "Replays stored results with other settings or incident policies.";
    ApiChapter { name: "What-if", about, schemas, operations: vec![simulate()] }
}

fn simulate() -> ApiOperation {
    let sent = json!({
        "from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z",
        "settings": {"confirmation": "all", "recovery_checks": 3}, "incident_policy": {"open_after_seconds": 120},
    });
    ApiOperation::new(
        HttpVerb::Post,
        "/v1/services/{id}/simulate",
        "simulate_service",
        "Simulate other settings of a service",
    )
    .says(WORDS)
    .takes("SimulateService", Some(sent))
    .answers(
        200,
        "Figures of the period as recorded and as simulated.",
        enveloped(named("Simulation")),
        Some(json!({"data": example(EXAMPLE)})),
    )
    .refuses(&[422, 503])
}

fn asked() -> ApiSchema {
    let policy = write()
        .says("Omitted fields are as in the present policy; `name`, `position` and `tag_id` are ignored.");
    object()
        .may_have("from", instant().says("Start; by default a day before `to`, at most 31 days."))
        .may_have("to", instant().says("End; by default now."))
        .may_have("settings", sent_settings().says("Changes to the present settings, as in an update."))
        .may_have("incident_policy", policy)
}
