//! The reference targets of one location: hosts whose silence means that the location has lost its own network.
//!
//! References are asked every 30 s, every second while the location is impaired, and at once when a check was
//! not up. A failure is accepted only after such a round; all failures share it, with at most one round per
//! second. The rule is in `model::impairment`.
//!
//! References are chosen by the operator, never by a service. Like name servers, they are not subject to the
//! egress policy for targets.

mod gateways;
mod question;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hickory_proto::rr::Name;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use crate::model::check::{CheckOutcome, ErrorCode, LocalFault};
use crate::model::impairment::{
    FailedAttempt, FailureJudgement, ImpairmentChange, ImpairmentDetector, ReferenceAnswer,
};
use crate::probe::endpoint::Host;
use crate::probe::toolbox::Toolbox;

/// The time limit of one round.
const CHECK_TAKES: Duration = Duration::from_secs(1);
/// A round that exceeds its time limit by more than this is inconclusive, because this thread was suspended.
const STALL_MIN: Duration = Duration::from_millis(500);
/// Maximum number of rounds that a failure waits for, if this thread is suspended in all but the last one.
const CHECKS: u8 = 3;
/// The shortest time between the starts of two rounds.
const PAUSE: Duration = Duration::from_secs(1);
/// The time between two rounds of a location that is well and whose checks are up.
const IDLE: Duration = Duration::from_secs(30);
/// The time between two rounds of a new location while no reference has proven to answer: a machine that starts
/// may have no network for a while.
const UNPROVEN: Duration = Duration::from_secs(2);
const UNPROVEN_FOR: Duration = Duration::from_secs(60);

/// A target that shows whether the network works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkReference {
    /// A host that is sent an echo request, or connected to where echo requests are not permitted.
    Host(Host),
    /// A host that accepts connections to this port.
    Port(Host, u16),
    /// A gateway, asked by an echo request. Its address may include an interface.
    Gateway(SocketAddr),
    /// A name server, asked a question that every name server answers.
    NameServer(SocketAddr),
}

/// The reference targets that a location asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReferenceSelection {
    /// The name servers and the gateways of the system, without those on this machine.
    #[default]
    System,
    /// These targets; if the list is empty, the location is never impaired.
    These(Vec<NetworkReference>),
}

/// The answers that a round waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedAnswers {
    /// The first answer, which shows that the location is well.
    First,
    /// All answers, so that each reference is proven.
    All,
}

/// The reference targets of one location, and their state.
pub struct ImpairmentMonitor {
    /// Code of the location, for the log.
    code: String,
    wanted: ReferenceSelection,
    toolbox: Arc<Toolbox>,
    impairment: Mutex<ImpairmentDetector<NetworkReference>>,
    is_impaired: AtomicBool,
    /// Milliseconds after `born` of the last recovery; zero if there was none.
    recovered_ms: AtomicU64,
    checks: AtomicU64,
    /// Locked during a round.
    check_lock: tokio::sync::Mutex<()>,
    /// Requests a round without waiting for its end.
    wanted_soon: Notify,
    /// The last addresses of references that are given by name: without a network no name can be resolved.
    addresses: Mutex<HashMap<Name, Vec<IpAddr>>>,
    born: Instant,
}

impl fmt::Debug for ImpairmentMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, wanted, is_impaired, .. } = self;
        f.debug_struct("References")
            .field("code", code)
            .field("wanted", wanted)
            .field("is_impaired", is_impaired)
            .finish_non_exhaustive()
    }
}

impl ImpairmentMonitor {
    /// Creates the monitor without asking any target.
    #[must_use]
    pub fn new(code: String, wanted: ReferenceSelection, toolbox: Arc<Toolbox>) -> Self {
        Self {
            code,
            wanted,
            toolbox,
            impairment: Mutex::default(),
            is_impaired: AtomicBool::new(false),
            recovered_ms: AtomicU64::new(0),
            checks: AtomicU64::new(0),
            check_lock: tokio::sync::Mutex::default(),
            wanted_soon: Notify::new(),
            addresses: Mutex::default(),
            born: Instant::now(),
        }
    }

