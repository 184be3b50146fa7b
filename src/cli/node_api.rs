//! Client of a running node's API for commands: one request over plain HTTP, on its own connection.
//!
//! A command that uses this client opens no database.

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::future::join;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use url::{Host, Position, Url};

use crate::cli::secret;
use crate::config::Config;
use crate::config::sources::ConfigError;

/// A request to a node.
#[derive(Clone, Debug)]
pub(super) struct NodeRequest {
    pub(super) method: Method,
    pub(super) path: String,
    /// JSON body; may be empty.
    pub(super) body: Bytes,
    /// Largest response, in bytes.
    pub(super) max_bytes: usize,
}

/// Returns the member `data` of a response; null if the response has none, so that a foreign server's answer is an error
/// of its reader and no panic.
pub(super) fn data(mut response: Value) -> Value {
    response.get_mut("data").map(Value::take).unwrap_or_default()
}

/// Parses the address of a node from a flag.
pub(super) fn address(text: &str) -> Result<Url, String> {
    let form = "use http://HOST:PORT, where the node itself listens";
    let url: Url = text.parse().map_err(|error| format!("{error}; {form}"))?;
    match url.scheme() {
        "http" if url.host().is_some() => Ok(url),
        "https" => Err(format!("TLS is not spoken here; {form}, or a tunnel to it")),
        _ => Err(form.into()),
    }
}

/// Returns host and port of a node as text.
pub(super) fn authority(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

/// Returns the URL of the node that has these settings.
pub(super) fn here(config: &Config) -> anyhow::Result<Url> {
    let address = config.listen.local_address();
    Ok(format!("http://{address}").parse()?)
}

/// Returns the given token, or the token in the data folder. `makes_one` names the command that creates a token, for the
/// error message.
pub(super) fn token(given: Option<&str>, config: &Config, makes_one: &str) -> anyhow::Result<String> {
    let token = match given {
        Some(given) => secret::read(given)?,
        None => {
            let file = config.data_dir.join("token");
            let absent = |error| {
                let file = file.display();
                ConfigError(format!("there is no --token, and {file} cannot be read ({error}); {makes_one}"))
            };
            std::fs::read_to_string(&file).map_err(absent)?.trim().to_owned()
        }
    };
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ConfigError(format!("the given token is malformed; {makes_one}")).into());
    }
    Ok(token)
}

/// Sends a request, and waits for the whole response.
///
/// # Errors
/// When the connection fails, or the response is too large.
pub(super) async fn exchange(
    url: &Url,
    token: &str,
    question: NodeRequest,
) -> anyhow::Result<(StatusCode, Bytes)> {
    let NodeRequest { method, path, body, max_bytes } = question;
    let request = Request::builder()
        .method(method)
        .uri(format!("{}{path}", url.path().trim_end_matches('/')))
        .header(HOST, authority(url))
        .header(AUTHORIZATION, format!("Bearer {token}"));
    let request = if body.is_empty() { request } else { request.header(CONTENT_TYPE, "application/json") };
    let answer = send(url, request.body(Full::new(body))?, max_bytes).await?;
    Ok((answer.status(), answer.into_body()))
}

/// Sends a request of any kind, and waits for the whole response, which has at most this many bytes.
///
/// # Errors
/// As [`exchange`].
pub(super) async fn send(
    url: &Url,
    request: Request<Full<Bytes>>,
    max_bytes: usize,
) -> anyhow::Result<Response<Bytes>> {
    let host = match url.host().context("no host")? {
        Host::Domain(name) => name.to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    let stream = TcpStream::connect((host, url.port_or_known_default().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let asking = async move {
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, max_bytes).collect().await.map_err(anyhow::Error::from_boxed)?;
        Ok(Response::from_parts(head, body.to_bytes()))
    };
    // An error of the connection is also returned as an error of the response.
    let (answered, _) = join(asking, connection).await;
    answered
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
}
