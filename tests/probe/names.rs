//! Targets with names: what resolution ends with (contract 4.8, `dns_*`), and which families are tried (4.2.2).

use std::net::SocketAddr;
use std::time::Duration;

use hickory_proto::op::ResponseCode;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use watchkeeper::egress::EgressPolicy;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, CheckType, ErrorCode, LocalFault};
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use crate::support::dns_server::{Answer, DnsServer, EdnsRefusal, address};
use crate::support::server::{Blackhole, Server};
use crate::support::{UP, condition, down, http, measure, spec, verdict};

const PARTIAL: (CheckStatus, Option<ErrorCode>) = (CheckStatus::Degraded, Some(ErrorCode::DualstackPartial));

fn asking(server: SocketAddr, egress: EgressPolicy) -> Toolbox {
    let config = ToolboxConfig { dns_servers: vec![server], egress, ..ToolboxConfig::default() };
    Toolbox::new(config).unwrap()
}

fn own(server: &DnsServer) -> Toolbox {
    asking(server.address, EgressPolicy::PrivateAllowed)
}

fn tcp(port: u16, config: &Value) -> CheckSpec {
    let mut check = spec(CheckType::Tcp, &format!("shop.test:{port}"), config);
    check.timeout = Duration::from_secs(1);
    check
}

fn addresses(texts: &[&str]) -> Answer {
    Answer::Records(texts.iter().map(|text| address(text)).collect())
}

/// Contract 4.8: one row a code; the check that needs the name is down, and never connected.
#[rstest]
#[case(Answer::Code(ResponseCode::NXDomain), ErrorCode::DnsNxdomain)]
#[case(Answer::Code(ResponseCode::ServFail), ErrorCode::DnsServfail)]
#[case(Answer::Code(ResponseCode::Refused), ErrorCode::DnsServfail)]
#[case(Answer::Code(ResponseCode::NoError), ErrorCode::DnsNoRecords)]
#[case(Answer::Garbage, ErrorCode::DnsServfail)]
#[case(Answer::Silence, ErrorCode::DnsTimeout)]
#[tokio::test]
async fn a_name_without_address_has_its_code(#[case] answer: Answer, #[case] code: ErrorCode) {
    let server = DnsServer::start([("shop.test", answer)]).await;
    let measured = measure(&tcp(80, &json!({})), &own(&server)).await;
    assert_eq!(verdict(&measured), down(code));
    assert!(measured.timings.connect.is_none());
    assert!(measured.timings.total.unwrap().get() < 1_250_000, "{:?}", measured.timings);
}

/// RFC 6891, section 7: names are resolved by servers that know no EDNS.
#[rstest]
#[case(EdnsRefusal::Code(ResponseCode::FormErr))]
#[case(EdnsRefusal::Code(ResponseCode::NotImp))]
#[case(EdnsRefusal::Code(ResponseCode::ServFail))]
#[case(EdnsRefusal::BareHeader)]
#[case(EdnsRefusal::BadVersion)]
#[case(EdnsRefusal::Silence)]
#[tokio::test]
async fn a_server_without_edns_resolves_names(#[case] refusal: EdnsRefusal) {
    let target = Server::start(|_, _| async {}).await;
    let server = DnsServer::start([("shop.test", Answer::Plain(refusal, vec![address("127.0.0.1")]))]).await;
    let measured = measure(&tcp(target.address.port(), &json!({})), &own(&server)).await;
    assert_eq!(verdict(&measured), UP);
}

/// "A local fault is never the target's": no query is answered, not even the canary.
#[tokio::test]
async fn unresponsive_name_servers_are_a_local_fault() {
    let server = DnsServer::silent().await;
    let outcome = watchkeeper::probe::run(&tcp(80, &json!({})), &own(&server)).await;
    assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable));
}

#[tokio::test]
async fn a_response_is_cached_for_its_ttl() {
    let target = Server::start(|_, _| async {}).await;
    let server = DnsServer::start([("shop.test", addresses(&["127.0.0.1"]))]).await;
    let toolbox = own(&server);
    for _ in 0..3 {
        let check = tcp(target.address.port(), &json!({ "ip_version": "ipv4" }));
        assert_eq!(verdict(&measure(&check, &toolbox).await), UP);
    }
    assert_eq!(server.questions().len(), 1);
}

