//! A private PostgreSQL: made from the installed programs, on a free port, in a temporary folder.
//!
//! A shell keeps it. When the test process ends, however it ends, the shell's standard input closes; then it stops the
//! server and removes the folder. PostgreSQL refuses to run as root, so root hands it to the user `postgres`. Where the
//! programs are missing it says so, and with `WATCHKEEPER_TESTS_REQUIRE_POSTGRES=1` that is a failure.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;

/// Set where PostgreSQL must be there.
const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_POSTGRES";

/// `$1` = folder of the programs, `$2` = port, `$3` = `fsync`. Prints the server's folder when it answers.
const KEEP: &str = r#"
trap '' INT TERM
folder=$(mktemp -d) && cd "$folder" || exit 1
"$1/initdb" -D data -A trust -U postgres -E UTF8 --no-sync >initdb.log 2>&1 || { cat initdb.log >&2; exit 1; }
cat >>data/postgresql.conf <<END
port = $2
listen_addresses = '127.0.0.1'
unix_socket_directories = '$folder'
max_connections = 600
fsync = $3
END
"$1/pg_ctl" -D data -l server.log -w -t 60 start >start.log 2>&1 || { cat start.log server.log >&2; exit 1; }
echo "$folder"
cat >/dev/null
"$1/pg_ctl" -D data -m immediate -w stop >/dev/null 2>&1
cd / && rm -rf "$folder"
"#;

/// A running database server.
#[derive(Debug)]
pub(crate) struct Postgres {
    programs: PathBuf,
    folder: String,
    port: u16,
    keeper: Child,
}

impl Postgres {
    /// The server that all tests of this process share, which survives no power cut; `None` without the programs.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(|| Self::launch("off")).as_ref()
    }

    /// A server of one test's own, which that test can stop; `None` without the programs.
    pub(crate) fn start() -> Option<Self> {
        Self::launch("on")
    }

    fn launch(fsync: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            let required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
            assert!(!required, "{REQUIRED}=1, but initdb and pg_ctl are not installed");
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
            .args([&port.to_string(), fsync])
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

    /// The URL of the database that is there from the start.
    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The URL of one of its databases.
    pub(crate) fn url_of(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The port that it listens on.
    #[allow(dead_code, reason = "the tests of the cluster ask")]
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// From now on connections are refused, and open ones are cut, as by a power cut.
    pub(crate) fn stop(&self) {
        self.control(&["-m", "immediate", "stop"]);
    }

    /// Answers again, where it answered before.
    pub(crate) fn start_again(&self) {
        self.control(&["-l", "server.log", "-t", "60", "start"]);
    }

    /// From now on nothing is answered, and nothing refused: connections stay as they are.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
    }

    /// Goes on as if nothing had happened.
    pub(crate) fn thaw(&self) {
        self.signal("CONT");
    }

    /// The number of the process whose children serve connections.
    #[allow(dead_code, reason = "the tests of the cluster ask")]
    pub(crate) fn process(&self) -> u32 {
        let file = std::fs::read_to_string(format!("{}/data/postmaster.pid", self.folder));
        file.ok().and_then(|text| text.lines().next()?.trim().parse().ok()).expect("it runs")
    }

    /// Sends a signal to the server, which starts no process from then on when it is to stop, and to the processes of its
    /// connections; one of them may have ended by then.
    fn signal(&self, name: &str) {
        let order = r#"
            read -r server <"$1" && kill -s "$2" "$server" || exit 1
            for child in $(cat "/proc/$server/task/$server/children"); do
                kill -s "$2" "$child" 2>/dev/null || [ ! -e "/proc/$child" ] || exit 1
            done"#;
        let file = format!("{}/data/postmaster.pid", self.folder);
        let status = Command::new("sh").args(["-c", order, "signal", &file, name]).status();
        assert!(status.expect("a shell can be started").success(), "{name} could not be sent");
    }

    /// The answer to a question with one value.
    pub(crate) fn ask(&self, question: &str) -> String {
        self.answer("postgres", &[question])
    }

    /// Output of these statements in one of the databases, each in a transaction of its own.
    pub(crate) fn answer(&self, database: &str, statements: &[&str]) -> String {
        let mut psql = self.psql(database);
        for statement in statements {
            psql.args(["-c", statement]);
        }
        let output = psql.args(["-A", "-t", "-v", "ON_ERROR_STOP=1"]).output().expect("psql can be run");
        assert!(output.status.success(), "{statements:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it is text").trim().to_owned()
    }

    /// Holds the locks of this statement until they are released.
    pub(crate) fn hold(&self, statement: &str) -> Hold {
        self.hold_in("postgres", statement)
    }

    /// The same, in one of the databases.
    pub(crate) fn hold_in(&self, database: &str, statement: &str) -> Hold {
        let mut child = self
            .psql(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql can be run");
        let mut input = child.stdin.take().expect("it is piped");
        writeln!(input, "BEGIN; {statement}; \\echo held").expect("psql reads");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let is_held = lines.any(|line| line.expect("psql writes text") == "held");
        assert!(is_held, "the statement failed: {statement}");
        Hold { child, input: Some(input) }
    }

    fn psql(&self, database: &str) -> Command {
        let beside = self.programs.join("psql");
        // Some installations put only the server's programs into one folder.
        let mut command = Command::new(if beside.is_file() { beside } else { "psql".into() });
        command.args(["-X", "-q", "-d", &self.url_of(database)]);
        command
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

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // A shell that does not end well cannot be helped.
        let _ = self.keeper.wait();
    }
}

/// Locks of a transaction that waits.
pub(crate) struct Hold {
    child: Child,
    input: Option<ChildStdin>,
}

impl Hold {
    /// Goes on with this statement, which may have to wait; it is not waited for here.
    #[allow(dead_code, reason = "the tests of the API ask")]
    pub(crate) fn go_on(&mut self, statement: &str) {
        let input = self.input.as_mut().expect("the transaction has not ended");
        writeln!(input, "{statement};").expect("psql reads");
    }

    /// Ends the transaction.
    pub(crate) fn release(&mut self) {
        self.input = None;
        // Waiting again for an ended process is harmless.
        let _ = self.child.wait();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

/// The folder with PostgreSQL's programs: where Debian puts them, or on the path.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin")).filter(|folder| has_both(folder)).max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    debian.or_else(|| std::env::split_paths(&path).find(|folder| has_both(folder)))
}

fn has_both(folder: &Path) -> bool {
    ["initdb", "pg_ctl"].iter().all(|program| folder.join(program).is_file())
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
