//! `watchkeeper check TYPE TARGET`: runs one check and shows it as a small picture or as JSON.
//!
//! Target and configuration are parsed by the code that parses services, so both accept the same. Exit code: 0 up, 1
//! down or degraded, 2 wrong usage, 3 when this machine could not make the check.

mod findings;
mod hint;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::app;
use crate::cli::printable::printable;
use crate::cli::{USAGE, picture};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::definition::DefinitionCompiler;
use crate::engine::registry::LocationRegistry;
use crate::http::v1::services::settings::SettingsContext;
use crate::id::Id;
use crate::model::check::{CheckOutcome, CheckStatus, CheckType, ErrorCode, Measurement, Micros};
use crate::model::location::Location;
use crate::model::secret::{KEY_LENGTH, SecretSealer};
use crate::model::service::Service;
use crate::model::vault::ServiceVault;
use crate::probe::CheckInspection;
use crate::probe::catalogue::definition;
use crate::probe::spec::CheckSpec;
use crate::probe::target::parse_target;

const UP: u8 = 0;
const DOWN_OR_DEGRADED: u8 = 1;
/// Exit code when the check says nothing about the target.
const COULD_NOT_CHECK: u8 = 3;

const LONG_ABOUT: &str = "\
Check a target once, now, and show the verdict with a bar per phase. Exit code: 0 up, 1 down or degraded, 2 wrong usage, \
3 when this machine could not look.

Examples:
  watchkeeper check http https://example.com
  watchkeeper check tcp example.com:5432
  watchkeeper check dns example.com --config '{\"dns_type\":\"MX\"}'
  watchkeeper check icmp 127.0.0.1
  watchkeeper check http https://example.com --config '{\"conditions\":[{\"field\":\"json.status\",\"operator\":\"neq\",\"value\":\"ok\",\"status\":\"down\"}]}'
  watchkeeper check ssl example.com";

/// Check a target once, now
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct CheckArguments {
    /// http, tcp, dns, icmp or ssl
    #[arg(value_name = "TYPE", value_parser = probed_type)]
    check_type: CheckType,
    /// URL, host:port or host, as the type needs it
    target: String,
    /// The check's configuration, as settings.config of the API
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = json_object)]
    config: Map<String, Value>,
    /// Seconds that the check may take
    #[arg(long = "timeout", value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=60))]
    timeout_seconds: u8,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

fn probed_type(text: &str) -> Result<CheckType, String> {
    let known = text.parse::<CheckType>().ok().filter(|check_type| check_type.is_probed());
    known.ok_or_else(|| "allowed: http, tcp, dns, icmp, ssl".into())
}

