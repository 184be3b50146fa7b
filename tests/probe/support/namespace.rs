//! A network of its own for one test: loopback only, and a kernel that answers no echo requests.
//!
//! Made by moving one thread into a new network namespace; the rest of the process stays where it is. A [`Peer`] is another
//! machine at the other end of a cable.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use nix::sched::{CloneFlags, unshare};
use socket2::{Domain, Protocol, Socket, Type};

const REQUIRED: &str = "WATCHKEEPER_TESTS_REQUIRE_NAMESPACES";

/// True if this machine permits namespaces: a user who may open raw sockets usually may create them. Prints a line if not.
pub(crate) fn may_make_namespaces() -> bool {
    let may = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).is_ok();
    let is_required = std::env::var_os(REQUIRED).is_some_and(|value| value == "1");
    assert!(may || !is_required, "{REQUIRED}=1, but raw sockets are not permitted");
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

/// Another machine, in a network namespace of its own: it answers pings, and HTTP where it is set to. It is gone when it is
/// dropped, with its end of every cable.
pub(crate) struct Peer {
    orders: Option<Sender<String>>,
    done: Receiver<()>,
    /// The number of its thread, by which interfaces are moved to it.
    thread: String,
    running: Option<std::thread::JoinHandle<()>>,
}

impl Peer {
    pub(crate) fn start() -> Self {
        let (orders, received) = channel::<String>();
        let (finished, done) = channel();
        let (named, name) = channel();
        let running = std::thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            ip("link set lo up");
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            named.send(link.file_name().unwrap().to_str().unwrap().to_owned()).unwrap();
            for order in received {
                obey(&order);
                finished.send(()).unwrap();
            }
        });
        Self { orders: Some(orders), done, thread: name.recv().unwrap(), running: Some(running) }
    }

    /// Lays a cable from this machine's `near` to the peer's `far`; both ends are up, and have these addresses.
    pub(crate) fn lay_cable(&self, near: &str, address: &str, far: &str, peer_address: &str) {
        ip(&format!("link add {near} type veth peer name {far}"));
        ip(&format!("link set {far} netns {}", self.thread));
        ip(&format!("addr add {address} dev {near}"));
        self.ip(&format!("addr add {peer_address} dev {far}"));
        self.ip(&format!("link set {far} up"));
        ip(&format!("link set {near} up"));
    }

    /// Changes the network of the peer, as `ip` does.
    pub(crate) fn ip(&self, arguments: &str) {
        self.order(format!("ip {arguments}"));
    }

    /// Writes a setting of the peer's network: a path below /proc/sys/net and a value.
    pub(crate) fn set(&self, path: &str, value: &str) {
        self.order(format!("set {path} {value}"));
    }

    /// Answers every request with 200 on this address and port.
    pub(crate) fn serve(&self, address: &str) {
        self.order(format!("serve {address}"));
    }

    fn order(&self, order: String) {
        self.orders.as_ref().unwrap().send(order).unwrap();
        self.done.recv().expect("the peer does as it is told");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.orders = None;
        // It has panicked where it could not follow its orders.
        let _ = self.running.take().map(std::thread::JoinHandle::join);
    }
}

fn obey(order: &str) {
    let (verb, rest) = order.split_once(' ').unwrap();
    match verb {
        "ip" => ip(rest),
        "set" => {
            let (path, value) = rest.split_once(' ').unwrap();
            std::fs::write(format!("/proc/sys/net/{path}"), value).unwrap();
        }
        _ => answer(&TcpListener::bind(rest).unwrap()),
    }
}

/// The thread ends with the process: it keeps the peer's network alive, but not its cables.
fn answer(listener: &TcpListener) {
    let listener = listener.try_clone().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                if stream.read(&mut [0; 1_024]).is_ok_and(|length| length > 0) {
                    let _ = stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                }
            });
        }
    });
}
