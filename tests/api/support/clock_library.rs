//! The clock of a process of its own, by libfaketime: the wall time can be set ahead, the monotonic time goes on as it does.
//!
//! Where the library is missing it says so, and with `WATCHKEEPER_TESTS_REQUIRE_FAKETIME=1` that is a failure.

use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::support::server::Server;

/// Set where the library must be there.
const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_FAKETIME";
/// Where Debian puts it.
const FOLDERS: [&str; 2] = ["/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime"];

/// The wall clock of servers, which differs from that of the machine.
pub(crate) struct ClockLibrary {
    path: String,
    /// Says by how much.
    file: NamedTempFile,
}

impl ClockLibrary {
    /// A clock that is right at first; `None`, and a word about it, where the library is missing.
    pub(crate) fn find() -> Option<Self> {
        let paths = FOLDERS.iter().map(|folder| format!("{folder}/libfaketimeMT.so.1"));
        let Some(path) = paths.into_iter().find(|path| Path::new(path).is_file()) else {
            let is_required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
            assert!(!is_required, "{REQUIRED}=1, but libfaketime is missing: apt-get install faketime");
            // Past the test harness, which shows what a passing test prints to nobody.
            let _ = writeln!(std::io::stderr(), "!!! libfaketime is not installed: NOT TESTED");
            return None;
        };
        let clock = Self { path, file: NamedTempFile::new().unwrap() };
        clock.set_ahead(0);
        Some(clock)
    }

    /// Sets the clock this far ahead of the machine's, also for a process that runs.
    pub(crate) fn set_ahead(&self, seconds: u32) {
        // Replaced as a whole: a process may read it at any moment.
        let fresh = self.file.path().with_extension("fresh");
        std::fs::write(&fresh, format!("+{seconds}s\n")).unwrap();
        std::fs::rename(&fresh, self.file.path()).unwrap();
    }

    /// Gives later starts of this server the clock.
    pub(crate) fn give_to(&self, server: &mut Server) {
        for (name, value) in self.variables() {
            server.set(name, &value);
        }
    }

    /// The variables of a server with the clock.
    pub(crate) fn variables(&self) -> [(&'static str, String); 4] {
        let file = self.file.path().to_str().unwrap().to_owned();
        [
            ("LD_PRELOAD", self.path.clone()),
            ("FAKETIME_TIMESTAMP_FILE", file),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }
}
