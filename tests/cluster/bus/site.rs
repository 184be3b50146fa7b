//! A monitored website that records its requests: each page stores the times of its visits, and can be broken.
//!
//! Every connection has a thread of its own, so a stalled visitor delays no other.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::bus::now;

/// The website. It ends when it is dropped.
pub(crate) struct Site {
    address: SocketAddr,
    pages: Arc<Pages>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Pages {
    /// Milliseconds since 1970 of every request, in order.
    visits: Mutex<BTreeMap<String, Vec<i64>>>,
    broken: Mutex<BTreeSet<String>>,
    is_over: AtomicBool,
}

impl Site {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pages = Arc::new(Pages::default());
        let known = Arc::clone(&pages);
        let listening = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if known.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let known = Arc::clone(&known);
                std::thread::spawn(move || known.serve(stream));
            }
        });
        Self { address, pages, listening: Some(listening) }
    }

    pub(crate) fn url(&self, page: &str) -> String {
        format!("http://{}/{page}", self.address)
    }

    /// The times at which a page was requested, in milliseconds since 1970.
    pub(crate) fn visits(&self, page: &str) -> Vec<i64> {
        self.pages.visits.lock().unwrap().get(page).cloned().unwrap_or_default()
    }

    /// From now on these pages answer 500.
    pub(crate) fn break_pages<'p>(&self, pages: impl IntoIterator<Item = &'p str>) {
        self.pages.broken.lock().unwrap().extend(pages.into_iter().map(str::to_owned));
    }

    /// From now on every page answers 200 again.
    pub(crate) fn mend_pages(&self) {
        self.pages.broken.lock().unwrap().clear();
    }
}

impl Pages {
    fn serve(&self, mut stream: TcpStream) {
        let Some(page) = page_asked_for(&mut stream) else { return };
        self.visits.lock().unwrap().entry(page.clone()).or_default().push(now().ms());
        let status = if self.broken.lock().unwrap().contains(&page) { "500 Broken" } else { "200 OK" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        // A visitor that has gone was here all the same.
        let _ = stream.write_all(answer.as_bytes());
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.pages.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that listens; a visitor may have woken it already.
        let _ = TcpStream::connect(self.address);
        let ended = self.listening.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()) || std::thread::panicking());
    }
}

/// The path without its slash; `None` when the visitor left before asking.
fn page_asked_for(stream: &mut TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let (mut head, mut bytes) = (Vec::new(), [0; 1_024]);
    while !head.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut bytes).ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&bytes[..count]);
    }
    let head = String::from_utf8(head).ok()?;
    head.split(' ').nth(1)?.strip_prefix('/').map(str::to_owned)
}
