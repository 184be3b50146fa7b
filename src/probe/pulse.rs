//! The check whether our own name servers are alive: it tells a target whose name does not answer from a probe that
//! cannot resolve anything.
//!
//! A silence is held against the target only with evidence: some server answered some question after the silence
//! began. When no other check happened to bring that evidence, a canary question asks for it. An answer of any
//! kind counts, also a refusal.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select, select_ok};
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// While one check waits for its canary, others listen for the same answer instead of sending their own.
const CANARY_PAUSE: Duration = Duration::from_millis(200);

/// `. NS` with recursion desired: every server knows the root, or refuses at once.
const CANARY: [u8; 17] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];

/// Signs of life of the name servers; shared by all checks of a location.
#[derive(Debug)]
pub struct Pulse {
    servers: Box<[SocketAddr]>,
    born: Instant,
    /// Microseconds after `born` of the last answer; zero: none yet.
    answered_us: AtomicU64,
    /// The same for the last canary.
    canary_us: AtomicU64,
    heard: Notify,
}

impl Pulse {
    /// Nothing is known about these servers yet.
    #[must_use]
    pub fn new(servers: Box<[SocketAddr]>) -> Self {
        Self {
            servers,
            born: Instant::now(),
            answered_us: AtomicU64::new(0),
            canary_us: AtomicU64::new(0),
            heard: Notify::new(),
        }
    }

    /// The name servers, in the order of the configuration.
    #[must_use]
    pub fn servers(&self) -> &[SocketAddr] {
        &self.servers
    }

    /// A name server has just answered a question, whatever it said.
    pub fn note_answer(&self) {
        self.answered_us.fetch_max(self.age_us(Instant::now()).max(1), Ordering::Relaxed);
        self.heard.notify_waiters();
    }

    /// Returns true when a name server answered anything after `since`.
    #[must_use]
    pub fn answered_since(&self, since: Instant) -> bool {
        self.answered_us.load(Ordering::Relaxed) > self.age_us(since)
    }

    /// Finds out whether the name servers are alive: waits until `deadline` for an answer to anything that came after
    /// `since`, and asks the canary question when nobody else is doing so.
    pub async fn beats(&self, since: Instant, deadline: Instant) -> bool {
        let heard = self.heard.notified();
        if self.answered_since(since) {
            return true;
        }
        let listened = async {
            match select(std::pin::pin!(heard), std::pin::pin!(self.ask())).await {
                Either::Right((false, others)) => others.await,
                Either::Left(_) | Either::Right((true, _)) => {}
            }
        };
        // Whether time ran out is of no interest: the answer's own time decides.
        let _ = timeout_at(deadline, listened).await;
        self.answered_since(since)
    }

    /// Sends the canary to all servers; whether one of them answered. False at once when a canary is under way.
    async fn ask(&self) -> bool {
        let now_us = self.age_us(Instant::now()).max(1);
        let last_us = self.canary_us.load(Ordering::Relaxed);
        let pause_us = u64::try_from(CANARY_PAUSE.as_micros()).unwrap_or(u64::MAX);
        let is_early = last_us != 0 && now_us < last_us.saturating_add(pause_us);
        let claim = self.canary_us.compare_exchange(last_us, now_us, Ordering::Relaxed, Ordering::Relaxed);
        if is_early || claim.is_err() || self.servers.is_empty() {
            return false;
        }
        let questions = self.servers.iter().map(|server| Box::pin(ask(*server, None)));
        let answered = select_ok(questions).await.is_ok();
        if answered {
            self.note_answer();
        }
        answered
    }

    fn age_us(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.born).as_micros()).unwrap_or(u64::MAX)
    }
}

/// Asks one server the canary question, from the address `source` if there is one, and waits for an answer to it.
pub(crate) async fn ask(server: SocketAddr, source: Option<IpAddr>) -> io::Result<()> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(source.unwrap_or(any), 0)).await?;
    socket.connect(server).await?;
    let mut question = CANARY;
    getrandom::fill(&mut question[..2]).map_err(io::Error::other)?;
    socket.send(&question).await?;
    let mut answer = [0; 12];
    loop {
        let length = socket.recv(&mut answer).await?;
        let is_response = answer[2] & 0x80 != 0;
        if length == answer.len() && answer[..2] == question[..2] && is_response {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn server() -> (UdpSocket, Pulse) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let pulse = Pulse::new([socket.local_addr().unwrap()].into());
        (socket, pulse)
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(300)
    }

    #[tokio::test]
    async fn a_refusal_is_a_sign_of_life() {
        let (socket, pulse) = server().await;
        let answer = async {
            let mut question = [0; 64];
            let (length, from) = socket.recv_from(&mut question).await.unwrap();
            question[2] |= 0x80;
            question[3] |= 5;
            socket.send_to(&question[..length], from).await.unwrap();
        };
        let since = Instant::now();
        let (alive, ()) = tokio::join!(pulse.beats(since, soon()), answer);
        assert!(alive);
    }

    #[tokio::test]
    async fn an_answer_to_another_check_is_a_sign_of_life() {
        let (_silent, pulse) = server().await;
        let since = Instant::now();
        let (first, second, ()) =
            tokio::join!(pulse.beats(since, soon()), pulse.beats(since, soon()), async {
                tokio::task::yield_now().await;
                pulse.note_answer();
            });
        assert!(first && second);
    }

    #[tokio::test]
    async fn an_answer_before_the_silence_proves_nothing() {
        let (_silent, pulse) = server().await;
        pulse.note_answer();
        tokio::time::sleep(Duration::from_micros(50)).await;
        assert!(!pulse.beats(Instant::now(), soon()).await);
    }

    #[tokio::test]
    async fn a_closed_port_is_dead_at_once() {
        let (socket, pulse) = server().await;
        drop(socket);
        let since = Instant::now();
        assert!(!pulse.beats(since, since + Duration::from_millis(300)).await);
    }
}
