//! Asks a node how it is: one request over plain HTTP, on a connection of its own.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use futures_util::future::join;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Host, Position, Url};

use crate::cli::status::answer::{Answer, Engine};

/// The longest time that a node may take to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// The largest answer that is read.
const MAX_BYTES: usize = 1 << 20;

/// What a node said, or why it said nothing.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) url: Url,
    pub(super) answer: Result<Answer, Problem>,
}

/// The reasons for which there is no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    /// It may answer when it is asked again.
    #[error("{0}")]
    Away(String),
    /// It will not answer whoever has this token.
    #[error("{0}")]
    Refused(&'static str),
}

/// Reads the address of a node, as a flag gives it.
pub(super) fn address(text: &str) -> Result<Url, String> {
    let form = "use http://HOST:PORT, where the node itself listens";
    let url: Url = text.parse().map_err(|error| format!("{error}; {form}"))?;
    match url.scheme() {
        "http" if url.host().is_some() => Ok(url),
        "https" => Err(format!("TLS is not spoken here; {form}, or a tunnel to it")),
        _ => Err(form.into()),
    }
}

/// The host and the port of a node, as one word.
pub(super) fn authority(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

/// Asks a node.
pub(super) async fn ask(url: &Url, token: &str) -> Seen {
    let asked = timeout(ANSWERS_WITHIN, exchange(url, token)).await;
    let late = || anyhow!("nothing came within {} s", ANSWERS_WITHIN.as_secs());
    let answer = match asked.unwrap_or_else(|_| Err(late())) {
        Ok((status, body)) => read(status, &body),
        Err(error) => Err(Problem::Away(format!("does not answer: {error:#}"))),
    };
    Seen { url: url.clone(), answer }
}

async fn exchange(url: &Url, token: &str) -> anyhow::Result<(StatusCode, Bytes)> {
    let host = match url.host().context("no host")? {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    let stream = TcpStream::connect((host, url.port_or_known_default().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get(format!("{}/v1/engine", url.path().trim_end_matches('/')))
        .header(HOST, authority(url))
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(Empty::<Bytes>::new())?;
    let asking = async move {
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, MAX_BYTES).collect().await.map_err(anyhow::Error::from_boxed)?;
        Ok((head.status, body.to_bytes()))
    };
    // Whatever goes wrong with the connection goes wrong with the answer.
    let (answered, _) = join(asking, connection).await;
    answered
}

/// Reads an answer.
fn read(status: StatusCode, body: &[u8]) -> Result<Answer, Problem> {
    match status {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED => {
            return Err(Problem::Refused(
                "the token is unknown or has expired; watchkeeper token list shows those that there are",
            ));
        }
        StatusCode::FORBIDDEN => {
            return Err(Problem::Refused(
                "the token is missing the permission engine.view, which is no part of all; \
                watchkeeper token create --org ID --name operator --permissions engine.view makes one that has it",
            ));
        }
        StatusCode::TOO_MANY_REQUESTS => {
            return Err(Problem::Away("is asked too often with this token (429)".into()));
        }
        _ => return Err(Problem::Away(format!("answers {status} instead of how it is"))),
    }
    let strange =
        |error: serde_json::Error| Problem::Away(format!("answers what this version cannot read: {error}"));
    let mut whole: Value = serde_json::from_slice(body).map_err(strange)?;
    let raw = whole["data"].take();
    let engine: Engine = serde_json::from_value(raw.clone()).map_err(strange)?;
    Ok(Answer { raw, engine })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://127.0.0.1:8080", true)]
    #[case("http://[::1]:8080/", true)]
    #[case("http://node-a", true)]
    #[case("https://node-a", false)]
    #[case("node-a:8080", false)]
    #[case("127.0.0.1:8080", false)]
    fn an_address_is_plain_http(#[case] text: &str, #[case] is_address: bool) {
        assert_eq!(address(text).is_ok(), is_address);
    }

    #[rstest]
    #[case(401, "", "unknown")]
    #[case(403, "", "engine.view")]
    #[case(429, "", "too often")]
    #[case(404, "", "404 Not Found")]
    #[case(200, "<html>", "cannot read")]
    #[case(200, r#"{"data": {}}"#, "missing field")]
    fn a_refusal_says_what_to_do(#[case] status: u16, #[case] body: &str, #[case] said: &str) {
        let problem = read(StatusCode::from_u16(status).unwrap(), body.as_bytes()).unwrap_err();
        assert!(problem.to_string().contains(said), "{problem}");
        assert_eq!(matches!(problem, Problem::Refused(_)), matches!(status, 401 | 403));
    }
}
