//! Files of an embedded installation that cannot be used: every command says which one, what is wrong and what to do, in one
//! line, as `serve` does; and where no installation is, no command but `serve` and `org create` makes one.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use watchkeeper::store::database::sqlite_url;

use crate::support::server::Server;

const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_MOUNT";
const CREATE_TOKEN: [&str; 6] = ["token", "create", "--org", "Default", "--name", "x"];

/// An installation whose server has stopped.
async fn stopped() -> Server {
    let mut server = Server::embedded("", &[]);
    server.terminate().await;
    server
}

/// The one line of a command that has failed.
fn output_text(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    let is_one_line = said.lines().filter(|line| line.starts_with("watchkeeper: ")).count() == 1;
    assert!(is_one_line && output.stdout.is_empty(), "{said}");
    said
}

/// Every command on the databases, on this folder; a server would listen.
fn refusals(server: &Server, folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let commands: [&[&str]; 6] = [
        &["org", "list"],
        &CREATE_TOKEN,
        &["token", "list"],
        &["location", "list"],
        &["migrate"],
        &["serve", "--listen", "127.0.0.1:0"],
    ];
    let run = |command: &[&str]| {
        let output = server.command(&[command, &["--data-dir", folder]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        output_text(&output)
    };
    commands.into_iter().map(run).collect()
}

/// Columns: what is done to the file, what is said of it, what to do.
#[rstest]
#[case::damaged(4_096, "main.db is damaged: ", "restore a backup")]
#[case::no_database(0, "main.db is not a database", "put the right file there")]
#[tokio::test]
async fn a_file_that_cannot_be_read_is_named(#[case] from: usize, #[case] wrong: &str, #[case] advice: &str) {
    let server = stopped().await;
    let file = server.data().join("main.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[from..].fill(b'Z');
    fs::write(&file, bytes).unwrap();
    for said in refusals(&server, &server.data()) {
        assert!(said.contains(wrong) && said.contains(advice), "{said}");
        assert!(!said.contains("code: ") && !said.contains("sqlite:"), "{said}");
    }
    let doctor = server.command(&["doctor", "--json", "--listen", "127.0.0.1:1"]);
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains(wrong.trim_end_matches(": ")) && told.contains(advice), "{told}");
    assert!(!told.contains("code: "), "{told}");
}

/// Another program, such as `sqlite3`, has an exclusive transaction open.
#[tokio::test]
async fn a_file_locked_by_another_program_is_named() {
    let mut server = Server::embedded("", &[("WATCHKEEPER_DATABASE__ACQUIRE_TIMEOUT_SECONDS", "1")]);
    server.terminate().await;
    let file = server.data().join("main.db");
    let holder: DatabaseConnection = sea_orm::Database::connect(sqlite_url(&file)).await.unwrap();
    for order in ["PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"] {
        holder.execute_unprepared(order).await.unwrap();
    }
    for command in [&["org", "list"][..], &CREATE_TOKEN] {
        let said = output_text(&server.command(command));
        assert!(
            said.contains("main.db is locked by another program: stop the program that uses it"),
            "{said}"
        );
    }
    holder.close().await.unwrap();
    assert!(server.command(&CREATE_TOKEN).status.success());
}

/// A disk that is full when a command opens the databases.
#[tokio::test]
async fn a_full_disk_is_named() {
    let server = stopped().await;
    let disk = tempfile::tempdir().unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(disk.path()).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        assert!(std::env::var_os(REQUIRED).is_none_or(|value| value != "1"), "{REQUIRED}=1: no tmpfs");
        let _ = writeln!(std::io::stderr(), "!!! tmpfs cannot be mounted: a full disk is NOT TESTED");
        return;
    }
    let _mounted = Mounted(disk.path().to_owned());
    let data = disk.path().join("data");
    let copied = Command::new("cp").arg("-a").args([&server.data(), &data]).status().unwrap();
    assert!(copied.success());
    let mut ballast = fs::File::create(disk.path().join("ballast")).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        while ballast.write_all(&vec![0; size]).is_ok() {}
    }
    for said in refusals(&server, &data) {
        assert!(
            said.contains(data.to_str().unwrap()) && said.contains("make room, then try again"),
            "{said}"
        );
        assert!(!said.contains("code: "), "{said}");
    }
}

/// A file system in memory, which is removed with the test.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A mistyped folder stays as it is, whichever command is given it.
#[rstest]
#[case(&["org", "list"])]
#[case(&["org", "edit", "Default", "--plan", "team"])]
#[case(&["token", "list"])]
#[case(&CREATE_TOKEN)]
#[case(&["token", "revoke", "x"])]
#[case(&["location", "list"])]
#[case(&["migrate"])]
#[case(&["notifications", "release"])]
#[case(&["backup", "--to", "copy"])]
#[case(&["doctor"])]
fn no_other_command_creates_an_installation(
    #[case] command: &[&str],
    #[values(false, true)] is_an_address: bool,
) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let mut program = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
    program.env_clear().current_dir(parent.path()).args(command).arg("--data-dir").arg(&folder);
    if is_an_address {
        program.args(["--database-url", &sqlite_url(&folder.join("main.db"))]);
    }
    let output = program.output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!output.status.success() && told.contains("there is no installation in "), "{told}");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "{told}");
}

/// It is the one way to have an organisation of one's own from the start, and says that there was none.
#[test]
fn creating_the_first_organisation_creates_an_installation() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let create = |name: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_watchkeeper"));
        program.env_clear().current_dir(parent.path()).args(["org", "create", "--name", name, "--data-dir"]);
        let output = program.arg(&folder).args(["--egress", "private-allowed"]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = create("First");
    assert!(said.contains("there was no installation") && said.contains(folder.to_str().unwrap()), "{said}");
    let said = create("Second");
    assert!(!said.contains("no installation") && said.contains("WATCHKEEPER_EGRESS"), "{said}");
    assert_eq!(create("Third"), "");
}
