//! Our own starvation is never the target's (reliability 10): no descriptors, no ports, no resolver, no processor, stopped.
//!
//! Each trouble is inflicted on a process of its own, which checks targets that this one serves and that are up all
//! the time: whatever it says, it must never say `down`. 2,000 checks each, fewer where each takes long; `WATCHKEEPER_ENDURE=1`
//! makes it 100,000 and the stop a minute long. A full queue is in `tests/engine/pressure.rs`, a history that is away in
//! `tests/reliability/history_away.rs`.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

#[allow(dead_code, reason = "shared with the tests of the probe, which use all of it")]
#[path = "probe/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Mutex;
use tokio::task::{LocalSet, spawn_local};
use watchkeeper::engine::location::attempt;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, CheckType, LocalFault};
use watchkeeper::probe;
use watchkeeper::probe::prober::{LocalProber, Prober};
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use crate::support::dns_server::{Answer, DnsServer, address};
use crate::support::namespace::{inside, may_make_namespaces};

/// Limits apply to whole processes, and processors are few: one fault at a time.
static ALONE: Mutex<()> = Mutex::const_new(());
/// Says to a process that it is the starved one, and how: words and numbers separated by blanks.
const ORDERS: &str = "WATCHKEEPER_TEST_STARVED";
/// Enough for the runtime and the test itself.
const DESCRIPTORS: u64 = 64;
/// A target answers after this time, so that connections overlap.
const DELAY: Duration = Duration::from_millis(20);

fn endures() -> bool {
    std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1")
}

fn checks_wanted() -> usize {
    if endures() { 100_000 } else { 2_000 }
}

fn compile(check_type: CheckType, target: &str, timeout_seconds: u8) -> CheckSpec {
    CheckSpec::compile(check_type, target, timeout_seconds, json!({}).as_object().unwrap()).unwrap()
}

fn toolbox(name_server: SocketAddr) -> Toolbox {
    Toolbox::new(ToolboxConfig { dns_servers: vec![name_server], ..ToolboxConfig::default() }).unwrap()
}

/// Leaves this process `spare` descriptors until it is dropped.
struct Hoard {
    files: Vec<File>,
    limit: u64,
}

impl Hoard {
    fn leaving(spare: usize) -> Self {
        let (limit, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, most).unwrap();
        let mut files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        files.truncate(files.len() - spare);
        Self { files, limit }
    }
}

impl Drop for Hoard {
    fn drop(&mut self) {
        self.files.clear();
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, self.limit, most).unwrap();
    }
}

#[tokio::test]
async fn a_process_without_descriptors_reports_no_target_down() {
    let _alone = ALONE.lock().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let toolbox = toolbox("127.0.0.1:9".parse().unwrap());
    let checks = [
        compile(CheckType::Tcp, &address.to_string(), 1),
        compile(CheckType::Http, &format!("http://{address}/"), 1),
        compile(CheckType::Ssl, &address.to_string(), 1),
    ];
    let hoard = Hoard::leaving(0);
    for check in checks.iter().cycle().take(300) {
        let outcome = probe::run(check, &toolbox).await;
        assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::NoDescriptors));
    }
    drop(hoard);
    match probe::run(&checks[0], &toolbox).await {
        CheckOutcome::Measured(measured) => assert_eq!(measured.status, CheckStatus::Up),
        CheckOutcome::Unmeasured(trouble) => panic!("still {trouble:?}"),
    }
}

/// Names that were never queried before: each needs a socket towards the name server, and there are three.
#[tokio::test]
async fn a_name_that_cannot_be_queried_is_a_local_fault() {
    let _alone = ALONE.lock().await;
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = target.local_addr().unwrap().port();
    let name = |number| format!("shop-{number}.test");
    let answers: Vec<(String, Answer)> =
        (0..300).map(|number| (name(number), Answer::Records(vec![address("127.0.0.1")]))).collect();
    let server = DnsServer::start(answers.iter().map(|(name, answer)| (name.as_str(), answer.clone()))).await;
    let toolbox = toolbox(server.address);
    let checks: Vec<CheckSpec> =
        (0..300).map(|number| compile(CheckType::Tcp, &format!("{}:{port}", name(number)), 2)).collect();
    let hoard = Hoard::leaving(3);
    let outcomes =
        futures_util::future::join_all(checks.iter().map(|check| probe::run(check, &toolbox))).await;
    drop(hoard);
    let tally = Tally::of(outcomes);
    assert_eq!(tally.down, 0, "{tally:?}");
    assert!(tally.troubles.contains_key("no_descriptors"), "{tally:?}");
}

