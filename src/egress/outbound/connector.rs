//! Opens the connections of the client: resolve, pass the gate, race the addresses, and TLS for `https`.
//!
//! Opening may continue after its request has found another connection, so it has a timeout of its own.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use super::failed::{ConnectFault, Failed, TlsFault};
use super::names::Names;
use super::parts::{OutboundError, OutboundParts};
use crate::egress::{CertificateTime, Egress, LenientStream, Pinned, authorities, cryptography, trouble};
use crate::model::check::Trouble;

/// Time limit for opening one connection.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// Maximum number of addresses of a host that are tried.
const ADDRESSES_MAX: usize = 16;

#[derive(Clone)]
pub(super) struct Connector(Arc<Inner>);

struct Inner {
    egress: Egress,
    names: Names,
    tls: Arc<ClientConfig>,
    /// TLS configuration for protocols other than HTTP, without ALPN.
    other_tls: Arc<ClientConfig>,
}

/// A connection, plain or under TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Connection for Box<dyn Stream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector(..)")
    }
}

impl Connector {
    pub(super) fn new(parts: OutboundParts<'_>) -> Result<Self, OutboundError> {
        let time = Arc::new(CertificateTime(parts.clock));
        let mut tls = ClientConfig::builder_with_details(cryptography(), time)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(authorities(parts.ca_file)?)
            .with_no_client_auth();
        let other_tls = Arc::new(tls.clone());
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let names = Names::new(parts.dns_servers)?;
        Ok(Self(Arc::new(Inner { egress: parts.egress, names, tls: Arc::new(tls), other_tls })))
    }
}

impl Connector {
    /// Opens a plain connection, for a protocol that is not HTTP.
    pub(super) async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, Failed> {
        self.0.reach(host, port).await
    }

    /// Starts TLS on a connection.
    pub(super) async fn secure(&self, stream: TcpStream, host: &str) -> Result<TlsStream<TcpStream>, Failed> {
        secure(&self.0.other_tls, stream, host).await
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Failed>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let opened = timeout(CONNECT_MAX, inner.open(&to)).await;
            opened.unwrap_or(Err(Failed::Connect(ConnectFault::Silence))).map(TokioIo::new)
        })
    }
}

impl Inner {
    async fn open(&self, to: &Uri) -> Result<Box<dyn Stream>, Failed> {
        let host = to.host().unwrap_or_default();
        let is_tls = to.scheme() == Some(&Scheme::HTTPS);
        let port = to.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let stream = self.reach(host, port).await?;
        Ok(if is_tls {
            Box::new(LenientStream::new(secure(&self.tls, stream, host).await?))
        } else {
            Box::new(LenientStream::new(stream))
        })
    }

    /// Opens a plain connection to a host.
    async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, Failed> {
        let candidates = self.permitted(&self.names.lookup(host).await?)?;
        let stream = self.dial(&candidates, port).await?;
        // Head and body of a small request follow each other at once.
        stream.set_nodelay(true).map_err(|error| Failed::of_io(&error))?;
        Ok(stream)
    }

    /// Returns the addresses that pass the gate; an error only when none does.
    fn permitted(&self, found: &[IpAddr]) -> Result<Vec<Pinned>, Failed> {
        let mut blocked = None;
        let passed = found.iter().filter_map(|address| {
            self.egress.permit(*address).map_err(|refusal| blocked = Some(Failed::Blocked(refusal))).ok()
        });
        let passed: Vec<Pinned> = passed.take(ADDRESSES_MAX).collect();
        blocked.filter(|_| passed.is_empty()).map_or(Ok(passed), Err)
    }

    async fn dial(&self, candidates: &[Pinned], port: u16) -> Result<TcpStream, Failed> {
        let has_ipv4 = candidates.iter().any(|pinned| pinned.address().is_ipv4());
        let (mut ours, mut fault) = (None, ConnectFault::Unreachable);
        let lost = |pinned: Pinned, error: &std::io::Error| {
            // A machine without IPv6 may report "address not available"; with IPv4 to try, that is not a lack of ports.
            let lacks_ipv6 = pinned.address().is_ipv6() && has_ipv4;
            match trouble(error) {
                Some(Trouble::NoPorts) if lacks_ipv6 => {}
                Some(own) => ours = Some(own),
                None => fault = fault.max(ConnectFault::of(error)),
            }
        };
        if let Some((stream, _)) = self.egress.race(candidates, port, lost).await {
            return Ok(stream);
        }
        let is_lost = || candidates.iter().all(|pinned| self.egress.has_lost(pinned.address()));
        if ours.is_none() && fault < ConnectFault::Reset && is_lost() {
            ours = Some(Trouble::NetworkDown);
        }
        Err(ours.map_or(Failed::Connect(fault), Failed::Ours))
    }
}

async fn secure(
    config: &Arc<ClientConfig>,
    stream: TcpStream,
    host: &str,
) -> Result<TlsStream<TcpStream>, Failed> {
    let bare = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let name = ServerName::try_from(bare.to_owned()).map_err(|_| Failed::Tls(TlsFault::Hostname))?;
    let shaken = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
    shaken.map_err(|error| match Failed::of_io(&error) {
        Failed::Closed => Failed::Tls(TlsFault::Handshake),
        other => other,
    })
}
