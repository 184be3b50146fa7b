//! Shared code of the probe tests: real listeners, certificates, and short ways to run one check.

pub(crate) mod certificates;
pub(crate) mod dns_server;
pub(crate) mod namespace;
pub(crate) mod responder;
pub(crate) mod restricted_key;
pub(crate) mod server;

use std::time::Duration;

use serde_json::{Value, json};
use watchkeeper::egress::EgressPolicy;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, CheckType, ErrorCode, Measurement};
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

/// A toolbox with an unused name server: tests with literal addresses never query it.
pub(crate) fn offline() -> ToolboxConfig {
    ToolboxConfig { dns_servers: vec!["127.0.0.1:9".parse().unwrap()], ..ToolboxConfig::default() }
}

/// A toolbox for targets with literal addresses.
pub(crate) fn toolbox() -> Toolbox {
    Toolbox::new(offline()).unwrap()
}

/// The same, for an installation that strangers use.
pub(crate) fn public_only() -> Toolbox {
    let config = ToolboxConfig { egress: EgressPolicy::PublicOnly, ..offline() };
    Toolbox::new(config).unwrap()
}

/// A check as the API would store it.
pub(crate) fn spec(check_type: CheckType, target: &str, config: &Value) -> CheckSpec {
    let config = config.as_object().unwrap();
    CheckSpec::compile(check_type, target, 5, config).unwrap()
}

/// An HTTP check with a short timeout.
pub(crate) fn http(target: &str, config: &Value) -> CheckSpec {
    let mut spec = spec(CheckType::Http, target, config);
    spec.timeout = Duration::from_secs(2);
    spec
}

/// One condition as it is stored.
pub(crate) fn condition(field: &str, operator: &str, value: &Value) -> Value {
    json!({ "field": field, "operator": operator, "value": value, "status": "down" })
}

/// Runs a check that must result in a measurement.
pub(crate) async fn measure(spec: &CheckSpec, toolbox: &Toolbox) -> Measurement {
    match watchkeeper::probe::run(spec, toolbox).await {
        CheckOutcome::Measured(measurement) => measurement,
        CheckOutcome::Unmeasured(trouble) => panic!("could not look: {trouble:?}"),
    }
}

/// The status of a measurement and its error code.
pub(crate) fn verdict(measurement: &Measurement) -> (CheckStatus, Option<ErrorCode>) {
    let code = measurement.failure.as_ref().map(|failure| failure.code);
    (measurement.status, code)
}

/// Down for this reason.
pub(crate) const fn down(code: ErrorCode) -> (CheckStatus, Option<ErrorCode>) {
    (CheckStatus::Down, Some(code))
}

/// Up, and nothing else to say.
pub(crate) const UP: (CheckStatus, Option<ErrorCode>) = (CheckStatus::Up, None);
