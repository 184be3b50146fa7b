//! The network transport of the resolver: that of Tokio, but answers are read as tolerantly as in glibc.
//!
//! hickory-resolver refuses a message with any record that it cannot parse, and reads no more than 512 bytes
//! without EDNS. So it is given the readable part, with as many addresses as fit.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use hickory_resolver::net::runtime::{RuntimeProvider, TokioRuntimeProvider};

use super::name_answers::{AnswerSocket, AnswerStream};

type Opening<T> = Pin<Box<dyn Send + Future<Output = io::Result<T>>>>;

/// Opens the resolver's sockets.
#[derive(Clone, Default)]
pub(crate) struct NameTransport(TokioRuntimeProvider);

impl RuntimeProvider for NameTransport {
    type Handle = <TokioRuntimeProvider as RuntimeProvider>::Handle;
    type Timer = <TokioRuntimeProvider as RuntimeProvider>::Timer;
    type Udp = AnswerSocket;
    type Tcp = AnswerStream;

    fn create_handle(&self) -> Self::Handle {
        self.0.create_handle()
    }

    fn connect_tcp(
        &self,
        server: SocketAddr,
        source: Option<SocketAddr>,
        wait: Option<Duration>,
    ) -> Opening<Self::Tcp> {
        let connected = self.0.connect_tcp(server, source, wait);
        Box::pin(async move { connected.await.map(AnswerStream::new) })
    }

    fn bind_udp(&self, local: SocketAddr, server: SocketAddr) -> Opening<Self::Udp> {
        let bound = self.0.bind_udp(local, server);
        Box::pin(async move { bound.await.map(AnswerSocket) })
    }
}
