//! A private PostgreSQL on a free port in a temporary folder, which a test can stop and start.
//!
//! Where the programs are missing it says so, and with `WATCHKEEPER_TESTS_REQUIRE_POSTGRES=1` that is a failure. It runs as
//! user `postgres` when the tests run as root, because PostgreSQL refuses root.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use tempfile::TempDir;

/// A database server of one test's own.
pub(crate) struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

impl Postgres {
    /// A running server; `None` where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let required =
                std::env::var("WATCHKEEPER_TESTS_REQUIRE_POSTGRES").is_ok_and(|value| value == "1");
            assert!(!required, "PostgreSQL is required, but initdb and pg_ctl are not installed");
            eprintln!("NOT TESTED: PostgreSQL is not installed");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let postgres = Self { folder: tempfile::tempdir().unwrap(), programs, port };
        if is_root() {
            let chown = Command::new("chown").arg("postgres").arg(postgres.folder.path()).status();
            assert!(chown.unwrap().success());
        }
        let data = postgres.data();
        postgres.run("initdb", &["-D", &data, "-U", "watchkeeper", "-A", "trust", "-N"]);
        postgres.start_again();
        Some(postgres)
    }

    /// How a client reaches it.
    pub(crate) fn url(&self) -> String {
        format!("postgres://watchkeeper@127.0.0.1:{}/postgres", self.port)
    }

    /// From now on connections are refused, and open ones are cut.
    pub(crate) fn stop(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }

    /// Answers again, where it answered before.
    pub(crate) fn start_again(&self) {
        let folder = self.folder.path().display();
        let options = format!("-p {} -c listen_addresses=127.0.0.1 -k {folder}", self.port);
        let log = format!("{folder}/log");
        self.run("pg_ctl", &["-D", &self.data(), "-l", &log, "-o", &options, "-w", "start"]);
    }

    /// The answer to a question with one value.
    pub(crate) fn ask(&self, question: &str) -> String {
        let output = self.psql().args(["-A", "-t", "-c", question]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn psql(&self) -> Command {
        let beside = self.programs.join("psql");
        // Some installations put only the server's programs into one folder.
        let mut command = Command::new(if beside.is_file() { beside } else { "psql".into() });
        command.args(["-q", "-d", &self.url()]);
        command
    }

    /// Holds the locks of this statement until it is told to release them.
    pub(crate) fn hold(&self, statement: &str) -> Hold {
        let mut child = self.psql().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "BEGIN; {statement}; \\echo held").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "held"), "the statement failed: {statement}");
        Hold { child, input: Some(input) }
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str]) {
        assert!(self.command(program, arguments).status().unwrap().success(), "{program} {arguments:?}");
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).current_dir(self.folder.path()).stdout(Stdio::null());
        command
    }
}

/// Locks of a transaction that waits.
pub(crate) struct Hold {
    child: Child,
    input: Option<ChildStdin>,
}

impl Hold {
    /// Ends the transaction.
    pub(crate) fn release(&mut self) {
        self.input = None;
        self.child.wait().unwrap();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The test may have stopped it before.
        let stop = ["-D", &self.data(), "-m", "immediate", "-w", "stop"];
        let _ = self.command("pg_ctl", &stop).stderr(Stdio::null()).status();
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// The folder with PostgreSQL's programs: on the path, or where Debian puts them.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin"));
    let has_both = |folder: &PathBuf| has(folder, "initdb") && has(folder, "pg_ctl");
    std::env::split_paths(&path).chain(debian).find(has_both)
}

fn has(folder: &Path, program: &str) -> bool {
    folder.join(program).is_file()
}
