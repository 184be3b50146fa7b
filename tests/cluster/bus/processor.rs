//! Processor time of the parts of a chain, as the kernel counts it: of a process, its children, and those that have ended.

use std::time::Duration;

/// Clock ticks of `/proc` a second; Linux has had no other for decades.
const TICKS_PER_SECOND: u64 = 100;

/// The time that a process and its children have used.
pub(crate) fn used_by(process: u32) -> Duration {
    // Its own, and that of children which it has waited for.
    let family = ticks(process, 4);
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let living = children.unwrap_or_default();
    let living = living.split_whitespace().filter_map(|child| child.parse().ok());
    time(family + living.map(|child| ticks(child, 2)).sum::<u64>())
}

/// Processor time used on this machine, and time taken from it by others on its host.
pub(crate) fn used_by_all() -> Duration {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let fields: Vec<u64> =
        stat.lines().next().unwrap().split_whitespace().skip(1).map(|field| field.parse().unwrap()).collect();
    // User, nice, system, idle, waiting for the disk, interrupts, soft interrupts, stolen.
    time([0, 1, 2, 5, 6, 7].into_iter().map(|field| fields[field]).sum())
}

/// Resident memory in MiB; what children share counts once for each.
pub(crate) fn resident_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) / 1_024
}

/// The load of the machine, as the kernel says it.
pub(crate) fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    load.split_whitespace().next().unwrap().to_owned()
}

/// So many of utime, stime, cutime and cstime: the 14th field and the following, counted behind the name, which may hold
/// blanks. A process that has ended has used nothing: its parent has.
fn ticks(process: u32, fields: usize) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after_name.split_whitespace().skip(11).take(fields).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn time(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND)
}

#[test]
fn work_is_counted() {
    let ours = std::process::id();
    let (before, all) = (used_by(ours), used_by_all());
    let mut sum = 0_u64;
    // Children of other tests that end count at once as used by this process, before the machine has counted a tick.
    while used_by(ours) < before + Duration::from_millis(50) || used_by_all() <= all {
        sum = std::hint::black_box((0..100_000).fold(sum, u64::wrapping_add));
    }
    assert!(resident_mib(ours) > 0);
}
