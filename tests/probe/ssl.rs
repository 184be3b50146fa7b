//! Certificate checks: what they read from a chain (contract 4.2.4).

use rcgen::{CertificateParams, date_time_ymd};
use rstest::rstest;
use serde_json::{Value, json};
use watchkeeper::clock::Clock;
use watchkeeper::model::check::{CheckStatus, CheckType, ErrorCode};

use crate::support::certificates::Authority;
use crate::support::{UP, condition, down, measure, spec, toolbox, verdict};

fn long_lived(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2095, 1, 1);
}

/// A condition that holds makes the check fail; the same one negated lets it pass.
#[rstest]
#[case("metadata.days_until_expiry", "gt", "lt", json!(1000))]
#[case("metadata.chain_length", "eq", "neq", json!(2))]
#[case("metadata.issuer", "contains", "not_contains", json!("CN=Test Authority"))]
#[case("metadata.subject", "eq", "neq", json!("CN=watched"))]
#[case("metadata.cipher_suite", "contains", "not_contains", json!("TLS13_"))]
#[case("metadata.tls_version", "eq", "neq", json!("TLS 1.3"))]
#[case("metadata.dns_names", "contains", "not_contains", json!("www.example.com"))]
#[tokio::test]
async fn every_fact_can_be_tested(
    #[case] field: &str,
    #[case] operator: &str,
    #[case] negated: &str,
    #[case] value: Value,
) {
    let authority = Authority::found();
    let identity = authority.issue(&["127.0.0.1", "www.example.com"], long_lived);
    let server = identity.serve().await;
    let toolbox = authority.trusted();
    let target = server.address.to_string();
    for (operator, expected) in [(operator, down(ErrorCode::ConditionFailed)), (negated, UP)] {
        let config = json!({ "conditions": [condition(field, operator, &value)] });
        let measured = measure(&spec(CheckType::Ssl, &target, &config), &toolbox).await;
        assert_eq!(verdict(&measured), expected, "{field} {operator} {value}");
        assert!(measured.response_time.is_some() && measured.timings.tls.is_some());
    }
    let sent = server.requests();
    assert!(sent.iter().all(String::is_empty), "no application data is sent: {sent:?}");
}

#[tokio::test]
async fn an_approaching_expiry_degrades_by_default() {
    let authority = Authority::found();
    let server = authority
        .issue(&["127.0.0.1"], |params| {
            let now_s = Clock::System.now().plus_ms(13 * 86_400_000).ms() / 1000;
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after =
                date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(u64::try_from(now_s).unwrap());
        })
        .serve()
        .await;
    let check = spec(CheckType::Ssl, &server.address.to_string(), &json!({}));
    let measured = measure(&check, &authority.trusted()).await;
    assert_eq!(verdict(&measured), (CheckStatus::Degraded, Some(ErrorCode::ConditionFailed)));
}

#[tokio::test]
async fn a_closed_port_is_refused() {
    let address = crate::support::server::closed_address().await;
    let check = spec(CheckType::Ssl, &address.to_string(), &json!({}));
    let measured = measure(&check, &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::ConnectRefused));
}
