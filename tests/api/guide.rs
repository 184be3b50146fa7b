//! Guides, followed literally: their blocks are typed into one shell. For alerting (docs/alerting.md), and for backups
//! (docs/operations.md).

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::server::binary;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
const PROGRAMS: [&str; 5] = ["bash", "curl", "jq", "openssl", "python3"];

/// A part of a guide whose blocks of `bash` are typed.
struct GuidePart {
    file: &'static str,
    heading: &'static str,
    blocks: usize,
}

impl GuidePart {
    fn script(&self) -> String {
        let guide = std::fs::read_to_string(Path::new(DOCS).join(self.file)).unwrap();
        let part = guide.split("\n## ").find(|part| part.starts_with(self.heading)).unwrap();
        let blocks: Vec<&str> =
            part.split("```bash\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
        assert_eq!(blocks.len(), self.blocks, "steps of {}", self.file);
        format!("set -eu\ntrap 'kill $(jobs -p); wait' EXIT\n{}", blocks.concat())
    }

    /// Types it in this folder; `None` where a program is missing.
    fn type_in(&self, folder: &Path) -> Option<Output> {
        if let Some(program) = missing() {
            assert!(std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_GUIDE").is_none(), "{program} is missing");
            eprintln!("NOT TESTED: {} needs {program}", self.file);
            return None;
        }
        let known = std::env::var_os("PATH").unwrap();
        let own = binary().parent().map(Path::to_path_buf);
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&known))).unwrap();
        let run = Command::new("timeout")
            .args(["--kill-after=5", "180", "bash", "-c", &self.script()])
            .current_dir(folder)
            .env("PATH", path)
            .envs(["PORT", "HOOK_PORT", "MAIL_PORT"].map(|name| (name, free_port())))
            .output();
        Some(run.unwrap())
    }
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
fn the_commands_of_the_guide_deliver_a_webhook_and_a_mail() {
    let part = GuidePart { file: "alerting.md", heading: "Ten minutes", blocks: 6 };
    let folder = tempfile::tempdir().unwrap();
    let Some(run) = part.type_in(folder.path()) else { return };
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

#[test]
fn the_commands_of_the_guide_back_up_and_restore() {
    let part = GuidePart { file: "operations.md", heading: "Once through", blocks: 5 };
    let folder = tempfile::tempdir().unwrap();
    let Some(run) = part.type_in(folder.path()) else { return };
    let said = String::from_utf8_lossy(&run.stdout);
    let log = std::fs::read_to_string(folder.path().join("watchkeeper.log")).unwrap_or_default();
    assert!(run.status.success(), "{said}\n{}\n{log}", String::from_utf8_lossy(&run.stderr));
    let expected = [
        "Shop",
        "Backed up to backups/monday.tar.zst: ",
        "The secret key is in it",
        "The backup is whole: ",
        "Restored into data: ",
        "Start it:  watchkeeper serve --data-dir data",
        "No messages are sent until you run:",
        "this installation was restored from a backup",
        "Messages are sent again.",
        "Shop",
    ];
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{said}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line} is not {expected}");
    }
}