/// Outcomes of many checks.
#[derive(Debug, Default)]
struct Tally {
    up: usize,
    down: usize,
    reasons: BTreeMap<String, usize>,
    troubles: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn of(outcomes: impl IntoIterator<Item = CheckOutcome>) -> Self {
        let mut tally = Self::default();
        outcomes.into_iter().for_each(|outcome| tally.note(outcome));
        tally
    }

    fn note(&mut self, outcome: CheckOutcome) {
        match outcome {
            CheckOutcome::Measured(measured) if measured.status == CheckStatus::Up => self.up += 1,
            CheckOutcome::Measured(measured) => {
                self.down += 1;
                *self.reasons.entry(format!("{:?}", measured.failure)).or_default() += 1;
            }
            CheckOutcome::Unmeasured(trouble) => *self.troubles.entry(trouble.as_str()).or_default() += 1,
        }
    }
}

/// Orders for the starved process.
struct Orders {
    trouble: String,
    checks: usize,
    at_once: usize,
    target: SocketAddr,
    name_server: SocketAddr,
}

impl Orders {
    fn text(&self) -> String {
        let Self { trouble, checks, at_once, target, name_server } = self;
        format!("{trouble} {checks} {at_once} {target} {name_server}")
    }

    fn read() -> Option<Self> {
        let text = std::env::var(ORDERS).ok()?;
        let words: Vec<&str> = text.split(' ').collect();
        Some(Self {
            trouble: words[0].to_owned(),
            checks: words[1].parse().unwrap(),
            at_once: words[2].parse().unwrap(),
            target: words[3].parse().unwrap(),
            name_server: words[4].parse().unwrap(),
        })
    }
}

/// The starved process: checks, counts, and fails when it has reported a target down. Does nothing without orders.
#[tokio::test]
async fn starved() {
    let Some(orders) = Orders::read() else { return };
    if orders.trouble == "descriptors" {
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, 256, most).unwrap();
    }
    let prober: Arc<dyn Prober> = Arc::new(LocalProber::new(toolbox(orders.name_server)));
    let Orders { target, .. } = orders;
    let checks = [
        compile(CheckType::Tcp, &target.to_string(), 2),
        compile(CheckType::Http, &format!("http://{target}/"), 2),
        compile(CheckType::Http, &format!("http://shop.test:{}/", target.port()), 2),
        compile(CheckType::Dns, "shop.test", 2),
    ]
    .map(Arc::new);
    println!("looking");
    // Each check is an attempt in a task of its own, as in the engine: in one task together they would share its turns,
    // and wait for each other instead of the target.
    let outcomes = (0..orders.checks).map(|number| {
        let (prober, check) = (Arc::clone(&prober), Arc::clone(&checks[number % checks.len()]));
        spawn_local(async move { attempt(&*prober, check).await })
    });
    let looking = futures_util::stream::iter(outcomes).buffer_unordered(orders.at_once).fold(
        Tally::default(),
        |mut tally, outcome| {
            tally.note(outcome.unwrap());
            std::future::ready(tally)
        },
    );
    let tally = LocalSet::new().run_until(looking).await;
    println!("{}: {tally:?}", orders.trouble);
    assert_eq!(tally.down, 0, "{tally:?}");
    assert_eq!(tally.up + tally.troubles.values().sum::<usize>(), orders.checks);
    if matches!(orders.trouble.as_str(), "descriptors" | "ports" | "resolver" | "stop") {
        assert!(!tally.troubles.is_empty(), "it was not starved at all");
    }
}

/// A process that is ended with its guard.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this binary again as the starved process; returns when it starts to check. It is polite, or it would take the
/// processor from its targets; one that has to wait its turn among many others alone is not.
fn starve(orders: &Orders) -> Guarded {
    let niceness = if orders.trouble == "turns" { "0" } else { "19" };
    let mut child = Command::new("nice")
        .args(["-n", niceness])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "starved", "--nocapture"])
        .env(ORDERS, orders.text())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("looking")), "it never began");
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| println!("{line}")));
    Guarded(child)
}

