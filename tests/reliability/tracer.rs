//! strace at a running server: system calls that fail, or kill the process, at a chosen moment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use crate::support::server::Server;

const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_STRACE";

/// True if strace can be attached here; prints a line if it cannot.
pub(crate) fn is_possible() -> bool {
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let is_attached = Tracer::try_attach(sleeper.id(), &["-e", "trace=none"]).is_some();
    // It may not have lived as long.
    let _ = sleeper.kill();
    let _ = sleeper.wait();
    if is_attached {
        return true;
    }
    let is_required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
    assert!(!is_required, "{REQUIRED}=1, but strace is not installed or may not trace");
    // Past the test harness, which shows what a passing test prints to nobody.
    let _ = writeln!(std::io::stderr(), "!!! strace cannot trace here: failing system calls are NOT TESTED");
    false
}

/// strace, attached to a server until it is dropped or the server has ended.
pub(crate) struct Tracer {
    child: Child,
}

impl Tracer {
    /// Attaches to every thread of the server and injects this (see `-e inject` of strace) into these system calls.
    pub(crate) fn attach(server: &Server, calls: &str, injected: &str) -> Self {
        let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:{injected}"));
        let tracer = Self::try_attach(server.process(), &["-e", &trace, "-e", &inject]);
        tracer.unwrap_or_else(|| panic!("strace could not attach to inject {inject}"))
    }

    /// `None` when strace is missing or may not attach.
    fn try_attach(process: u32, options: &[&str]) -> Option<Self> {
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-p", &process.to_string()]).args(options);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()?;
        let mut said = BufReader::new(child.stderr.take()?).lines();
        let is_attached = said.by_ref().map_while(Result::ok).any(|line| line.contains("attached"));
        let tracer = Self { child };
        // It waits until its output is read.
        std::thread::spawn(move || said.for_each(drop));
        is_attached.then_some(tracer)
    }

    /// Lets the server run on as before.
    pub(crate) fn detach(self) {
        drop(self);
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // Not by SIGTERM: strace would wait for each thread that it lets go. If the server is just dying, that can be the
        // first one, which cannot end before strace has seen the others end. The kernel lets all of them go at once.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
