//! A way to the bus that can be cut, as by a network that drops everything silently: no error is seen, and what is under way arrives
//! when it is mended.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The way; it ends with this value.
pub(crate) struct Relay {
    port: u16,
    is_open: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Relay {
    /// An open way to this port of this machine.
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let (is_open, opened) = watch::channel(true);
        let task = tokio::spawn(accept(listener, port, opened));
        Self { port: own, is_open, task }
    }

    /// The port to connect to.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Drops everything from this call on.
    pub(crate) fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// Lets everything through again.
    pub(crate) fn mend(&self) {
        self.is_open.send_replace(true);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, port: u16, opened: watch::Receiver<bool>) {
    loop {
        let Ok((near, _)) = listener.accept().await else { return };
        let opened = opened.clone();
        tokio::spawn(async move {
            let mut waiting = opened.clone();
            let _ = waiting.wait_for(|is_open| *is_open).await;
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else { return };
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            tokio::join!(carry(near_in, far_out, opened.clone()), carry(far_in, near_out, opened));
        });
    }
}

/// Carries bytes one way until either end closes.
async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut opened: watch::Receiver<bool>) {
    let mut bytes = vec![0; 16_384];
    while let Ok(count) = from.read(&mut bytes).await {
        if opened.wait_for(|is_open| *is_open).await.is_err()
            || count == 0
            || to.write_all(&bytes[..count]).await.is_err()
        {
            return;
        }
    }
}
