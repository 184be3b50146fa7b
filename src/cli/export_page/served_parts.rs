//! The parts of a page that a running server renders.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;
use url::Url;

use crate::cli::node_api;
use crate::clock::{Clock, Timestamp};
use crate::id::Id;
use crate::model::secret::SecretSealer;
use crate::pages::export::{EXPORT_HEADER, ExportPass, PartSource, ServedPart};

/// Longest wait for one part.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);
/// Largest part, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Requests the parts of one page from a server of this installation.
pub(super) struct ServedParts<'a> {
    /// Address of the server.
    pub(super) node: Url,
    /// Host of the page.
    pub(super) host: String,
    /// Id of the page.
    pub(super) page: Id,
    /// Signs the requests.
    pub(super) sealer: &'a SecretSealer,
    /// The time that the parts show.
    pub(super) exported_at: Timestamp,
}

impl PartSource for ServedParts<'_> {
    async fn part(&self, target: &str) -> Result<ServedPart, String> {
        let at = node_api::authority(&self.node);
        let asked = timeout(ANSWERS_WITHIN, self.ask(target)).await;
        let late = |_| format!("no answer of {at} within {} s", ANSWERS_WITHIN.as_secs());
        let answer = asked.map_err(late)?.map_err(|error| format!("{at} does not answer: {error:#}"))?;
        let status = answer.status();
        let is_part = answer.headers().contains_key(EXPORT_HEADER);
        if status == StatusCode::FORBIDDEN || (status == StatusCode::OK && !is_part) {
            return Err(format!(
                "{at} makes no export of this page: it is the server of another installation, of an earlier version, or its \
                 clock is a minute off"
            ));
        }
        let text = |name: HeaderName| {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        Ok(ServedPart {
            status: answer.status().as_u16(),
            content_type: text(CONTENT_TYPE),
            policy: text(CONTENT_SECURITY_POLICY),
            body: answer.into_body(),
        })
    }
}

impl ServedParts<'_> {
    async fn ask(&self, target: &str) -> anyhow::Result<Response<Bytes>> {
        let pass = ExportPass { sealer: self.sealer, page: self.page };
        let request = Request::builder()
            .method(Method::GET)
            .uri(format!("{}{target}", self.node.path().trim_end_matches('/')))
            .header(HOST, &self.host)
            .header(EXPORT_HEADER, pass.value(self.exported_at, Clock::System.now()))
            .body(Full::new(Bytes::new()))?;
        node_api::send(&self.node, request, MAX_BYTES).await
    }
}
