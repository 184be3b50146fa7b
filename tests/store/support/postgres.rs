//! A private PostgreSQL: made from the installed programs, on a free port, in a temporary folder.
//!
//! A shell keeps it. When the test process ends, however it ends, the shell's standard input closes; then it stops the
//! server and removes the folder. PostgreSQL refuses to run as root, so root hands it to the user `postgres`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// Set where PostgreSQL must be there.
const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_POSTGRES";

/// `$1` = folder of the programs, `$2` = port. Prints the cluster's folder when the server answers.
const KEEP: &str = r#"
trap '' INT
folder=$(mktemp -d) && cd "$folder" || exit 1
"$1/initdb" -D data -A trust -U postgres -E UTF8 --no-sync >initdb.log 2>&1 || { cat initdb.log >&2; exit 1; }
cat >>data/postgresql.conf <<END
port = $2
listen_addresses = '127.0.0.1'
unix_socket_directories = '$folder'
max_connections = 200
fsync = off
END
"$1/pg_ctl" -D data -l server.log -w -t 60 start >start.log 2>&1 || { cat start.log server.log >&2; exit 1; }
echo "$folder"
cat >/dev/null
"$1/pg_ctl" -D data -m immediate -w stop >/dev/null 2>&1
cd / && rm -rf "$folder"
"#;

/// A running PostgreSQL.
#[derive(Debug)]
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: String,
    port: u16,
    keeper: Child,
}

impl Cluster {
    /// The cluster that all tests share; `None` without the programs.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// A cluster of one's own; `None` without the programs.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
            assert!(!required, "{REQUIRED}=1, but there is no /usr/lib/postgresql/*/bin/initdb");
            // Past the test harness, which shows what a passing test prints to nobody.
            let _ = writeln!(std::io::stderr(), "!!! PostgreSQL is not installed: its half is NOT TESTED");
            return None;
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        drop(listener);
        let mut keeper = unprivileged("sh")
            .args(["-c", KEEP, "keep"])
            .arg(&programs)
            .arg(port.to_string())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell can be started");
        let mut folder = String::new();
        let output = keeper.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut folder).expect("the shell writes text");
        assert!(!folder.is_empty(), "PostgreSQL does not start; what it said stands above");
        Some(Self { programs, folder: folder.trim_end().into(), port, keeper })
    }

    /// The URL of one of its databases.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Stops the server as a power cut would; returns when it is gone.
    pub(crate) fn halt(&self) {
        self.control(&["-m", "immediate", "stop"]);
    }

    /// Starts the server again; returns when it answers.
    pub(crate) fn resume(&self) {
        self.control(&["-l", "server.log", "-t", "60", "start"]);
    }

    fn control(&self, arguments: &[&str]) {
        let status = unprivileged(self.programs.join("pg_ctl"))
            .args(["-D", "data", "-w", "-s"])
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.expect("pg_ctl can be run").success(), "pg_ctl {arguments:?} failed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // Nobody can do anything about a shell that does not end well.
        let _ = self.keeper.wait();
    }
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(Result::ok).map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("initdb").is_file()).max()
}

/// A command that does not run as root.
fn unprivileged(program: impl AsRef<Path>) -> Command {
    let program = program.as_ref();
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}