async fn ends_well(mut starved: Guarded) {
    loop {
        if let Some(status) = starved.0.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return;
        }
        tokio::time::sleep(DELAY).await;
    }
}

/// Answers every request with 200, a little later. Its queue of connections holds all that can come at once: one that is
/// too short drops some, and these are the target's.
async fn serve() -> SocketAddr {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let listener = socket.listen(4_096).unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { continue };
            tokio::spawn(async move {
                let mut request = [0; 1_024];
                if stream.read(&mut request).await.is_ok_and(|length| length > 0) {
                    tokio::time::sleep(DELAY).await;
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
                }
            });
        }
    });
    address
}

/// Serves targets and lets the starved process check them. `meanwhile` happens to it.
async fn run_starved(trouble: &str, at_once: usize, meanwhile: impl AsyncFnOnce(u32)) {
    let target = serve().await;
    let shop = Answer::Records(vec![address("127.0.0.1")]);
    let server = DnsServer::start([("shop.test", shop)]).await;
    let silent = DnsServer::silent().await;
    let is_dead = trouble == "resolver";
    // A dead resolver costs every check its whole time, and without a processor there is little of it.
    let share = match trouble {
        "processor" => 20,
        "turns" if !endures() => 10,
        "resolver" if !endures() => 4,
        _ => 1,
    };
    let orders = Orders {
        trouble: trouble.to_owned(),
        checks: checks_wanted() / share,
        at_once,
        target,
        name_server: if is_dead { silent.address } else { server.address },
    };
    let starved = starve(&orders);
    meanwhile(starved.0.id()).await;
    ends_well(starved).await;
}

#[rstest]
#[case::two_hundred_and_fifty_six_descriptors("descriptors", 1_000)]
#[case::a_dead_resolver("resolver", 1_000)]
#[tokio::test]
async fn a_lack_of_resources_reports_no_target_down(#[case] trouble: &str, #[case] at_once: usize) {
    let _alone = ALONE.lock().await;
    run_starved(trouble, at_once, async |_| {}).await;
}

/// In a network of its own, whose sockets share a thousand ports.
#[test]
fn a_lack_of_ports_reports_no_target_down() {
    let _alone = ALONE.blocking_lock();
    if !may_make_namespaces() {
        return;
    }
    inside(|| async {
        std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "20000 20999").unwrap();
        std::fs::write("/proc/sys/net/ipv4/tcp_tw_reuse", "0").unwrap();
        run_starved("ports", 3_000, async |_| {}).await;
    });
}

/// Others take the processor: sixteen processes that do nothing but run, before one that waits its turn politely, or beside
/// one that has a turn like each of them.
///
/// On two processors, Linux gives the polite one 15 / (15 + 8 × 110), a sixtieth, of each. Beside processes of niceness 0 it
/// would be a five-hundredth, and to start would take it minutes.
#[rstest]
#[case::next_to_nothing_is_left("processor", 10)]
#[case::equal_priority("turns", 0)]
#[tokio::test]
async fn a_lack_of_processor_time_reports_no_target_down(#[case] trouble: &str, #[case] niceness: u8) {
    let _alone = ALONE.lock().await;
    let busy = || {
        let mut command = Command::new("nice");
        command.args(["-n", &niceness.to_string(), "sh", "-c", "while :; do :; done"]);
        command.spawn().map(Guarded).unwrap()
    };
    let _thieves: Vec<Guarded> = (0..16).map(|_| busy()).collect();
    run_starved(trouble, 64, async |_| {}).await;
}

/// Stopped in the midst of its checks, for longer than they may take.
#[tokio::test]
async fn a_stopped_process_reports_no_target_down() {
    let _alone = ALONE.lock().await;
    let stop = Duration::from_secs(if endures() { 60 } else { 4 });
    run_starved("stop", 64, async |process| {
        let signal = |name: &str| {
            let status = Command::new("kill").args([name, &process.to_string()]).status().unwrap();
            assert!(status.success(), "kill {name}: {status}");
        };
        tokio::time::sleep(Duration::from_millis(100)).await;
        signal("-STOP");
        tokio::time::sleep(stop).await;
        signal("-CONT");
    })
    .await;
}
