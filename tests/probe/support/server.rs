//! A real TCP listener on loopback that treats its visitors as scripted, and records what they sent.
//!
//! Stops when it is dropped. Its handlers send bytes, so that they can misbehave in every way.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A listener with its visitors.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Calls `serve` for every connection, one after the other.
    pub(crate) async fn start<F, R>(serve: F) -> Self
    where
        F: Fn(TcpStream, Visit) -> R + Send + 'static,
        R: Future<Output = ()> + Send,
    {
        Self::start_on("127.0.0.1:0", serve).await
    }

    /// The same on a given address.
    pub(crate) async fn start_on<F, R>(address: &str, serve: F) -> Self
    where
        F: Fn(TcpStream, Visit) -> R + Send + 'static,
        R: Future<Output = ()> + Send,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let visit = Visit { seen: seen.clone() };
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serve(stream, visit.clone()).await;
            }
        });
        Self { address, seen, task }
    }

    /// Answers every request with these bytes and closes.
    pub(crate) async fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response: Arc<[u8]> = response.into().into();
        Self::start(move |mut stream, visit| {
            let response = response.clone();
            async move {
                visit.request(&mut stream).await;
                // The probe may have seen enough and left.
                let _ = stream.write_all(&response).await;
            }
        })
        .await
    }

    /// An address of this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far, head and body as received.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Record of the received requests, for a handler.
#[derive(Clone)]
pub(crate) struct Visit {
    seen: Arc<Mutex<Vec<String>>>,
}

impl Visit {
    /// Remembers something about a visitor.
    pub(crate) fn note(&self, text: String) {
        self.seen.lock().unwrap().push(text);
    }

    /// Reads one request: its head, and a body of the announced length.
    pub(crate) async fn request(&self, stream: &mut (impl AsyncRead + Unpin)) -> String {
        let mut read = Vec::new();
        while !is_complete(&read) {
            let mut piece = [0; 1024];
            match stream.read(&mut piece).await {
                Ok(length) if length > 0 => read.extend_from_slice(&piece[..length]),
                _ => break,
            }
        }
        let request = String::from_utf8_lossy(&read).into_owned();
        self.note(request.clone());
        request
    }
}

fn is_complete(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let announced = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    body.len() >= announced
}

/// Closes a connection by reset.
pub(crate) fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// An address without a listener: its port was free a moment ago.
pub(crate) async fn closed_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// A listener whose queue is full: the kernel drops further connection attempts without a word.
pub(crate) struct Blackhole {
    pub(crate) address: SocketAddr,
    _listener: Socket,
    _fillers: Vec<TcpStream>,
}

impl Blackhole {
    /// Fills the queue.
    pub(crate) async fn dig() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        listener.bind(&any.into()).unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let mut fillers = Vec::new();
        let patience = Duration::from_millis(100);
        while let Ok(filler) = tokio::time::timeout(patience, TcpStream::connect(address)).await {
            fillers.push(filler.unwrap());
        }
        Self { address, _listener: listener, _fillers: fillers }
    }
}
