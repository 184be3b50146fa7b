//! Our own starvation is never the target's (reliability 10): a process without descriptors sees nothing, and says so.
//!
//! A binary of its own, because the limit holds for the whole process.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

use std::fs::File;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use watchkeeper::model::check::{CheckStatus, CheckType, Outcome, Trouble};
use watchkeeper::probe;
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

/// Enough for the runtime and the test itself.
const DESCRIPTORS: u64 = 64;

#[tokio::test]
async fn a_process_without_descriptors_reports_no_target_down() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let toolbox = Toolbox::new(ToolboxConfig {
        dns_servers: vec!["127.0.0.1:9".parse().unwrap()],
        ..ToolboxConfig::default()
    })
    .unwrap();
    let config = json!({});
    let compile =
        |check_type, target: &str| CheckSpec::compile(check_type, target, 1, config.as_object().unwrap());
    let checks = [
        compile(CheckType::Tcp, &address.to_string()).unwrap(),
        compile(CheckType::Http, &format!("http://{address}/")).unwrap(),
        compile(CheckType::Ssl, &address.to_string()).unwrap(),
    ];
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, most).unwrap();
    let hoard: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    for check in checks.iter().cycle().take(300) {
        let outcome = probe::run(check, &toolbox).await;
        assert_eq!(outcome, Outcome::Unmeasured(Trouble::NoDescriptors));
    }
    drop(hoard);
    match probe::run(&checks[0], &toolbox).await {
        Outcome::Measured(measured) => assert_eq!(measured.status, CheckStatus::Up),
        Outcome::Unmeasured(trouble) => panic!("still {trouble:?}"),
    }
}
