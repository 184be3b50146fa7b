//! Our own network is gone (reliability 10): no verdict about anybody, whatever the address of the target.
//!
//! In a network namespace with a pair of virtual interfaces, whose ends are taken down.

use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use watchkeeper::model::check::{CheckOutcome, CheckType, ErrorCode, LocalFault};
use watchkeeper::probe::run;
use watchkeeper::probe::spec::CheckSpec;

use crate::support::namespace::{inside, ip, may_make_namespaces};
use crate::support::{down, measure, spec, toolbox, verdict};

/// An absent neighbour: the subnet is routed, and no one answers.
const ABSENT: &str = "10.77.0.2";

fn lay_cable() {
    ip("link add near type veth peer name far");
    ip("addr add 10.77.0.1/24 dev near");
    ip("link set near up");
    ip("link set far up");
}

fn check(check_type: CheckType, target: &str) -> CheckSpec {
    let mut check = spec(check_type, target, &json!({}));
    check.timeout = Duration::from_secs(1);
    check
}

#[rstest]
#[case::the_interface_is_down("link set near down")]
#[case::the_address_is_gone("addr del 10.77.0.1/24 dev near")]
#[case::the_cable_is_pulled("link set far down")]
fn a_lost_local_network_reports_no_target_down(#[case] accident: &'static str) {
    if !may_make_namespaces() {
        return;
    }
    inside(move || async move {
        lay_cable();
        let toolbox = toolbox();
        let measured = measure(&check(CheckType::Tcp, &format!("{ABSENT}:80")), &toolbox).await;
        let code = measured.failure.as_ref().unwrap().code;
        assert!(matches!(code, ErrorCode::ConnectTimeout | ErrorCode::ConnectUnreachable), "{code:?}");
        ip(accident);
        for (check_type, target) in [
            (CheckType::Tcp, format!("{ABSENT}:80")),
            (CheckType::Http, format!("http://{ABSENT}/")),
            (CheckType::Ssl, format!("{ABSENT}:443")),
            (CheckType::Icmp, ABSENT.to_owned()),
        ] {
            let outcome = run(&check(check_type, &target), &toolbox).await;
            assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::NetworkDown), "{check_type:?}");
        }
    });
}

#[test]
fn a_refusing_target_is_down_even_without_a_network() {
    if !may_make_namespaces() {
        return;
    }
    inside(|| async {
        let measured = measure(&check(CheckType::Tcp, "127.0.0.1:9"), &toolbox()).await;
        assert_eq!(verdict(&measured), down(ErrorCode::ConnectRefused));
    });
}
