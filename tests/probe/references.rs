//! A location without network detects it by its reference targets, reports no target down, and recovers.
//!
//! In a network namespace with a cable to another one, which is the gateway and has the targets.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use tokio::task::LocalSet;
use tokio::time::Instant;
use watchkeeper::engine::location::attempt;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, CheckType, LocalFault};
use watchkeeper::probe::endpoint::Host;
use watchkeeper::probe::prober::LocalProber;
use watchkeeper::probe::references::{ImpairmentMonitor, NetworkReference, ReferenceSelection};
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::Toolbox;

use crate::support::dns_server::DnsServer;
use crate::support::namespace::{Peer, inside, ip, may_make_namespaces};
use crate::support::{offline, spec};

/// The gateway, and behind it the targets.
const GATEWAY: &str = "10.77.0.2";
const FAR: &str = "10.88.0.1";
/// An absent neighbour.
const ABSENT: &str = "10.77.0.9";

/// A location at one end of the cable, and what is at the other one.
struct Scene {
    peer: Peer,
    references: Arc<ImpairmentMonitor>,
    prober: LocalProber,
}

impl Scene {
    fn lay(wanted: ReferenceSelection) -> Self {
        let peer = Peer::start();
        peer.lay_cable("near", "10.77.0.1/24", "far", &format!("{GATEWAY}/24"));
        peer.ip(&format!("addr add {FAR}/32 dev lo"));
        peer.serve(&format!("{FAR}:80"));
        ip(&format!("route add default via {GATEWAY}"));
        let toolbox = Arc::new(Toolbox::new(offline()).unwrap());
        let references = Arc::new(ImpairmentMonitor::new("fra".into(), wanted, Arc::clone(&toolbox)));
        let prober = LocalProber::with_monitor(Arc::clone(&references), toolbox);
        Self { peer, references, prober }
    }

    /// Starts to check the references, and gives them some time to respond.
    async fn begin(&self) {
        tokio::task::spawn_local(Arc::clone(&self.references).run());
        tokio::time::sleep(Duration::from_millis(300)).await;
    }

    async fn run_check(&self, check_type: CheckType, target: &str) -> CheckOutcome {
        attempt(&self.prober, Arc::new(check(check_type, target))).await
    }

    async fn check_far(&self) -> CheckOutcome {
        self.run_check(CheckType::Http, &format!("http://{FAR}/")).await
    }

    async fn until(&self, is_impaired: bool, within: Duration) {
        let since = Instant::now();
        while self.references.is_impaired() != is_impaired {
            assert!(since.elapsed() < within, "impaired: {is_impaired}? Not after {within:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn check(check_type: CheckType, target: &str) -> CheckSpec {
    let mut check = spec(check_type, target, &json!({}));
    check.timeout = Duration::from_secs(1);
    check
}

fn status(outcome: &CheckOutcome) -> Option<CheckStatus> {
    match outcome {
        CheckOutcome::Measured(measured) => Some(measured.status),
        CheckOutcome::Unmeasured(_) => None,
    }
}

fn test<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    if may_make_namespaces() {
        inside(|| async move { LocalSet::new().run_until(test()).await });
    }
}

/// Fault of the network and its repair: on this side, with `peer ` before it on the other one.
#[rstest]
#[case::the_interface_is_down("link set near down", "link set near up")]
#[case::the_cable_is_pulled("peer link set far down", "peer link set far up")]
#[case::everything_is_dropped_silently(
    "peer route add blackhole 10.77.0.1/32",
    "peer route del blackhole 10.77.0.1/32"
)]
fn a_cut_off_location_reports_no_target_down_and_recovers(
    #[case] accident: &'static str,
    #[case] repair: &'static str,
) {
    test(move || async move {
        let scene = Scene::lay(ReferenceSelection::System);
        let happen = |what: &str| match what.strip_prefix("peer ") {
            Some(there) => scene.peer.ip(there),
            None => ip(what),
        };
        scene.begin().await;
        assert_eq!(status(&scene.check_far().await), Some(CheckStatus::Up));
        let absent = format!("{ABSENT}:80");
        let missed = scene.run_check(CheckType::Tcp, &absent).await;
        assert_eq!(status(&missed), Some(CheckStatus::Down), "the network works: the target is to blame");

        let cut_at = Instant::now();
        happen(accident);
        while cut_at.elapsed() < Duration::from_secs(6) {
            for (check_type, target) in [
                (CheckType::Http, format!("http://{FAR}/")),
                (CheckType::Tcp, absent.clone()),
                (CheckType::Icmp, FAR.to_owned()),
                (CheckType::Ssl, format!("{FAR}:443")),
            ] {
                let outcome = scene.run_check(check_type, &target).await;
                let expected =
                    [LocalFault::LocationImpaired, LocalFault::NetworkDown].map(CheckOutcome::Unmeasured);
                assert!(expected.contains(&outcome), "{check_type:?}: {outcome:?}");
            }
            if cut_at.elapsed() > Duration::from_secs(4) {
                assert!(scene.references.is_impaired(), "it knows within seconds");
            }
        }
        happen(repair);
        if accident.contains("near") {
            // The route went with the interface.
            ip(&format!("route add default via {GATEWAY}"));
        }
        scene.until(false, Duration::from_secs(5)).await;
        assert_eq!(status(&scene.check_far().await), Some(CheckStatus::Up));
        let missed = scene.run_check(CheckType::Tcp, &absent).await;
        assert_eq!(status(&missed), Some(CheckStatus::Down), "failures are believed again");
    });
}

