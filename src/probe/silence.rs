//! The cause of a lookup without an answer in time: the name, or the name servers.
//!
//! A server is sent a few questions at once: a canary, the questions about the name, and a canary again. If it
//! answers both canaries, it was alive when it read the questions between them, so it is silent about this name
//! only. Everything else is no evidence against the name: a server that has died or recovered meanwhile, an
//! answer that this machine was too busy to read, or no answer at all. Since the order of the questions
//! decides, and not the time at which an answer is read, a slow machine changes no verdict.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};

use futures_util::future::join_all;

use crate::egress::{DATAGRAM_MAX_BYTES, read_answer};
use crate::probe::canary::{CANARY, connected, next_answer};

/// Questions about a name, and which of them the name servers answered.
#[derive(Debug)]
pub(crate) struct SilenceCheck<'a> {
    servers: &'a [SocketAddr],
    /// The canary, the questions about the name, and the canary again; each with its own id.
    questions: Vec<Vec<u8>>,
    /// Per server, one bit per question that it has answered.
    answered: Vec<AtomicU8>,
}

impl<'a> SilenceCheck<'a> {
    /// Creates the check from the questions about the name in wire format, at most five; their ids are replaced.
    pub(crate) fn new(servers: &'a [SocketAddr], about_name: Vec<Vec<u8>>) -> io::Result<Self> {
        let canary = || std::iter::once(CANARY.to_vec());
        let mut questions: Vec<_> = canary().chain(about_name).chain(canary()).collect();
        let mut first_id = [0; 2];
        getrandom::fill(&mut first_id).map_err(io::Error::other)?;
        let ids = (0_u16..).map(|number| u16::from_be_bytes(first_id).wrapping_add(number));
        for (question, id) in questions.iter_mut().zip(ids) {
            question[..2].copy_from_slice(&id.to_be_bytes());
        }
        Ok(Self { servers, questions, answered: servers.iter().map(|_| AtomicU8::new(0)).collect() })
    }

    /// Asks all servers, and receives until all questions are answered, which may never happen.
    pub(crate) async fn run(&self) {
        let asked =
            self.servers.iter().zip(&self.answered).map(|(server, answered)| self.ask(*server, answered));
        // A server that cannot be asked has answered nothing; the error does not matter.
        join_all(asked).await;
    }

    async fn ask(&self, server: SocketAddr, answered: &AtomicU8) -> io::Result<()> {
        let socket = connected(server, None).await?;
        for question in &self.questions {
            socket.send(question).await?;
        }
        let mut datagram = vec![0; DATAGRAM_MAX_BYTES];
        while answered.load(Ordering::Relaxed) != self.everything() {
            let answer = next_answer(&socket, &mut datagram).await?;
            let asked = self.questions.iter().position(|question| question[..2] == answer[..2]);
            if let Some(number) = asked.filter(|number| self.is_canary(*number) || is_readable(answer)) {
                answered.fetch_or(1 << number, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Returns true when a server has answered both canaries, and no server has answered all questions about
    /// the name.
    pub(crate) fn is_of_name(&self) -> bool {
        let canaries = 1 | 1 << (self.questions.len() - 1);
        let about_name = self.everything() & !canaries;
        let answered = || self.answered.iter().map(|answered| answered.load(Ordering::Relaxed));
        answered().any(|answered| answered & canaries == canaries)
            && answered().all(|answered| answered & about_name != about_name)
    }

    fn is_canary(&self, number: usize) -> bool {
        number == 0 || number + 1 == self.questions.len()
    }

    fn everything(&self) -> u8 {
        (1 << self.questions.len()) - 1
    }
}

/// Returns true if the answer can be parsed: an unreadable answer says nothing about a name.
fn is_readable(answer: &[u8]) -> bool {
    read_answer(answer).is_some()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::net::UdpSocket;
    use tokio::time::timeout;

    use super::*;

    /// Runs a server that answers the questions with these numbers and no others; returns when it has read all
    /// questions.
    async fn answer(socket: &UdpSocket, questions: usize, numbers: &[usize], code: u8) {
        let mut question = [0; 64];
        for number in 0..questions {
            let (length, from) = socket.recv_from(&mut question).await.unwrap();
            if numbers.contains(&number) {
                question[2] |= RESPONSE;
                question[3] |= code;
                socket.send_to(&question[..length], from).await.unwrap();
            }
        }
    }

    const RESPONSE: u8 = 0x80;
    const REFUSED: u8 = 5;

    /// Returns true if servers that answer these questions are silent about the name only. The second question is about A, the
    /// third about AAAA. Each server ends with an answer to no question, so that no timeout is needed.
    async fn is_of_name(servers: &[&[usize]], code: u8) -> bool {
        let mut sockets = Vec::new();
        for _ in servers {
            sockets.push(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        }
        let addresses: Vec<_> = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
        let check = SilenceCheck::new(&addresses, vec![CANARY.to_vec(), CANARY.to_vec()]).unwrap();
        let expected: Vec<u8> =
            servers.iter().map(|numbers| numbers.iter().map(|number| 1 << number).sum()).collect();
        let answered = sockets.iter().zip(servers).map(|(socket, numbers)| answer(socket, 4, numbers, code));
        let received = async {
            join_all(answered).await;
            let is_heard = || {
                check
                    .answered
                    .iter()
                    .zip(&expected)
                    .all(|(received, want)| received.load(Ordering::Relaxed) == *want)
            };
            while !is_heard() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = check.run() => {}
            () = received => {}
        }
        check.is_of_name()
    }

    #[tokio::test]
    async fn a_live_server_that_ignores_a_name_is_silent_about_it() {
        let rows: [(&str, &[&[usize]], bool); 9] = [
            ("dead", &[&[]], false),
            ("died before it read the name", &[&[0]], false),
            ("died after it answered the name", &[&[0, 1, 2]], false),
            ("came back after the name", &[&[3]], false),
            ("answers everything, too late for the check", &[&[0, 1, 2, 3]], false),
            ("silent about the name", &[&[0, 3]], true),
            ("silent about one family", &[&[0, 1, 3]], true),
            ("one dead, one silent about the name", &[&[], &[0, 3]], true),
            ("one silent about the name, one answers", &[&[0, 3], &[1, 2]], false),
        ];
        for (server, answered, is_silent) in rows {
            assert_eq!(is_of_name(answered, 0).await, is_silent, "{server}");
            assert_eq!(is_of_name(answered, REFUSED).await, is_silent, "{server}, by refusals");
        }
    }

    #[tokio::test]
    async fn a_closed_port_ends_the_wait_at_once() {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = [socket.local_addr().unwrap()];
        drop(socket);
        let check = SilenceCheck::new(&address, vec![CANARY.to_vec()]).unwrap();
        timeout(Duration::from_secs(60), check.run()).await.unwrap();
        assert!(!check.is_of_name());
    }
}
