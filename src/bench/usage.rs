//! Resource usage of this process: CPU time of all its threads, and resident memory.
//!
//! CPU time is from `getrusage` (user and system, microseconds); memory is the `VmRSS` line of `/proc/self/status`,
//! which only Linux has.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// Returns the CPU time of this process since its start.
pub(super) fn cpu() -> anyhow::Result<Duration> {
    cpu_of(UsageWho::RUSAGE_SELF)
}

/// Returns the CPU time of this thread since its start.
pub(super) fn thread_cpu() -> anyhow::Result<Duration> {
    cpu_of(UsageWho::RUSAGE_THREAD)
}

fn cpu_of(whose: UsageWho) -> anyhow::Result<Duration> {
    let usage = getrusage(whose)?;
    let spent = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(u64::try_from(spent.num_microseconds())?))
}

/// Returns the resident memory in bytes; `None` without `/proc`.
pub(super) fn resident_bytes() -> Option<u64> {
    resident_in(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn resident_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_cpu_time() {
        let before = cpu().unwrap();
        let mut sum = 0_u64;
        while cpu().unwrap() < before + Duration::from_millis(20) {
            sum = std::hint::black_box((0..100_000).fold(sum, u64::wrapping_add));
        }
        assert!(cpu().unwrap() > before);
    }

    #[test]
    fn resident_memory_is_read_from_the_status() {
        assert_eq!(resident_in("VmPeak:\t 9 kB\nVmRSS:\t   1234 kB\n"), Some(1_263_616));
        assert_eq!(resident_in("VmPeak:\t 9 kB\n"), None);
    }
}
