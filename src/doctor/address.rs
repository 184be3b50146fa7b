//! Checks of the public addresses: the API with its certificate, and status pages.

use std::sync::Arc;

use serde_json::Map;
use url::Url;

use crate::app;
use crate::clock::Clock;
use crate::config::Config;
use crate::doctor::finding::DoctorFinding;
use crate::model::check::{CheckOutcome, CheckStatus, CheckType, Measurement};
use crate::probe::finding::{CheckFinding, FindingValue};
use crate::probe::spec::CheckSpec;
use crate::probe::{CheckInspection, inspect, run};

/// Timeout of each check, in seconds.
const CHECK_SECONDS: u8 = 5;
/// Number of days before its expiry from which a certificate is a warning.
const CERTIFICATE_DAYS: f64 = 14.0;
/// Label below the host of the status pages that only a wildcard record resolves.
const PAGE_LABEL: &str = "watchkeeper-doctor";

/// Requests the public address of the API and checks its certificate; no findings if no address is set.
pub(super) async fn check_api_address(config: Arc<Config>) -> Vec<DoctorFinding> {
    if config.public_api_url.is_none() {
        return Vec::new();
    }
    let base = config.base_url();
    let mut findings =
        vec![judge_answer(&base, check(&config, CheckType::Http, &format!("{base}/healthz")).await)];
    let url = Url::parse(&base).ok().filter(|url| url.scheme() == "https");
    if let Some((host, port)) = url.as_ref().and_then(|url| url.host_str().zip(url.port_or_known_default())) {
        findings.push(check_certificate(&config, &format!("{host}:{port}")).await);
    }
    findings
}

fn judge_answer(base: &str, outcome: Result<CheckOutcome, String>) -> DoctorFinding {
    let name = "api address";
    let advice = "if the server runs: check the name, the proxy and the certificate of public_api_url";
    match outcome {
        Ok(CheckOutcome::Measured(Measurement { status: CheckStatus::Up, .. })) => {
            DoctorFinding::fine(name, format!("{base} answers"))
        }
        Ok(CheckOutcome::Measured(measured)) => DoctorFinding::warning(
            name,
            format!("{base} does not answer as it should: {}", reason(&measured)),
            advice,
        ),
        Ok(CheckOutcome::Unmeasured(trouble)) => DoctorFinding::unknown(
            name,
            format!("{base} cannot be asked from here: {}", trouble.as_str()),
            "check the name servers first",
        ),
        Err(problem) => DoctorFinding::problem(name, format!("{base} cannot be asked: {problem}"), advice),
    }
}

async fn check_certificate(config: &Config, target: &str) -> DoctorFinding {
    let name = "certificate";
    let inspected = async {
        let spec = CheckSpec::compile(CheckType::Ssl, target, CHECK_SECONDS, &Map::new())?;
        let toolbox = app::toolbox(config, &Clock::System, None)?;
        anyhow::Ok(inspect(&spec, &toolbox).await)
    };
    match inspected.await {
        Ok(CheckInspection { outcome: CheckOutcome::Measured(measured), findings, .. }) => {
            judge_certificate(target, &measured, &findings)
        }
        Ok(CheckInspection { outcome: CheckOutcome::Unmeasured(trouble), .. }) => {
            let observation = format!("that of {target} cannot be seen from here: {}", trouble.as_str());
            DoctorFinding::unknown(name, observation, "check the name servers first")
        }
        Err(error) => {
            DoctorFinding::unknown(name, format!("that of {target} cannot be seen: {error}"), "report it")
        }
    }
}

fn judge_certificate(target: &str, measured: &Measurement, facts: &[CheckFinding]) -> DoctorFinding {
    let (name, advice) = ("certificate", "renew the certificate of the proxy in front");
    let days = facts.iter().find_map(|fact| match (fact.field, &fact.value) {
        ("metadata.days_until_expiry", FindingValue::Number(days)) => Some(*days),
        _ => None,
    });
    match days {
        Some(days) if measured.status == CheckStatus::Up && days > CERTIFICATE_DAYS => {
            DoctorFinding::fine(name, format!("that of {target} is valid for {days} days"))
        }
        Some(days) if measured.status == CheckStatus::Up => {
            DoctorFinding::warning(name, format!("that of {target} expires in {days} days"), advice)
        }
        _ => DoctorFinding::problem(
            name,
            format!("that of {target} is not accepted: {}", reason(measured)),
            advice,
        ),
    }
}

/// Resolves a name below the host of the status pages; no findings if no host is set.
pub(super) async fn check_page_names(config: Arc<Config>) -> Vec<DoctorFinding> {
    let host = config.statuspage_host_name();
    if config.statuspage_host.is_none() || host == "localhost" {
        return Vec::new();
    }
    let target = format!("{PAGE_LABEL}.{host}");
    let mut outcomes = Vec::new();
    for record in ["A", "AAAA"] {
        let config_of_check = Map::from_iter([("dns_type".to_owned(), record.into())]);
        outcomes.push(check_with(&config, CheckType::Dns, &target, &config_of_check).await);
    }
    vec![judge_page_names(&host, &outcomes)]
}

