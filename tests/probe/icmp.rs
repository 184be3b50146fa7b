//! ICMP checks (contract 4.2.4 `icmp`, reliability 11) on loopback: real sockets, real packets.
//!
//! Where this machine permits no ICMP sockets, each test asserts that the check then is not measured. The tests with
//! forged replies also need a network namespace, which a user with raw sockets usually may create.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use rstest::rstest;
use serde_json::{Value, json};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::time::Instant;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, CheckType, ErrorCode, LocalFault, Measurement};
use watchkeeper::probe::run;
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use crate::support::dns_server::{Answer, DnsServer, address};
use crate::support::namespace::{inside, ip};
use crate::support::responder::{Manner, Responder};
use crate::support::{UP, condition, down, public_only, spec, toolbox, verdict};

/// Set for a test that runs itself again without privileges.
const STRIPPED: &str = "WATCHKEEPER_TEST_STRIPPED";

fn may_open(kind: Type) -> bool {
    Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4)).is_ok()
}

fn icmp(target: &str, config: &Value) -> CheckSpec {
    let mut spec = spec(CheckType::Icmp, target, config);
    spec.timeout = Duration::from_secs(1);
    spec
}

/// The measurement, or nothing on a machine that permits no ICMP; then the outcome must say so.
async fn measured(check: &CheckSpec, toolbox: &Toolbox) -> Option<Measurement> {
    match run(check, toolbox).await {
        CheckOutcome::Measured(measurement) => Some(measurement),
        CheckOutcome::Unmeasured(trouble) => {
            assert!(!may_open(Type::RAW) && !may_open(Type::DGRAM), "{trouble:?}");
            assert_eq!(trouble, LocalFault::NotPermitted);
            None
        }
    }
}

#[rstest]
#[case("127.0.0.1")]
#[case("127.1.2.3")]
#[case("localhost")]
#[tokio::test]
async fn a_host_that_replies_is_up(#[case] target: &str) {
    let start = Instant::now();
    if let Some(measured) = measured(&icmp(target, &json!({"ip_version": "ipv4"})), &toolbox()).await {
        assert_eq!(verdict(&measured), UP);
        assert!(measured.response_time.is_some() && measured.response_time < measured.timings.total);
        assert!(start.elapsed() < Duration::from_millis(500), "it must not wait when all replies are in");
    }
}

#[tokio::test]
async fn a_host_is_pinged_over_ipv6() {
    let has_ipv6 = std::net::UdpSocket::bind("[::1]:0").is_ok();
    let outcome = run(&icmp("::1", &json!({})), &toolbox()).await;
    let is_up = matches!(&outcome, CheckOutcome::Measured(measured) if verdict(measured) == UP);
    let may_ping = may_open(Type::RAW) || may_open(Type::DGRAM);
    assert_eq!(is_up, has_ipv6 && may_ping, "{outcome:?}");
}

/// Packets to the IPv6 address of the target are sent, without a reply.
const SILENT: &[&str] = &["-6 route add fd00:1::1 dev lo"];
/// This machine has no way to the IPv6 address of the target.
const NO_ROUTE: &[&str] = &[];
/// The cable that leads to it is pulled.
const PULLED: &[&str] = &[
    "link add near type veth peer name far",
    "addr add fd00:1::2/64 dev near nodad",
    "link set near up",
    "link set far up",
    "link set far down",
];
const PARTIAL: (CheckStatus, Option<ErrorCode>) = (CheckStatus::Degraded, Some(ErrorCode::DualstackPartial));

