//! A real web server on loopback that takes messages as a receiver of webhooks would: it keeps what arrives, and answers as
//! it is set to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

/// Behaviour of a sink for a request.
#[derive(Clone, Debug)]
pub(crate) enum Conduct {
    /// It answers with this status and these further lines of the head.
    Answer(u16, &'static str),
    /// It answers with this status, these further lines of the head, and this body.
    Say(u16, &'static str, &'static str),
    /// It judges the request as the simulated service does, and responds as that does: a status and a body.
    Judge(fn(&Received) -> (u16, String)),
    /// It reads and says nothing.
    Hang,
    /// It reads and closes.
    Close,
    /// It answers a byte a second.
    Drip,
    /// It answers with 100 MB.
    Flood,
    /// It refuses permanently, and repeats the request, headers and all.
    Echo,
    /// It fails, and says the same.
    EchoLater,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Request line and headers, as received.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: String,
    /// The time at which all of it was there.
    pub(crate) at: Instant,
    /// True if the answer says that the message was accepted.
    pub(crate) is_accepted: bool,
}

impl Received {
    /// Method and path, as `POST /hook`.
    pub(crate) fn line(&self) -> &str {
        self.head.split(" HTTP/").next().unwrap_or_default()
    }

    /// The whole request, as received.
    pub(crate) fn whole(&self) -> String {
        format!("{}{}", self.head, self.body)
    }

    /// The value of a header; its name in lower case.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The event of a webhook.
    pub(crate) fn event(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }
}

#[derive(Debug)]
struct State {
    conduct: Mutex<Conduct>,
    received: Mutex<Vec<Received>>,
    is_over: AtomicBool,
}

/// A server that takes messages.
pub(crate) struct Sink {
    address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Sink {
    /// One that takes everything: 204.
    pub(crate) fn start() -> Self {
        Self::with(Conduct::Answer(204, ""))
    }

    /// One that behaves like this.
    pub(crate) fn with(conduct: Conduct) -> Self {
        let listener = TcpListener::bind((own_address(), 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            conduct: Mutex::new(conduct),
            received: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let told = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if told.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let state = Arc::clone(&told);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { address, state, thread: Some(thread) }
    }

    /// Address for messages.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The address without a path, for services that have paths of their own.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on it behaves like this.
    pub(crate) fn behave(&self, conduct: Conduct) {
        *self.state.conduct.lock().unwrap() = conduct;
    }

    /// The number of requests that arrived.
    pub(crate) fn count(&self) -> usize {
        self.state.received.lock().unwrap().len()
    }

    /// Everything that arrived.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.received.lock().unwrap().clone()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An address of this machine that no other sink has. On a shared one, a port that another test has given back may be asked for
/// by the service that watched it.
fn own_address() -> Ipv4Addr {
    static SINKS: AtomicU16 = AtomicU16::new(1);
    let process = u8::try_from(std::process::id() % 128).unwrap();
    let [high, low] = SINKS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    Ipv4Addr::new(127, 64 + process, high, low)
}

/// Answers the requests of a connection, one after the other.
fn serve(stream: TcpStream, state: &State) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut received = read(&mut reader)?;
        let conduct = state.conduct.lock().unwrap().clone();
        received.is_accepted = matches!(conduct, Conduct::Answer(200..300, _) | Conduct::Say(200..300, ..));
        state.received.lock().unwrap().push(received.clone());
        match conduct {
            Conduct::Answer(status, lines) => {
                say(&mut writer, status, lines, "")?;
            }
            Conduct::Say(status, lines, body) => say(&mut writer, status, lines, body)?,
            Conduct::Judge(judge) => {
                let (status, body) = judge(&received);
                say(&mut writer, status, "", &body)?;
            }
            Conduct::Echo => say(&mut writer, 400, "", &received.whole())?,
            Conduct::EchoLater => say(&mut writer, 500, "", &received.whole())?,
            Conduct::Close => return None,
            Conduct::Hang => pause(state, Duration::from_secs(30)),
            Conduct::Drip => {
                write!(writer, "HTTP/1.1 200 x\r\nContent-Length: 1000\r\n\r\n").ok()?;
                while !state.is_over.load(Ordering::SeqCst) {
                    writer.write_all(b"x").ok()?;
                    pause(state, Duration::from_secs(1));
                }
                return None;
            }
            Conduct::Flood => {
                write!(writer, "HTTP/1.1 200 x\r\nContent-Length: 100000000\r\n\r\n").ok()?;
                for _ in 0..1_000 {
                    writer.write_all(&[b'x'; 100_000]).ok()?;
                }
            }
        }
    }
}

fn say(writer: &mut TcpStream, status: u16, lines: &str, body: &str) -> Option<()> {
    let length = body.len();
    // In one piece: what is written bit by bit waits for the other side to acknowledge the bit before.
    let answer = format!("HTTP/1.1 {status} x\r\n{lines}Content-Length: {length}\r\n\r\n{body}");
    writer.write_all(answer.as_bytes()).ok()
}

fn pause(state: &State, time: Duration) {
    let mut left = time;
    while !left.is_zero() && !state.is_over.load(Ordering::SeqCst) {
        let some = left.min(Duration::from_millis(50));
        std::thread::park_timeout(some);
        left = left.saturating_sub(some);
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut received = Received { head, body: String::new(), at: Instant::now(), is_accepted: false };
    let length: usize = received.header("content-length").parse().unwrap_or_default();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    received.body = String::from_utf8(body).ok()?;
    received.at = Instant::now();
    Some(received)
}
