//! The target that a run starts itself: this very program again, as another process.
//!
//! Another process, so that its CPU time is not counted as ours. It ends when its standard input does, so it never
//! outlives the run, however that ends.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::bench::kind::Kind;

/// A running target.
#[derive(Debug)]
pub(super) struct TargetProcess {
    child: Child,
    /// Where it listens, on each of its addresses.
    pub(super) port: u16,
}

impl TargetProcess {
    /// Starts it and waits until it listens.
    pub(super) fn start(kind: Kind) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let mut child = Command::new(program)
            .args(["bench", "target", "--type", kind.as_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the target cannot be started")?;
        let mut line = String::new();
        let output = child.stdout.take().context("the target has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        match line.trim().parse() {
            Ok(port) => Ok(Self { child, port }),
            Err(_) => {
                end(&mut child);
                anyhow::bail!("the target did not say where it listens")
            }
        }
    }
}

impl Drop for TargetProcess {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself; either way it is waited for.
    let _ = child.kill();
    let _ = child.wait();
}