/// Contract 4.2.2: `auto` is content with one family, `smart_dualstack` is not. A family that we have lost our own way to
/// is not the target's.
#[rstest]
#[case::one_suffices("auto", false, SILENT, UP)]
#[case::both_are_watched("auto", true, SILENT, PARTIAL)]
#[case::one_is_asked_for("ipv4", true, SILENT, UP)]
#[case::we_have_no_route("auto", true, NO_ROUTE, UP)]
#[case::our_cable_is_pulled("auto", true, PULLED, UP)]
fn a_dead_address_family_counts_only_when_both_are_required(
    #[case] ip_version: &'static str,
    #[case] smart_dualstack: bool,
    #[case] network: &'static [&str],
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    if !may_open(Type::RAW) {
        return assert_not_raw();
    }
    inside(move || async move {
        network.iter().for_each(|step| ip(step));
        let _alive = Responder::start("127.0.0.2", Manner::Truthful);
        let addresses = [address("127.0.0.2"), address("fd00:1::1")];
        let server = DnsServer::start([("a.test", Answer::Records(addresses.into()))]).await;
        let config = ToolboxConfig { dns_servers: vec![server.address], ..ToolboxConfig::default() };
        let toolbox = Toolbox::new(config).unwrap();
        let check = icmp("a.test", &json!({"ip_version": ip_version, "smart_dualstack": smart_dualstack}));
        let measured = measured(&check, &toolbox).await.unwrap();
        assert_eq!(verdict(&measured), expected);
        assert!(measured.timings.dns.is_some());
    });
}

/// A machine without a route to any IPv6 address cannot say whether the target is alive.
#[test]
fn a_family_without_a_route_of_our_own_is_not_measured() {
    if !may_open(Type::RAW) {
        return assert_not_raw();
    }
    inside(|| async {
        let outcome = run(&icmp("fd00:1::1", &json!({})), &toolbox()).await;
        assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::NetworkDown));
    });
}

#[rstest]
#[case("metadata.packets_received", "eq", json!(3))]
#[case("metadata.packet_loss_pct", "eq", json!(0))]
#[case("metadata.max_rtt_ms", "gt", json!(0))]
#[case("response_time_ms", "gt", json!(0))]
#[tokio::test]
async fn replies_become_facts(#[case] field: &str, #[case] operator: &str, #[case] value: Value) {
    let conditions = [condition(field, operator, &value)];
    if let Some(measured) = measured(&icmp("127.0.0.1", &json!({"conditions": conditions})), &toolbox()).await
    {
        assert_eq!(verdict(&measured), down(ErrorCode::ConditionFailed));
    }
}

/// Contract 4.2.1: addresses are a matter of policy when the check runs. Needs no socket.
#[rstest]
#[case("127.0.0.1")]
#[case("169.254.169.254")]
#[case("::ffff:127.0.0.1")]
#[tokio::test]
async fn a_forbidden_address_is_not_pinged(#[case] target: &str) {
    let outcome = run(&icmp(target, &json!({})), &public_only()).await;
    assert!(
        matches!(&outcome, CheckOutcome::Measured(measured) if verdict(measured) == down(ErrorCode::TargetBlocked)),
        "{outcome:?}"
    );
}

/// Reliability 11. Four threads with their own runtimes, as the engine has them, share one toolbox.
#[test]
fn a_thousand_services_on_one_address_each_get_their_own_verdict() {
    let toolbox = Arc::new(toolbox());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let toolbox = Arc::clone(&toolbox);
            std::thread::spawn(move || {
                let mut check = icmp("127.0.0.1", &json!({}));
                check.timeout = Duration::from_secs(5);
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(join_all((0..250).map(|_| measured(&check, &toolbox))))
            })
        })
        .collect();
    let measured: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(measured.len(), 1000);
    for measured in measured.into_iter().flatten() {
        assert_eq!(verdict(&measured), UP);
    }
}

#[test]
fn replies_to_one_service_do_not_help_another() {
    if !may_open(Type::RAW) {
        return assert_not_raw();
    }
    inside(|| async {
        let _alive = Responder::start("127.0.0.2", Manner::Truthful);
        let toolbox = toolbox();
        let (up, silent) = (icmp("127.0.0.2", &json!({})), icmp("127.0.0.3", &json!({})));
        let checks = (0..500).flat_map(|_| [&up, &silent]);
        let outcomes = join_all(checks.map(|check| measured(check, &toolbox))).await;
        for pair in outcomes.chunks(2) {
            assert_eq!(verdict(pair[0].as_ref().unwrap()), UP);
            assert_eq!(verdict(pair[1].as_ref().unwrap()), down(ErrorCode::IcmpNoReply));
        }
    });
}