fn judge_page_names(host: &str, outcomes: &[Result<CheckOutcome, String>]) -> DoctorFinding {
    let name = "page names";
    let is_up = |outcome: &Result<CheckOutcome, String>| {
        matches!(outcome, Ok(CheckOutcome::Measured(Measurement { status: CheckStatus::Up, .. })))
    };
    let is_down = |outcome: &Result<CheckOutcome, String>| matches!(outcome, Ok(CheckOutcome::Measured(_)));
    if outcomes.iter().any(is_up) {
        return DoctorFinding::fine(name, format!("names below {host} resolve"));
    }
    if outcomes.iter().all(is_down) {
        let observation =
            format!("names below {host} do not resolve: visitors cannot find status pages there");
        return DoctorFinding::warning(
            name,
            observation,
            format!("add a wildcard record for *.{host} that leads here"),
        );
    }
    DoctorFinding::unknown(
        name,
        format!("names below {host} cannot be looked up"),
        "check the name servers first",
    )
}

async fn check(config: &Config, check_type: CheckType, target: &str) -> Result<CheckOutcome, String> {
    check_with(config, check_type, target, &Map::new()).await
}

async fn check_with(
    config: &Config,
    check_type: CheckType,
    target: &str,
    config_of_check: &Map<String, serde_json::Value>,
) -> Result<CheckOutcome, String> {
    let spec = CheckSpec::compile(check_type, target, CHECK_SECONDS, config_of_check)
        .map_err(|error| error.to_string())?;
    let toolbox = app::toolbox(config, &Clock::System, None).map_err(|error| error.to_string())?;
    Ok(run(&spec, &toolbox).await)
}

fn reason(measured: &Measurement) -> String {
    measured.failure.as_ref().map_or_else(|| "no reason".to_owned(), |failure| failure.message.to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::finding::FindingVerdict;
    use crate::model::check::{ErrorCode, LocalFault, PhaseTimings};

    fn up() -> Measurement {
        Measurement {
            status: CheckStatus::Up,
            response_time: None,
            timings: PhaseTimings::default(),
            status_code: None,
            failure: None,
        }
    }

    fn down() -> Measurement {
        Measurement::unanswered(ErrorCode::DnsNxdomain, "The name does not exist.", PhaseTimings::default())
    }

    #[rstest]
    #[case(Ok(CheckOutcome::Measured(up())), FindingVerdict::Fine)]
    #[case(Ok(CheckOutcome::Measured(down())), FindingVerdict::Warning)]
    #[case(Ok(CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable)), FindingVerdict::Unknown)]
    #[case(Err("no address".into()), FindingVerdict::Problem)]
    fn the_response_of_the_public_address_is_judged(
        #[case] outcome: Result<CheckOutcome, String>,
        #[case] verdict: FindingVerdict,
    ) {
        assert_eq!(judge_answer("https://api.example.com", outcome).verdict, verdict);
    }

    #[rstest]
    #[case(up(), Some(40.0), FindingVerdict::Fine)]
    #[case(up(), Some(14.0), FindingVerdict::Warning)]
    #[case(down(), Some(-1.0), FindingVerdict::Problem)]
    #[case(down(), None, FindingVerdict::Problem)]
    fn a_certificate_is_judged_by_its_remaining_days(
        #[case] measured: Measurement,
        #[case] days: Option<f64>,
        #[case] verdict: FindingVerdict,
    ) {
        let fact =
            |days| CheckFinding { field: "metadata.days_until_expiry", value: FindingValue::Number(days) };
        let facts: Vec<CheckFinding> = days.map(fact).into_iter().collect();
        assert_eq!(judge_certificate("api.example.com:443", &measured, &facts).verdict, verdict);
    }

    #[rstest]
    #[case(vec![Ok(CheckOutcome::Measured(down())), Ok(CheckOutcome::Measured(up()))], FindingVerdict::Fine)]
    #[case(vec![Ok(CheckOutcome::Measured(down())), Ok(CheckOutcome::Measured(down()))], FindingVerdict::Warning)]
    #[case(vec![Ok(CheckOutcome::Measured(down())), Ok(CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable))], FindingVerdict::Unknown)]
    fn names_of_pages_resolve(
        #[case] outcomes: Vec<Result<CheckOutcome, String>>,
        #[case] verdict: FindingVerdict,
    ) {
        assert_eq!(judge_page_names("status.example.com", &outcomes).verdict, verdict);
    }

    /// Unset addresses are not requested.
    #[tokio::test]
    async fn unset_addresses_are_not_requested() {
        let config = Arc::new(Config::default());
        assert_eq!(check_api_address(Arc::clone(&config)).await, Vec::new());
        assert_eq!(check_page_names(config).await, Vec::new());
    }
}