/// Columns: addresses, where the server listens, configuration, expected.
#[rstest]
#[case::both(&["::1", "127.0.0.1"], "127.0.0.1:0", json!({}), UP)]
#[case::dead_ipv6(&["::1", "127.0.0.1"], "127.0.0.1:0", json!({ "ip_version": "ipv4" }), UP)]
#[case::only_the_dead_one(&["::1", "127.0.0.1"], "127.0.0.1:0", json!({ "ip_version": "ipv6" }), down(ErrorCode::ConnectRefused))]
#[case::no_such_family(&["127.0.0.1"], "127.0.0.1:0", json!({ "ip_version": "ipv6" }), down(ErrorCode::DnsNoRecords))]
#[case::dead_ipv4(&["::1", "127.0.0.1"], "[::1]:0", json!({}), UP)]
#[case::half_dead(&["::1", "127.0.0.1"], "127.0.0.1:0", json!({ "smart_dualstack": true }), PARTIAL)]
#[case::other_half_dead(&["::1", "127.0.0.1"], "[::1]:0", json!({ "smart_dualstack": true }), PARTIAL)]
#[case::one_family_only(&["127.0.0.1"], "127.0.0.1:0", json!({ "smart_dualstack": true }), UP)]
#[case::both_alive(&["::1", "127.0.0.1"], "[::]:0", json!({ "smart_dualstack": true }), UP)]
#[case::not_asked(&["::1", "127.0.0.1"], "127.0.0.1:0", json!({ "smart_dualstack": true, "ip_version": "ipv4" }), UP)]
#[tokio::test]
async fn families_are_tried_as_configured(
    #[case] texts: &[&str],
    #[case] listen: &str,
    #[case] config: Value,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let target = Server::start_on(listen, |_, _| async {}).await;
    let server = DnsServer::start([("shop.test", addresses(texts))]).await;
    let check = tcp(target.address.port(), &config);
    assert_eq!(verdict(&measure(&check, &own(&server)).await), expected);
}

#[tokio::test]
async fn a_down_condition_outweighs_a_dead_address_family() {
    let target = Server::answering("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n").await;
    let server = DnsServer::start([("shop.test", addresses(&["::1", "127.0.0.1"]))]).await;
    let url = format!("http://shop.test:{}/", target.address.port());
    let mut config = json!({ "smart_dualstack": true });
    let measured = measure(&http(&url, &config), &own(&server)).await;
    assert_eq!(verdict(&measured), down(ErrorCode::ConditionFailed));
    config["conditions"] = json!([condition("status_code", "eq", &json!(200))]);
    let measured = measure(&http(&url, &config), &own(&server)).await;
    assert_eq!((verdict(&measured), measured.status_code), (PARTIAL, Some(503)));
}

/// A family that swallows packets costs a head start, not the timeout.
#[tokio::test]
async fn a_silent_address_does_not_delay_the_next_one() {
    let hole = Blackhole::dig().await;
    let listen = format!("127.0.0.2:{}", hole.address.port());
    let _target = Server::start_on(&listen, |_, _| async {}).await;
    let server = DnsServer::start([("shop.test", addresses(&["127.0.0.1", "127.0.0.2"]))]).await;
    let measured = measure(&tcp(hole.address.port(), &json!({})), &own(&server)).await;
    assert_eq!(verdict(&measured), UP);
    assert!(measured.timings.connect.unwrap().get() < 500_000, "{:?}", measured.timings);
}

/// Reliability 28: the resolved address is classified, not the name.
#[rstest]
#[case(&["127.0.0.1"], EgressPolicy::PublicOnly)]
#[case(&["::1"], EgressPolicy::PublicOnly)]
#[case(&["10.0.0.1"], EgressPolicy::PublicOnly)]
#[case(&["169.254.169.254"], EgressPolicy::PrivateAllowed)]
#[case(&["64:ff9b::a9fe:a9fe"], EgressPolicy::PrivateAllowed)]
#[case(&["fd00:ec2::254", "169.254.169.254"], EgressPolicy::PrivateAllowed)]
#[tokio::test]
async fn a_name_cannot_bypass_the_egress_gate(#[case] texts: &[&str], #[case] policy: EgressPolicy) {
    let server = DnsServer::start([("shop.test", addresses(texts))]).await;
    let measured = measure(&tcp(80, &json!({})), &asking(server.address, policy)).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TargetBlocked));
    // A tenant learns nothing about the inside of our network.
    let message = measured.failure.unwrap().message.to_string();
    assert!(texts.iter().all(|address| !message.contains(address)), "{message}");
}

#[tokio::test]
async fn a_redirect_to_a_name_with_a_forbidden_address_is_blocked() {
    let target = Server::start(|mut stream, visit| async move {
        visit.request(&mut stream).await;
        let response = b"HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(response).await.unwrap();
    })
    .await;
    let server = DnsServer::start([("evil.test", addresses(&["169.254.169.254"]))]).await;
    let measured = measure(&http(&target.url("/"), &json!({})), &own(&server)).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TargetBlocked));
    assert!(measured.timings.dns.is_some() && measured.timings.connect.is_some());
}