    /// Returns true if the location has lost its own network.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        self.is_impaired.load(Ordering::Acquire)
    }

    /// Returns the time at which the location's network returned, if it was ever lost.
    #[must_use]
    pub fn recovered(&self) -> Option<Instant> {
        let recovered_ms = self.recovered_ms.load(Ordering::Relaxed);
        (recovered_ms != 0).then(|| self.born + Duration::from_millis(recovered_ms))
    }

    /// Returns the number of rounds.
    #[must_use]
    pub fn check_count(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }

    /// Runs rounds from time to time, so that there is proof before it is needed, and the end of an impairment is noticed.
    pub async fn run(self: Arc<Self>) {
        if self.wanted == ReferenceSelection::These(Vec::new()) {
            return std::future::pending().await;
        }
        let mut patience = AwaitedAnswers::All;
        loop {
            let turn = self.check_lock.lock().await;
            self.pause().await;
            self.ask_round(patience).await;
            drop(turn);
            let is_wanted = timeout(self.rest(), self.wanted_soon.notified()).await.is_ok();
            patience =
                if is_wanted || self.is_impaired() { AwaitedAnswers::First } else { AwaitedAnswers::All };
        }
    }

    /// Returns the time until the next round.
    fn rest(&self) -> Duration {
        let now = Instant::now();
        let is_young = now.saturating_duration_since(self.born) < UNPROVEN_FOR;
        if self.is_impaired() {
            PAUSE
        } else if is_young && !self.lock().has_proof(self.age_ms(now)) {
            UNPROVEN
        } else {
            IDLE
        }
    }

    /// Returns the confirmed outcome of an attempt that started at `started` and was not up.
    pub(crate) async fn confirm(&self, started: Instant, outcome: CheckOutcome) -> CheckOutcome {
        match &outcome {
            CheckOutcome::Measured(measured) => {
                let code = measured.failure.as_ref().map(|failure| failure.code);
                self.explanation(started, code).await.map_or(outcome, CheckOutcome::Unmeasured)
            }
            CheckOutcome::Unmeasured(LocalFault::NetworkDown | LocalFault::ResolverUnavailable) => {
                self.wanted_soon.notify_one();
                outcome
            }
            CheckOutcome::Unmeasured(_) => outcome,
        }
    }

    /// Records that a check of another machine was up.
    pub(crate) fn note_up(&self) {
        if self.is_impaired() {
            self.lock().note_up();
        }
    }

    /// Returns the trouble of this process that explains the failed attempt. Runs a round first, if one is
    /// needed.
    async fn explanation(&self, started: Instant, code: Option<ErrorCode>) -> Option<LocalFault> {
        let failed = FailedAttempt {
            started_ms: self.age_ms(started),
            failed_ms: self.age_ms(Instant::now()),
            may_be_the_network: code.is_some_and(ErrorCode::may_be_the_network),
        };
        let explain = |belief| (belief == FailureJudgement::Impaired).then_some(LocalFault::LocationImpaired);
        let belief = self.lock().judge(failed);
        if belief != FailureJudgement::LookFirst {
            return explain(belief);
        }
        let _turn = self.check_lock.lock().await;
        for _ in 0..CHECKS {
            // Another attempt may have run a round in the meantime.
            let belief = self.lock().judge(failed);
            if belief != FailureJudgement::LookFirst {
                return explain(belief);
            }
            self.pause().await;
            self.ask_round(AwaitedAnswers::First).await;
        }
        let belief = self.lock().judge(failed);
        match belief {
            FailureJudgement::LookFirst => Some(LocalFault::Overrun),
            belief => explain(belief),
        }
    }

    /// Waits until the next round may start.
    async fn pause(&self) {
        let checked_ms = self.lock().checked_ms();
        if let Some(checked_ms) = checked_ms {
            sleep_until(self.born + Duration::from_millis(checked_ms) + PAUSE).await;
        }
    }

    /// Runs one round. Silence in a round during which this thread was suspended is inconclusive.
    async fn ask_round(&self, patience: AwaitedAnswers) {
        self.checks.fetch_add(1, Ordering::Relaxed);
        let began = Instant::now();
        let (began_ms, current) = (self.age_ms(began), self.current());
        let asked = {
            let mut impairment = self.lock();
            impairment.set_references(&current, began_ms);
            impairment.references_to_ask()
        };
        let silent = self.ask_all(asked, began, patience).await;
        if began.elapsed() <= CHECK_TAKES + STALL_MIN {
            self.note(began, &silent);
        }
    }

    /// Asks these references. Each answer is recorded when it arrives, because one shows that the location is
    /// well. Without any answer, returns the reason for each reference; otherwise an empty list.
    async fn ask_all(
        &self,
        asked: Vec<NetworkReference>,
        began: Instant,
        patience: AwaitedAnswers,
    ) -> Vec<(NetworkReference, ReferenceAnswer)> {
        let ask = |reference: NetworkReference| async move {
            let answer = self.ask(&reference, began + CHECK_TAKES).await;
            (reference, answer)
        };
        let mut waiting: FuturesUnordered<_> = asked.into_iter().map(ask).collect();
        let (mut others, mut is_answered) = (Vec::new(), false);
        while let Some(answer) = waiting.next().await {
            if answer.1 != ReferenceAnswer::Answered {
                others.push(answer);
                continue;
            }
            self.note(began, &[answer]);
            is_answered = true;
            if patience == AwaitedAnswers::First {
                break;
            }
        }
        if is_answered { Vec::new() } else { others }
    }

    /// Returns the references to ask, with the current gateways.
    fn current(&self) -> Vec<NetworkReference> {
        match &self.wanted {
            ReferenceSelection::These(these) => these.clone(),
            ReferenceSelection::System => {
                let source = self.toolbox.egress().source;
                let servers = self.toolbox.resolver().servers();
                let distant = servers.iter().filter(|server| !server.ip().to_canonical().is_loopback());
                let servers = distant.map(|server| NetworkReference::NameServer(*server));
                servers
                    .chain(gateways::of_this_machine(source).into_iter().map(NetworkReference::Gateway))
                    .collect()
            }
        }
    }

    fn note(&self, began: Instant, answers: &[(NetworkReference, ReferenceAnswer)]) {
        let (began_ms, now_ms) = (self.age_ms(began), self.age_ms(Instant::now()));
        let turn = self.lock().note_reference_check(began_ms, now_ms, answers);
        self.apply_transition(turn, answers);
    }

    fn apply_transition(
        &self,
        turn: Option<ImpairmentChange>,
        answers: &[(NetworkReference, ReferenceAnswer)],
    ) {
        let Some(turn) = turn else { return };
        let location = &self.code;
        match turn {
            ImpairmentChange::Impaired => {
                self.is_impaired.store(true, Ordering::Release);
                let references: Vec<String> = answers.iter().map(|(asked, _)| asked.to_string()).collect();
                let references = references.join(", ");
                tracing::warn!(
                    location,
                    references,
                    "location impaired: no reference target answers; failing checks are no data"
                );
                // From now on there is a round every second.
                self.wanted_soon.notify_one();
            }
            ImpairmentChange::Recovered => {
                self.recovered_ms.store(self.age_ms(Instant::now()).max(1), Ordering::Relaxed);
                self.is_impaired.store(false, Ordering::Release);
                tracing::info!(location, "location no longer impaired: a reference target answers");
            }
        }
    }

    fn age_ms(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.born).as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, ImpairmentDetector<NetworkReference>> {
        self.impairment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for NetworkReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => f.write_str(&host.to_text()),
            Self::Port(Host::Ip(address), port) => SocketAddr::new(*address, *port).fmt(f),
            Self::Port(host, port) => write!(f, "{}:{port}", host.to_text()),
            Self::Gateway(address) => write!(f, "gateway {}", address.ip()),
            Self::NameServer(address) => write!(f, "name server {address}"),
        }
    }
}
