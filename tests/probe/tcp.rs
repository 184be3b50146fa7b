//! TCP checks and how any check connects (contract 4.2.2 `ip_version`, 4.8 `connect_*`).

use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use watchkeeper::model::check::{CheckOutcome, CheckType, ErrorCode, LocalFault};
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use crate::support::server::{Blackhole, Server, closed_address};
use crate::support::{UP, condition, down, measure, offline, public_only, spec, toolbox, verdict};

#[tokio::test]
async fn a_connection_that_opens_is_up() {
    let server = Server::start(|_, _| async {}).await;
    let measured = measure(&spec(CheckType::Tcp, &server.address.to_string(), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), UP);
    let timings = measured.timings;
    assert_eq!(measured.response_time, timings.total);
    assert!(timings.connect.is_some() && timings.dns.is_none() && timings.tls.is_none());
}

#[tokio::test]
async fn a_closed_port_is_refused() {
    let target = closed_address().await.to_string();
    let measured = measure(&spec(CheckType::Tcp, &target, &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::ConnectRefused));
    assert_eq!(measured.response_time, None);
    assert!(measured.timings.connect.is_none() && measured.timings.total.is_some());
}

#[tokio::test]
async fn a_silent_address_times_out() {
    let hole = Blackhole::dig().await;
    let mut check = spec(CheckType::Tcp, &hole.address.to_string(), &json!({}));
    check.timeout = Duration::from_millis(300);
    let measured = measure(&check, &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::ConnectTimeout));
    let total_us = measured.timings.total.unwrap().get();
    assert!((300_000..550_000).contains(&total_us), "{total_us}");
}

#[tokio::test]
async fn a_private_address_is_blocked_for_public_only_egress() {
    let server = Server::start(|_, _| async {}).await;
    let check = spec(CheckType::Tcp, &server.address.to_string(), &json!({}));
    assert_eq!(verdict(&measure(&check, &public_only()).await), down(ErrorCode::TargetBlocked));
}

#[rstest]
#[case("169.254.169.254:80")]
#[case("[fe80::1]:80")]
#[case("[::ffff:169.254.169.254]:80")]
#[case("0.0.0.0:80")]
#[case("255.255.255.255:80")]
#[tokio::test]
async fn metadata_and_link_local_are_blocked_everywhere(#[case] target: &str) {
    let check = spec(CheckType::Tcp, target, &json!({}));
    assert_eq!(verdict(&measure(&check, &toolbox()).await), down(ErrorCode::TargetBlocked));
}

#[rstest]
#[case("eq", down(ErrorCode::ConditionFailed))]
#[case("neq", UP)]
#[tokio::test]
async fn conditions_use_the_number_of_addresses(
    #[case] operator: &str,
    #[case] expected: (watchkeeper::model::check::CheckStatus, Option<ErrorCode>),
) {
    let server = Server::start(|_, _| async {}).await;
    let config = json!({ "conditions": [condition("metadata.resolved_ip_count", operator, &json!(1))] });
    let check = spec(CheckType::Tcp, &server.address.to_string(), &config);
    assert_eq!(verdict(&measure(&check, &toolbox()).await), expected);
}

#[tokio::test]
async fn a_literal_of_the_wrong_family_has_no_address() {
    let server = Server::start(|_, _| async {}).await;
    let check = spec(CheckType::Tcp, &server.address.to_string(), &json!({ "ip_version": "ipv6" }));
    assert_eq!(verdict(&measure(&check, &toolbox()).await), down(ErrorCode::DnsNoRecords));
}

#[tokio::test]
async fn connections_start_from_the_configured_source() {
    let server = Server::start(|stream, visit| async move {
        // A connection that was reset meanwhile has no peer any more.
        let peer = stream.peer_addr().map(|peer| peer.ip().to_string());
        visit.note(peer.unwrap_or_else(|error| error.to_string()));
    })
    .await;
    let config = ToolboxConfig { source_address: Some("127.0.0.9".parse().unwrap()), ..offline() };
    let check = spec(CheckType::Tcp, &server.address.to_string(), &json!({}));
    assert_eq!(verdict(&measure(&check, &Toolbox::new(config).unwrap()).await), UP);
}

/// A source address that this machine does not have is a local fault.
#[tokio::test]
async fn a_foreign_source_address_is_a_local_fault() {
    let server = Server::start(|_, _| async {}).await;
    let config = ToolboxConfig { source_address: Some("192.0.2.1".parse().unwrap()), ..offline() };
    let check = spec(CheckType::Tcp, &server.address.to_string(), &json!({}));
    let outcome = watchkeeper::probe::run(&check, &Toolbox::new(config).unwrap()).await;
    assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::NoPorts));
}

/// A name server that does not run: whatever the name, the result is unknown.
#[tokio::test]
async fn a_dead_resolver_is_a_local_fault() {
    let config = ToolboxConfig { dns_servers: vec![closed_address().await], ..offline() };
    let mut check = spec(CheckType::Tcp, "shop.example:80", &json!({}));
    check.timeout = Duration::from_millis(600);
    let outcome = watchkeeper::probe::run(&check, &Toolbox::new(config).unwrap()).await;
    assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable));
}

#[tokio::test]
async fn the_hosts_file_answers_without_any_server() {
    let server = Server::start(|_, _| async {}).await;
    let target = format!("localhost:{}", server.address.port());
    let measured = measure(&spec(CheckType::Tcp, &target, &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), UP);
    assert!(measured.timings.dns.is_some());
}
