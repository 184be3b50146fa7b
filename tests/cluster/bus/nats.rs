//! A private nats-server: the installed program with a written configuration.
//!
//! A shell keeps it. When the test process ends, however it ends, the shell's standard input closes; then it stops the
//! server.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::bus::until;

/// Set where nats-server must be there.
const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_NATS";
/// Names the program, if it is not on the path.
const PROGRAM: &str = "WATCHKEEPER_TESTS_NATS_SERVER";

/// `$1` = program, `$2` = configuration, `$3` = log, `$4` = signal that stops it.
const KEEP: &str = r#"
trap '' INT
"$1" -c "$2" -l "$3" >/dev/null 2>&1 &
server=$!
read -r signal
kill -s "${signal:-KILL}" "$server" 2>/dev/null
wait "$server" 2>/dev/null
"#;

/// A nats-server that can be stopped and started again.
pub(crate) struct NatsServer {
    program: PathBuf,
    configuration: PathBuf,
    port: u16,
    keeper: Option<Child>,
}

impl NatsServer {
    /// Starts a server; returns when it listens.
    pub(crate) async fn start(program: PathBuf, configuration: &Path, port: u16) -> Self {
        let mut server = Self { program, configuration: configuration.to_owned(), port, keeper: None };
        server.resume().await;
        server
    }

    /// Starts it again; returns when it listens.
    pub(crate) async fn resume(&mut self) {
        let keeper = Command::new("sh")
            .args(["-c", KEEP, "keep"])
            .args([&self.program, &self.configuration, &self.log()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        self.keeper = Some(keeper.expect("a shell can be started"));
        let port = self.port;
        until(&format!("nats-server listens, or says why not in {}", self.log().display()), async || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        })
        .await;
    }

    /// Ends it at once, without a chance to write anything; returns when it is gone.
    pub(crate) fn kill(&mut self) {
        let Some(mut keeper) = self.keeper.take() else { return };
        let mut input = keeper.stdin.take().expect("it is piped");
        // A shell that is gone has taken the server along.
        let _ = writeln!(input, "KILL");
        drop(input);
        let _ = keeper.wait();
    }

    /// The number of the process, while it runs: the shell's only child.
    pub(crate) fn process(&self) -> Option<u32> {
        let shell = self.keeper.as_ref()?.id();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    }

    /// Sends the process a signal by its name without `SIG`.
    pub(crate) fn signal(&self, name: &str) {
        let process = self.process().expect("it runs").to_string();
        let status =
            Command::new("sh").args(["-c", r#"kill -s "$1" "$2""#, "signal", name, &process]).status();
        assert!(status.expect("a shell can be started").success(), "{name} could not be sent");
    }

    fn log(&self) -> PathBuf {
        self.configuration.with_extension("log")
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The installed program; without it, `None` and a loud word, or a failure where it must be there.
pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os(PROGRAM).map(PathBuf::from);
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("nats-server"));
    let found = named.into_iter().chain(on_path).find(|file| file.is_file());
    if found.is_none() {
        let required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
        assert!(
            !required,
            "{REQUIRED}=1, but there is no nats-server on the path, nor does {PROGRAM} name one"
        );
        // Past the test harness, which shows what a passing test prints to nobody.
        let _ = writeln!(std::io::stderr(), "!!! nats-server is not installed: the bus is NOT TESTED");
    }
    found
}

/// A port that is free now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}
