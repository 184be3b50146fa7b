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

use super::failure::{ConnectFault, ExchangeFailure, TlsFault};
use super::host_resolver::HostResolver;
use super::setup::{OutboundError, OutboundParts};
use crate::egress::{
    CertificateTime, EgressGate, LenientStream, PermittedAddress, authorities, cryptography, local_fault,
};
use crate::model::check::LocalFault;

/// Time limit for opening one connection.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// Maximum number of addresses of a host that are tried.
const ADDRESSES_MAX: usize = 16;

#[derive(Clone)]
pub(super) struct OutboundConnector(Arc<ConnectorInner>);

struct ConnectorInner {
    egress: EgressGate,
    names: HostResolver,
    tls: Arc<ClientConfig>,
    /// TLS configuration for protocols other than HTTP, without ALPN.
    other_tls: Arc<ClientConfig>,
}

/// A connection, plain or under TLS.
pub(super) trait TransportStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> TransportStream for T {}

impl Connection for Box<dyn TransportStream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl fmt::Debug for OutboundConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector(..)")
    }
}

impl OutboundConnector {
    pub(super) fn new(parts: OutboundParts<'_>) -> Result<Self, OutboundError> {
        let time = Arc::new(CertificateTime(parts.clock));
        let mut tls = ClientConfig::builder_with_details(cryptography(), time)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(authorities(parts.ca_file)?)
            .with_no_client_auth();
        let other_tls = Arc::new(tls.clone());
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let names = HostResolver::new(parts.dns_servers)?;
        Ok(Self(Arc::new(ConnectorInner { egress: parts.egress, names, tls: Arc::new(tls), other_tls })))
    }
}

impl OutboundConnector {
    /// Opens a plain connection, for a protocol that is not HTTP.
    pub(super) async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, ExchangeFailure> {
        self.0.reach(host, port).await
    }

    /// Starts TLS on a connection.
    pub(super) async fn secure(
        &self,
        stream: TcpStream,
        host: &str,
    ) -> Result<TlsStream<TcpStream>, ExchangeFailure> {
        secure(&self.0.other_tls, stream, host).await
    }
}

impl Service<Uri> for OutboundConnector {
    type Response = TokioIo<Box<dyn TransportStream>>;
    type Error = ExchangeFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ExchangeFailure>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), ExchangeFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let opened = timeout(CONNECT_MAX, inner.open(&to)).await;
            opened.unwrap_or(Err(ExchangeFailure::Connect(ConnectFault::Silence))).map(TokioIo::new)
        })
    }
}

impl ConnectorInner {
    async fn open(&self, to: &Uri) -> Result<Box<dyn TransportStream>, ExchangeFailure> {
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
    async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, ExchangeFailure> {
        let candidates = self.permitted(&self.names.lookup(host).await?)?;
        let stream = self.dial(&candidates, port).await?;
        // Head and body of a small request follow each other at once.
        stream.set_nodelay(true).map_err(|error| ExchangeFailure::of_io(&error))?;
        Ok(stream)
    }

    /// Returns the addresses that pass the gate; an error only when none does.
    fn permitted(&self, found: &[IpAddr]) -> Result<Vec<PermittedAddress>, ExchangeFailure> {
        let mut blocked = None;
        let passed = found.iter().filter_map(|address| {
            self.egress
                .permit(*address)
                .map_err(|refusal| blocked = Some(ExchangeFailure::Blocked(refusal)))
                .ok()
        });
        let passed: Vec<PermittedAddress> = passed.take(ADDRESSES_MAX).collect();
        blocked.filter(|_| passed.is_empty()).map_or(Ok(passed), Err)
    }

    async fn dial(&self, candidates: &[PermittedAddress], port: u16) -> Result<TcpStream, ExchangeFailure> {
        let has_ipv4 = candidates.iter().any(|pinned| pinned.address().is_ipv4());
        let (mut ours, mut fault) = (None, ConnectFault::Unreachable);
        let lost = |pinned: PermittedAddress, error: &std::io::Error| {
            // A machine without IPv6 may report "address not available"; with IPv4 to try, that is not a lack of ports.
            let lacks_ipv6 = pinned.address().is_ipv6() && has_ipv4;
            match local_fault(error) {
                Some(LocalFault::NoPorts) if lacks_ipv6 => {}
                Some(own) => ours = Some(own),
                None => fault = fault.max(ConnectFault::of(error)),
            }
        };
        if let Some((stream, _)) = self.egress.race(candidates, port, lost).await {
            return Ok(stream);
        }
        let is_lost = || candidates.iter().all(|pinned| self.egress.has_lost_route_to(pinned.address()));
        if ours.is_none() && fault < ConnectFault::Reset && is_lost() {
            ours = Some(LocalFault::NetworkDown);
        }
        Err(ours.map_or(ExchangeFailure::Connect(fault), ExchangeFailure::Ours))
    }
}

async fn secure(
    config: &Arc<ClientConfig>,
    stream: TcpStream,
    host: &str,
) -> Result<TlsStream<TcpStream>, ExchangeFailure> {
    let bare = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let name = ServerName::try_from(bare.to_owned()).map_err(|_| ExchangeFailure::Tls(TlsFault::Hostname))?;
    let shaken = TlsConnector::from(Arc::clone(config)).connect(name, stream).await;
    shaken.map_err(|error| match ExchangeFailure::of_io(&error) {
        ExchangeFailure::Closed => ExchangeFailure::Tls(TlsFault::Handshake),
        other => other,
    })
}
