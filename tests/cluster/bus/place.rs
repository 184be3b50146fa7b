//! A machine in another place: a process that is a location, with a data folder of its own.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::bus::Bus;
use crate::support::server::{Server, binary};

/// The server of an engine node on this bus.
pub(crate) fn engine(bus: &Bus) -> Server {
    let settings = bus.node_settings(0);
    Server::embedded("", &settings.each_ref().map(|(name, value)| (*name, &**value)))
}

/// Makes a location; returns the join token.
pub(crate) fn invited(engine: &Server, code: &str) -> String {
    let made = engine.command_json(&["location", "create", "--code", code, "--name", code]);
    made["join_token"].as_str().unwrap().to_owned()
}

/// The process, killed at the end.
pub(crate) struct Place {
    folder: TempDir,
    process: Child,
}

impl Place {
    /// A machine that becomes the location of this token, or says why not in its log.
    pub(crate) fn joining(token: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let process = command(&folder).args(["--join", token]).spawn().unwrap();
        Self { folder, process }
    }

    /// Ends the process as a power cut would, and starts it again on the same data.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.process = command(&self.folder).spawn().unwrap();
    }

    /// Ends the process as a power cut would.
    pub(crate) fn kill(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Its exit code, once it has ended.
    pub(crate) fn ended(&mut self) -> Option<Option<i32>> {
        self.process.try_wait().unwrap().map(|status| status.code())
    }

    /// What it has said.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- what the location said\n{}", self.log());
        }
    }
}

fn command(folder: &TempDir) -> Command {
    let log = File::options().create(true).append(true).open(folder.path().join("log")).unwrap();
    let mut command = Command::new(binary());
    command.env_clear().env("WATCHKEEPER_DATA_DIR", folder.path().join("data"));
    command.env("WATCHKEEPER_EGRESS", "private-allowed").arg("probe");
    command.stdout(Stdio::null()).stderr(log);
    command
}
