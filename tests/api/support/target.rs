//! A real web server on loopback to be watched: it can be stopped and started again on the same port.
//!
//! It answers every request with 200 and remembers the heads that arrived; while it hangs it answers none.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A watched server.
pub(crate) struct Target {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    hangs: Arc<AtomicBool>,
    running: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Target {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut target = Self { address, requests: Arc::default(), hangs: Arc::default(), running: None };
        target.run(listener);
        target
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Later connections are accepted and get no response, until it stops.
    pub(crate) fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    /// From now on connections are refused.
    pub(crate) fn stop(&mut self) {
        let Some((stopping, thread)) = self.running.take() else { return };
        stopping.store(true, Ordering::SeqCst);
        // Wakes the thread; it may already have been woken by a visitor.
        let _ = TcpStream::connect(self.address);
        thread.join().unwrap();
        self.hangs.store(false, Ordering::SeqCst);
    }

    /// Answers again, where it answered before.
    pub(crate) fn start_again(&mut self) {
        self.run(TcpListener::bind(self.address).unwrap());
    }

    /// The heads of all requests that arrived.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    fn run(&mut self, listener: TcpListener) {
        let stopping = Arc::new(AtomicBool::new(false));
        let (told, requests, hangs) =
            (Arc::clone(&stopping), Arc::clone(&self.requests), Arc::clone(&self.hangs));
        let thread = std::thread::spawn(move || {
            let mut unanswered = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                if told.load(Ordering::SeqCst) {
                    return;
                }
                if hangs.load(Ordering::SeqCst) {
                    unanswered.push(stream);
                    continue;
                }
                if let Some(head) = serve(stream) {
                    requests.lock().unwrap().push(head);
                }
            }
        });
        self.running = Some((stopping, thread));
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Answers one request; `None` when the visitor left before asking.
fn serve(mut stream: TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").ok()?;
    String::from_utf8(head).ok()
}
