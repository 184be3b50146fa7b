//! The only HTTP client for messages to other systems: every connection passes the gate.
//!
//! One exchange is one request and its response within one deadline. Redirects are not followed, proxies of the environment
//! are not used, nothing is sent twice. HTTP/1.1 only: a connection that dies silently breaks one exchange, not all that
//! share it. The caller decides on content, receiver and meaning of the response.

mod connector;
mod failure;
mod host_resolver;
mod request;
mod response;
mod setup;
mod url;

use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;

use connector::OutboundConnector;
pub use failure::{ConnectFault, ExchangeFailure, NameFault, TimeoutStage, TlsFault};
pub use request::{OutboundRequest, is_own};
pub use response::{EXCERPT_MAX_BYTES, OutboundResponse, RetryAfter};
pub use setup::{OutboundError, OutboundParts};
pub use url::{OutboundUrl, OutboundUrlError};

use super::{HEAD_MAX_BYTES, HEAD_MAX_LINES};

/// Idle connections are not used after this time; the pool checks as often, so they are closed within twice
/// this time.
const IDLE: Duration = Duration::from_secs(15);
/// Maximum number of idle connections to one host and port: as many as one channel uses at once.
const IDLE_PER_HOST: usize = 16;

/// The client. Cheap to clone; one per process, used on one runtime.
#[derive(Clone, Debug)]
pub struct OutboundClient {
    client: Client<OutboundConnector, Full<Bytes>>,
    connector: OutboundConnector,
}

impl OutboundClient {
    /// Reads the authorities and the resolver's configuration; connects to nothing.
    ///
    /// # Errors
    ///
    /// When one of these files is missing or damaged; the message says which and why.
    pub fn new(parts: OutboundParts<'_>) -> Result<Self, OutboundError> {
        let connector = OutboundConnector::new(parts)?;
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_headers(HEAD_MAX_LINES)
            .http1_max_buf_size(HEAD_MAX_BYTES)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .build(connector.clone());
        Ok(Self { client, connector })
    }

    /// Opens a plain connection through the gate, for a protocol that is not HTTP. The caller sets the timeout.
    pub async fn reach(&self, host: &str, port: u16) -> Result<TcpStream, ExchangeFailure> {
        self.connector.reach(host, port).await
    }

    /// Starts TLS on a connection that `reach` opened, with the same certificate verification as for requests.
    ///
    /// # Errors
    /// When the server is not trusted, or the handshake fails.
    pub async fn secure(
        &self,
        stream: TcpStream,
        host: &str,
    ) -> Result<TlsStream<TcpStream>, ExchangeFailure> {
        self.connector.secure(stream, host).await
    }

    /// Sends a request and receives the response of any status, until the request's deadline.
    ///
    /// # Errors
    ///
    /// When there is no complete response; the error contains nothing of the request.
    pub async fn send(&self, request: OutboundRequest) -> Result<OutboundResponse, ExchangeFailure> {
        let deadline = Instant::now() + request.deadline;
        let answered = self.exchange(request, deadline).await?;
        OutboundResponse::read_response(answered, deadline).await
    }

    /// Sends a request and receives the whole response of any status, with its headers and at most
    /// `response::BODY_MAX_BYTES` of its body, until the request's deadline.
    ///
    /// # Errors
    ///
    /// When there is no complete response, or it is larger; the error contains nothing of the request.
    pub async fn fetch(&self, request: OutboundRequest) -> Result<Response<Bytes>, ExchangeFailure> {
        let deadline = Instant::now() + request.deadline;
        let answered = self.exchange(request, deadline).await?;
        response::read_whole(answered, deadline).await
    }

    async fn exchange(
        &self,
        request: OutboundRequest,
        deadline: Instant,
    ) -> Result<Response<Incoming>, ExchangeFailure> {
        let mut request = request.into_http()?;
        let captured = capture_connection(&mut request);
        match timeout_at(deadline, self.client.request(request)).await {
            Ok(answered) => answered.map_err(|error| ExchangeFailure::of(&error)),
            Err(_elapsed) if captured.connection_metadata().is_some() => {
                Err(ExchangeFailure::Timeout(TimeoutStage::Answering))
            }
            Err(_elapsed) => Err(ExchangeFailure::Timeout(TimeoutStage::Connecting)),
        }
    }
}