fn json_object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it must be a JSON object such as {\"method\":\"HEAD\"}".into()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

pub(super) async fn run(arguments: &CheckArguments, config: &Config) -> anyhow::Result<ExitCode> {
    let spec = match spec(arguments) {
        Ok(spec) => spec,
        Err(problems) => {
            for problem in problems {
                eprintln!("watchkeeper: {}", printable(&problem));
            }
            return Ok(ExitCode::from(USAGE));
        }
    };
    let toolbox = app::toolbox(config, &Clock::System, None)?;
    let CheckInspection { outcome, findings, .. } = crate::probe::inspect(&spec, &toolbox).await;
    let target = &arguments.target;
    if matches!(&outcome, CheckOutcome::Measured(measurement) if is_blocked(measurement)) {
        eprintln!("watchkeeper: not checked: --egress or the list of forbidden addresses does not allow it");
    }
    if arguments.as_json {
        let mut shown = to_json(target, &outcome);
        if !findings.is_empty() {
            shown["metadata"] = findings::to_json(&findings);
        }
        println!("{shown}");
    } else {
        if !matches!(&outcome, CheckOutcome::Measured(measurement) if is_blocked(measurement)) {
            print!("{}", picture::draw(target, &outcome, std::io::stdout().is_terminal()));
        }
        print!("{}", findings::draw(&findings));
    }
    Ok(ExitCode::from(exit_code(&outcome)))
}

/// Exit code of an outcome. A forbidden address was not checked, whatever status a service would get.
fn exit_code(outcome: &CheckOutcome) -> u8 {
    match outcome {
        CheckOutcome::Measured(measurement) if is_blocked(measurement) => COULD_NOT_CHECK,
        CheckOutcome::Measured(Measurement { status: CheckStatus::Up, .. }) => UP,
        CheckOutcome::Measured(_) => DOWN_OR_DEGRADED,
        CheckOutcome::Unmeasured(_) => COULD_NOT_CHECK,
    }
}

fn is_blocked(measurement: &Measurement) -> bool {
    measurement.failure.as_ref().is_some_and(|failure| failure.code == ErrorCode::TargetBlocked)
}

/// Returns the check specification that the engine would use for a service with this target and configuration.
fn spec(arguments: &CheckArguments) -> Result<Arc<CheckSpec>, Vec<String>> {
    let (check_type, target) = (arguments.check_type, arguments.target.trim());
    if let Err(form) = parse_target(check_type, target) {
        return Err(vec![format!("TARGET \"{target}\": {form}")]);
    }
    let sealer = throw_away_sealer();
    let (organisation, id) = (Id::random(), Id::random());
    let keep = Config::default().compat.secret_placeholder;
    let active = ["local".to_owned()];
    let context = SettingsContext {
        check_type,
        min_interval_seconds: 1,
        active_probes: &active,
        vault: ServiceVault { sealer: &sealer, organisation, service: id, keep: &keep },
    };
    let interval_seconds = definition(check_type).interval.map_or(60, |bounds| bounds.default);
    let sent = json!({
        "interval_seconds": interval_seconds,
        "timeout_seconds": arguments.timeout_seconds,
        "config": arguments.config,
    });
    let settings = context.read(&sent, None).map_err(|errors| {
        let describe = |path: &str, rule| {
            let path = path.trim_start_matches("settings.config.");
            let hint = hint::hint(definition(check_type), &arguments.config, path, rule);
            format!("--config: {path}: {rule}{hint}")
        };
        errors.iter().map(|(path, rule)| describe(path, rule)).collect::<Vec<_>>()
    })?;
    let at = Clock::System.now();
    let service = Service {
        key: 0,
        id,
        organisation: 0,
        name: "check".into(),
        check_type,
        target: Some(target.to_owned()),
        settings: Some(settings),
        configured_at: Some(at),
        pause: None,
        status_override: None,
        created_at: at,
        updated_at: at,
        revision: 0,
        in_planned_maintenance: false,
    };
    let compiler = DefinitionCompiler {
        sealer,
        roster: Arc::new(LocationRegistry::new(vec![here()])),
        limits: Config::default().limits.engine,
    };
    let compiled = compiler.spec_of(&service, organisation).map_err(|error| vec![error.to_string()])?;
    compiled.ok_or_else(|| vec!["this type has nothing to check".to_owned()])
}

fn throw_away_sealer() -> SecretSealer {
    SecretSealer::new(&[0; KEY_LENGTH])
}

fn here() -> Location {
    Location {
        code: "local".parse().expect("the constant has the form of a code"),
        name: "local".into(),
        place: String::new(),
        country_code: "ZZ".into(),
    }
}

fn to_json(target: &str, outcome: &CheckOutcome) -> Value {
    let milliseconds = |phase: Option<Micros>| phase.map(|phase| f64::from(phase.get()) / 1_000.0);
    match outcome {
        CheckOutcome::Unmeasured(trouble) => {
            json!({"target": target, "status": "no_data", "trouble": trouble.as_str()})
        }
        CheckOutcome::Measured(seen) => json!({
            "target": target,
            "status": if is_blocked(seen) { "no_data" } else { seen.status.as_str() },
            "response_time_ms": milliseconds(seen.response_time),
            "status_code": seen.status_code,
            "error_code": seen.failure.as_ref().map(|failure| failure.code.as_str()),
            "error_message": seen.failure.as_ref().map(|failure| failure.message.as_ref()),
            "timings": {
                "dns": milliseconds(seen.timings.dns),
                "connect": milliseconds(seen.timings.connect),
                "tls": milliseconds(seen.timings.tls),
                "ttfb": milliseconds(seen.timings.ttfb),
                "transfer": milliseconds(seen.timings.transfer),
                "total": milliseconds(seen.timings.total),
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::check::{CheckFailure, LocalFault, PhaseTimings};

    fn measured(status: CheckStatus, code: Option<ErrorCode>) -> CheckOutcome {
        CheckOutcome::Measured(Measurement {
            status,
            failure: code.map(|code| Box::new(CheckFailure::new(code, "said why"))),
            response_time: None,
            status_code: None,
            timings: PhaseTimings::default(),
        })
    }

    #[rstest]
    #[case(measured(CheckStatus::Up, None), 0)]
    #[case(measured(CheckStatus::Degraded, Some(ErrorCode::ConditionFailed)), 1)]
    #[case(measured(CheckStatus::Down, Some(ErrorCode::ConnectRefused)), 1)]
    #[case(measured(CheckStatus::Down, Some(ErrorCode::TargetBlocked)), 3)]
    #[case(CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable), 3)]
    fn the_exit_code_distinguishes_a_failed_from_an_unmeasured_check(
        #[case] outcome: CheckOutcome,
        #[case] code: u8,
    ) {
        assert_eq!(exit_code(&outcome), code);
    }
}
