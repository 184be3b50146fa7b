//! A network of its own for one test: loopback only, and a kernel that answers no echo requests.
//!
//! Made by moving one thread into a new network namespace; the rest of the process stays where it is.

use std::process::Command;

use nix::sched::{CloneFlags, unshare};
use socket2::{Domain, Protocol, Socket, Type};

/// Whether this machine lets us make namespaces: whoever may open raw sockets usually may. Says so when not.
pub(crate) fn may_make_namespaces() -> bool {
    let may = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).is_ok();
    if !may {
        eprintln!("SKIPPED: without raw sockets there is no network namespace to test in");
    }
    may
}

/// Runs `test` on a current-thread runtime inside a new network namespace.
///
/// Needs root, like raw sockets do; says so when it is missing.
pub(crate) fn inside<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    let thread = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET)
            .expect("raw sockets are permitted, so CAP_SYS_ADMIN is expected too");
        ip("link set lo up");
        std::fs::write("/proc/sys/net/ipv4/icmp_echo_ignore_all", "1").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test());
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Changes the network of this thread, as `ip` does.
pub(crate) fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}: {status}");
}
