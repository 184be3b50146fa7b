//! The target process that a run starts itself.

use crate::bench::kind::BenchKind;
use crate::bench::process::ChildProcess;

#[derive(Debug)]
pub(super) struct TargetProcess {
    /// The port, the same on each of the target's addresses.
    pub(super) port: u16,
    _process: ChildProcess,
}

impl TargetProcess {
    /// Starts the process and waits until it listens.
    pub(super) fn start(kind: BenchKind) -> anyhow::Result<Self> {
        let mut process = ChildProcess::start(&["bench", "target", "--type", kind.as_str()], &[])?;
        Ok(Self { port: process.port()?, _process: process })
    }
}
