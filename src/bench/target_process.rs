//! The target process that a run starts itself.

use crate::bench::kind::Kind;
use crate::bench::process::Process;

/// A running target process.
#[derive(Debug)]
pub(super) struct TargetProcess {
    /// Port on each of its addresses.
    pub(super) port: u16,
    _process: Process,
}

impl TargetProcess {
    /// Starts the process and waits until it listens.
    pub(super) fn start(kind: Kind) -> anyhow::Result<Self> {
        let mut process = Process::start(&["bench", "target", "--type", kind.as_str()], &[])?;
        Ok(Self { port: process.port()?, _process: process })
    }
}
