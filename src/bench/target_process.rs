//! The target that a run starts itself, as another process.

use crate::bench::kind::Kind;
use crate::bench::process::Process;

/// A running target.
#[derive(Debug)]
pub(super) struct TargetProcess {
    /// The port on which it listens, on each of its addresses.
    pub(super) port: u16,
    _process: Process,
}

impl TargetProcess {
    /// Starts it and waits until it listens.
    pub(super) fn start(kind: Kind) -> anyhow::Result<Self> {
        let mut process = Process::start(&["bench", "target", "--type", kind.as_str()], &[])?;
        Ok(Self { port: process.port()?, _process: process })
    }
}
