//! Carries the requests of the ACME client: over the one gate for outbound connections, within a deadline each.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};

use crate::clock::Clock;
use crate::egress::outbound::{OutboundClient, OutboundRequest, OutboundUrl, RetryAfter};

/// Time limit of one request.
const DEADLINE: Duration = Duration::from_secs(30);

type PendingResponse = Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>>;

/// The transport of an account. Its clones share what they remember.
#[derive(Clone, Debug)]
pub(super) struct AcmeTransport {
    outbound: OutboundClient,
    clock: Clock,
    /// The wait that the last refusal asked for.
    asked_wait: Arc<Mutex<Option<Duration>>>,
}

impl AcmeTransport {
    pub(super) fn new(outbound: OutboundClient, clock: Clock) -> Self {
        Self { outbound, clock, asked_wait: Arc::default() }
    }

    /// Returns and forgets the wait that a refusal asked for by `Retry-After` since the last call.
    pub(super) fn take_asked_wait(&self) -> Option<Duration> {
        self.asked_wait.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn send(self, request: Request<BodyWrapper<Bytes>>) -> Result<Response<Full<Bytes>>, Error> {
        let other = |error| Error::Other(error);
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        let url = OutboundUrl::parse(&head.uri.to_string()).map_err(|error| other(Box::new(error)))?;
        let headers = head.headers.into_iter().filter_map(|(name, value)| Some((name?, value))).collect();
        let request = OutboundRequest { method: head.method, url, headers, body, deadline: DEADLINE };
        let response = self.outbound.fetch(request).await.map_err(|error| other(Box::new(error)))?;
        if response.status().is_client_error() || response.status().is_server_error() {
            let asked = RetryAfter::of(response.headers()).map(|after| after.wait(self.clock.now()));
            *self.asked_wait.lock().unwrap_or_else(PoisonError::into_inner) = asked;
        }
        Ok(response.map(Full::new))
    }
}

impl HttpClient for AcmeTransport {
    fn request(&self, request: Request<BodyWrapper<Bytes>>) -> PendingResponse {
        let transport = self.clone();
        Box::pin(async move { transport.send(request).await.map(BytesResponse::from) })
    }
}
