//! The guide to being told (docs/alerting.md), followed literally: its blocks are typed into one shell.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::support::server::binary;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/alerting.md");
const PROGRAMS: [&str; 5] = ["bash", "curl", "jq", "openssl", "python3"];

/// The blocks of the part "Ten minutes".
fn blocks() -> String {
    let guide = std::fs::read_to_string(GUIDE).unwrap();
    let part = guide.split("\n## ").find(|part| part.starts_with("Ten minutes")).unwrap();
    let blocks: Vec<&str> =
        part.split("```bash\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 6, "the guide has six steps");
    blocks.concat()
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Returns the first program of the guide that is missing.
fn missing() -> Option<&'static str> {
    let is_there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    PROGRAMS.into_iter().find(|program| !is_there(program))
}

#[test]
fn the_guide_leads_to_a_webhook_and_a_mail() {
    if let Some(program) = missing() {
        assert!(std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_GUIDE").is_none(), "{program} is missing");
        eprintln!("NOT TESTED: the guide needs {program}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::join_paths(
        binary()
            .parent()
            .map(Path::to_path_buf)
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let script = format!("set -eu\ntrap 'kill $(jobs -p); wait' EXIT\n{}", blocks());
    let run = Command::new("timeout")
        .args(["--kill-after=5", "180", "bash", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("PORT", free_port())
        .env("HOOK_PORT", free_port())
        .env("MAIL_PORT", free_port())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let log = std::fs::read_to_string(folder.path().join("demo/watchkeeper.log")).unwrap_or_default();
    assert!(run.status.success(), "{said}\n{}\n{log}", String::from_utf8_lossy(&run.stderr));
    let received = std::fs::read_to_string(folder.path().join("demo/received.txt")).unwrap();
    let events: Vec<&str> = received.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(events, ["channel.test", "incident.opened", "incident.resolved"], "{said}");
    assert!(said.contains(r#"["incident.resolved","delivered",204,"#), "{said}");
    assert!(said.contains(r#"["incident.resolved","delivered",250,"#), "{said}");
    let mails = std::fs::read_to_string(folder.path().join("demo/mails.txt")).unwrap();
    let subjects: Vec<&str> = mails.lines().filter(|line| line.starts_with("Subject: ")).collect();
    assert_eq!(subjects.len(), 3, "{mails}");
    assert!(
        subjects[1].starts_with("Subject: Shop") && subjects[2].starts_with("Subject: Resolved: Shop"),
        "{mails}"
    );
    assert!(mails.contains("To: you@example.org") && mails.contains("Services: Shop"), "{mails}");
}
