//! Starts this program as a child process that never outlives the run.
//!
//! The CPU time of a child is not counted as that of the run. A child is killed when its handle is dropped.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

/// Clock ticks per second in `/proc/PID/stat`; always 100 on Linux.
const TICKS_PER_SECOND: u64 = 100;

/// A child process; killed on drop.
#[derive(Debug)]
pub(super) struct ChildProcess(Child);

impl ChildProcess {
    /// Starts this program with these arguments.
    pub(super) fn start(arguments: &[&str], variables: &[(&str, &str)]) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let mut command = Command::new(program);
        command.args(arguments).envs(variables.iter().copied());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Ok(Self(child.with_context(|| format!("cannot start {}", arguments.join(" ")))?))
    }

    /// Reads the first line of output, which is the port that the process listens on.
    pub(super) fn port(&mut self) -> anyhow::Result<u16> {
        let output = self.0.stdout.take().context("the process has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        line.trim().parse().context("the process did not say where it listens")
    }

    /// Returns true if the process runs.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Returns the CPU time used so far; `None` without `/proc`.
    pub(super) fn cpu(&self) -> Option<Duration> {
        let file = Path::new("/proc").join(self.0.id().to_string()).join("stat");
        cpu_in(&std::fs::read_to_string(file).ok()?)
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // The process may have ended by itself; in either case it is waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns user and system time: fields 14 and 15, counted from the end of the name, which may contain blanks.
fn cpu_in(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let spent = ticks()? + ticks()?;
    Some(Duration::from_millis(spent * 1_000 / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_after_the_process_name() {
        let stat = "12 (a (strange) name) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 9 0 1 1 1";
        assert_eq!(cpu_in(stat), Some(Duration::from_secs(2)));
        assert_eq!(cpu_in("12 (cut"), None);
    }
}