#[test]
fn a_target_on_this_machine_needs_no_network() {
    test(|| async {
        let scene = Scene::lay(ReferenceSelection::System);
        scene.begin().await;
        assert_eq!(status(&scene.check_far().await), Some(CheckStatus::Up));
        scene.peer.ip("route add blackhole 10.77.0.1/32");
        assert_eq!(scene.check_far().await, CheckOutcome::Unmeasured(LocalFault::LocationImpaired));
        for here in ["127.0.0.1:9", "10.77.0.1:9", "localhost:9"] {
            let refused = scene.run_check(CheckType::Tcp, here).await;
            assert_eq!(status(&refused), Some(CheckStatus::Down), "{here}: {refused:?}");
        }
    });
}

/// Gateways of IPv6 have addresses that are good on one interface alone.
#[test]
fn a_gateway_of_ipv6_is_a_reference_too() {
    test(|| async {
        let scene = Scene::lay(ReferenceSelection::System);
        ip(&format!("route del default via {GATEWAY}"));
        scene.peer.ip("-6 addr add fe80::77/64 dev far nodad");
        ip("-6 route add default via fe80::77 dev near");
        // The address of this side is checked for doubles first, for a second or two.
        scene.begin().await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        scene.peer.ip("link set far down");
        let missed = scene.run_check(CheckType::Tcp, &format!("{ABSENT}:80")).await;
        assert_eq!(missed, CheckOutcome::Unmeasured(LocalFault::NetworkDown));
        scene.until(true, Duration::from_secs(4)).await;
    });
}

/// Nothing is known of a reference that has never answered.
#[test]
fn a_gateway_that_ignores_pings_does_not_impair_the_location() {
    test(|| async {
        let scene = Scene::lay(ReferenceSelection::System);
        scene.peer.set("ipv4/icmp_echo_ignore_all", "1");
        scene.begin().await;
        scene.peer.ip("addr del 10.88.0.1/32 dev lo");
        let started = Instant::now();
        let missed = scene.check_far().await;
        assert_eq!(status(&missed), Some(CheckStatus::Down), "{missed:?}");
        assert!(
            started.elapsed() < Duration::from_millis(1_900),
            "nobody waits for a look that says nothing"
        );
        assert!(!scene.references.is_impaired());
    });
}

/// A reference, and the port that the peer opens to be it.
#[rstest]
#[case::a_port_that_is_opened("10.88.0.1:81", &["10.88.0.1:81"], true)]
#[case::a_refusal_is_no_answer("10.88.0.1:82", &[], false)]
#[case::a_host("10.88.0.1", &[], true)]
#[case::another_host("10.88.0.7", &[], false)]
fn a_reference_is_proven_only_by_its_own_response(
    #[case] reference: &'static str,
    #[case] served: &'static [&'static str],
    #[case] is_proof: bool,
) {
    test(move || async move {
        let host = |text: &str| Host::parse(text).unwrap();
        let reference = match reference.split_once(':') {
            Some((address, port)) => NetworkReference::Port(host(address), port.parse().unwrap()),
            None => NetworkReference::Host(host(reference)),
        };
        let scene = Scene::lay(ReferenceSelection::These(vec![reference]));
        served.iter().for_each(|address| scene.peer.serve(address));
        scene.begin().await;
        scene.peer.ip("route add blackhole 10.77.0.1/32");
        let missed = scene.run_check(CheckType::Tcp, &format!("{FAR}:80")).await;
        let expected = if is_proof { None } else { Some(CheckStatus::Down) };
        assert_eq!(status(&missed), expected, "{missed:?}");
        assert_eq!(scene.references.is_impaired(), is_proof);
    });
}

/// A name server that dies takes the names with it, and nothing else, as long as something else answers.
#[test]
fn a_dead_resolver_reports_no_target_down_and_no_location_impaired() {
    test(|| async {
        let scene = Scene::lay(ReferenceSelection::System);
        let silent = DnsServer::silent().await;
        let dns_servers = vec![silent.address];
        let config = watchkeeper::probe::toolbox::ToolboxConfig { dns_servers, ..offline() };
        let toolbox = Arc::new(Toolbox::new(config).unwrap());
        let references =
            Arc::new(ImpairmentMonitor::new("fra".into(), ReferenceSelection::System, Arc::clone(&toolbox)));
        let prober = LocalProber::with_monitor(Arc::clone(&references), toolbox);
        let scene = Scene { references, prober, ..scene };
        scene.begin().await;
        let named = scene.run_check(CheckType::Http, "http://shop.test/").await;
        assert_eq!(named, CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable));
        assert_eq!(status(&scene.check_far().await), Some(CheckStatus::Up));
        assert!(!scene.references.is_impaired());
    });
}

/// Five hundred failing checks of a location with a network share its reference checks, at most one a second.
#[rstest]
#[case::that_are_refused("10.88.0.1:9")]
#[case::that_see_silence("10.88.0.9:9")]
fn failing_checks_share_one_reference_check_a_second(#[case] target: &'static str) {
    test(move || async move {
        let scene = Rc::new(Scene::lay(ReferenceSelection::These(vec![NetworkReference::Port(
            Host::parse(FAR).unwrap(),
            80,
        )])));
        scene.begin().await;
        assert_eq!(status(&scene.check_far().await), Some(CheckStatus::Up));
        let since = Instant::now();
        let failing = (0..500).map(|_| {
            let scene = Rc::clone(&scene);
            tokio::task::spawn_local(async move {
                while since.elapsed() < Duration::from_secs(3) {
                    let refused = scene.run_check(CheckType::Tcp, target).await;
                    assert_eq!(status(&refused), Some(CheckStatus::Down), "{refused:?}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            })
        });
        for ended in futures_util::future::join_all(failing).await {
            ended.unwrap();
        }
        let (looks, seconds) = (scene.references.check_count(), since.elapsed().as_secs());
        assert!(looks <= seconds + 3, "{looks} looks in {seconds} s");
    });
}
