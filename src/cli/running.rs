//! Shared code of commands that run until they are stopped: signals, the end of a process that cannot stop in order, and
//! output.

use std::io::Write as _;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::supervise::EXIT_CODE;

/// The interval at which the watchdog of the supervisor polls.
pub(super) const POLL_EVERY: Duration = Duration::from_secs(1);

/// The signals that stop the process: SIGTERM and SIGINT.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Ends a process that cannot stop in order.
pub(super) fn end_at_once(reason: Option<&str>) {
    if let Some(reason) = reason {
        complain(reason);
    }
    std::process::exit(EXIT_CODE.into());
}

/// Writes one line to standard error; a write error is ignored.
pub(super) fn complain(reason: &str) {
    let _ = writeln!(std::io::stderr(), "watchkeeper: {reason}; ending with exit code {EXIT_CODE}");
}

/// Writes text to standard output, which may be closed.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
