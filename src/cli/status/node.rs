//! Requests and parses the status of a node.

use std::time::Duration;

use anyhow::anyhow;
use bytes::Bytes;
use hyper::{Method, StatusCode};
use tokio::time::timeout;
use url::Url;

use crate::cli::node_api::{self, NodeRequest, exchange};
use crate::cli::status::answer::{EngineReply, EngineStatus};

const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// Largest response, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The status of a node, or the reason why it is missing.
#[derive(Debug)]
pub(super) struct NodeReport {
    pub(super) url: Url,
    pub(super) answer: Result<EngineReply, NodeFailure>,
}

/// Reasons for a missing status.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NodeFailure {
    /// A later request may succeed.
    #[error("{0}")]
    Away(String),
    /// Every request with this token will be refused.
    #[error("{0}")]
    Refused(&'static str),
}

/// Requests the status of a node.
pub(super) async fn ask(url: &Url, token: &str) -> NodeReport {
    let question = NodeRequest {
        method: Method::GET,
        path: "/v1/engine".into(),
        body: Bytes::new(),
        max_bytes: MAX_BYTES,
    };
    let asked = timeout(ANSWERS_WITHIN, exchange(url, token, question)).await;
    let late = || anyhow!("no answer within {} s", ANSWERS_WITHIN.as_secs());
    let answer = match asked.unwrap_or_else(|_| Err(late())) {
        Ok((status, body)) => read(status, &body),
        Err(error) => Err(NodeFailure::Away(format!("does not answer: {error:#}"))),
    };
    NodeReport { url: url.clone(), answer }
}

fn read(status: StatusCode, body: &[u8]) -> Result<EngineReply, NodeFailure> {
    match status {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED => {
            return Err(NodeFailure::Refused(
                "the token is unknown or has expired; watchkeeper token list shows those that there are",
            ));
        }
        StatusCode::FORBIDDEN => {
            return Err(NodeFailure::Refused(
                "the token is missing the permission engine.view, which is not part of all; \
                watchkeeper token create --org ID --name operator --permissions engine.view makes one that has it",
            ));
        }
        StatusCode::TOO_MANY_REQUESTS => {
            return Err(NodeFailure::Away("is asked too often with this token (429)".into()));
        }
        _ => return Err(NodeFailure::Away(format!("answers {status} instead of its state"))),
    }
    let strange = |error: serde_json::Error| {
        NodeFailure::Away(format!("sends an answer that this version cannot read: {error}"))
    };
    let raw = node_api::data(serde_json::from_slice(body).map_err(strange)?);
    let engine: EngineStatus = serde_json::from_value(raw.clone()).map_err(strange)?;
    Ok(EngineReply { raw, engine })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(401, "", "unknown")]
    #[case(403, "", "engine.view")]
    #[case(429, "", "too often")]
    #[case(404, "", "404 Not Found")]
    #[case(200, "<html>", "cannot read")]
    #[case(200, r#"{"data": {}}"#, "missing field")]
    fn a_refusal_names_the_remedy(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
        let problem = read(StatusCode::from_u16(status).unwrap(), body.as_bytes()).unwrap_err();
        assert!(problem.to_string().contains(expected), "{problem}");
        assert_eq!(matches!(problem, NodeFailure::Refused(_)), matches!(status, 401 | 403));
    }
}