/// Reliability 11: rejected, forged, damaged or late is not up.
#[rstest]
#[case(Manner::WrongToken)]
#[case(Manner::WrongSequence)]
#[case(Manner::WrongIdentifier)]
#[case(Manner::WrongChecksum)]
#[case(Manner::Mirror)]
#[case(Manner::FromElsewhere)]
#[case(Manner::ThreeLate)]
#[case(Manner::Unreachable(1))]
#[case(Manner::Unreachable(3))]
#[case(Manner::Unreachable(10))]
#[case(Manner::Unreachable(13))]
fn an_invalid_reply_is_not_up(#[case] manner: Manner) {
    if !may_open(Type::RAW) {
        return assert_not_raw();
    }
    inside(move || async move {
        let _liar = Responder::start("127.0.0.2", manner);
        let toolbox = toolbox();
        let mut check = icmp("127.0.0.2", &json!({}));
        check.timeout = Duration::from_millis(400);
        // The second check meets what was left over by the first.
        for _ in 0..2 {
            let start = Instant::now();
            let measured = measured(&check, &toolbox).await.unwrap();
            assert_eq!(verdict(&measured), down(ErrorCode::IcmpNoReply));
            assert_eq!(measured.response_time, None);
            assert!(start.elapsed() < Duration::from_millis(650), "{:?}", start.elapsed());
        }
    });
}

#[test]
fn duplicates_count_once() {
    if !may_open(Type::RAW) {
        return assert_not_raw();
    }
    inside(|| async {
        let _echoing = Responder::start("127.0.0.2", Manner::Thrice);
        let conditions = [condition("metadata.packets_received", "neq", &json!(3))];
        let check = icmp("127.0.0.2", &json!({"conditions": conditions}));
        assert_eq!(verdict(&measured(&check, &toolbox()).await.unwrap()), UP);
    });
}

#[test]
fn a_lost_packet_degrades_after_a_limited_wait() {
    if !may_open(Type::RAW) {
        return assert_not_raw();
    }
    inside(|| async {
        let _lossy = Responder::start("127.0.0.2", Manner::ButTheFirst);
        let mut check = icmp("127.0.0.2", &json!({}));
        check.timeout = Duration::from_secs(60);
        let start = Instant::now();
        let measured = measured(&check, &toolbox()).await.unwrap();
        let degraded = (CheckStatus::Degraded, Some(ErrorCode::ConditionFailed));
        assert_eq!(verdict(&measured), degraded);
        let message = &measured.failure.unwrap().message;
        assert!(message.ends_with("(measured 33.333)"), "{message}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}

/// Without raw sockets and without ping sockets there is no verdict. Runs itself again in a user namespace of its
/// own, in which nobody has a privilege over the network.
#[test]
fn without_the_privilege_nothing_is_measured() {
    if may_open(Type::RAW) || may_open(Type::DGRAM) {
        assert!(std::env::var_os(STRIPPED).is_none(), "the namespace still permits ICMP");
        let name = "icmp::without_the_privilege_nothing_is_measured";
        let status = Command::new("unshare")
            .arg("--user")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(STRIPPED, "1")
            .status()
            .unwrap();
        assert!(status.success(), "{status}");
    } else {
        assert_not_raw();
    }
}

/// On a machine without raw sockets: either ping sockets do, or nothing is measured.
fn assert_not_raw() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(run(&icmp("127.0.0.1", &json!({})), &toolbox()));
    match outcome {
        CheckOutcome::Measured(measured) => {
            assert!(may_open(Type::DGRAM));
            assert_eq!(verdict(&measured), UP);
        }
        CheckOutcome::Unmeasured(trouble) => assert_eq!(trouble, LocalFault::NotPermitted),
    }
}
