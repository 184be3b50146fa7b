//! Checks of the server of these settings, if it runs, and of the NATS server that it needs.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use crate::app::{first_start, require_installation};
use crate::config::Config;
use crate::doctor::OTHER_USER;
use crate::doctor::finding::DoctorFinding;
use crate::readiness::NODE_HEADER;

const CONNECT_WITHIN: Duration = Duration::from_secs(3);
const ANSWER_WITHIN: Duration = Duration::from_secs(6);
/// Port of a NATS server if its address has none.
const NATS_PORT: u16 = 4_222;
/// Maximum number of bytes of an answer that are read.
const ANSWER_BYTES: u64 = 64 * 1_024;

/// Requests `/readyz`; if nothing answers, checks whether the port is free.
pub(super) async fn examine(config: Arc<Config>) -> Vec<DoctorFinding> {
    let check = "server";
    let answered = timeout(ANSWER_WITHIN, ask(&config, "/readyz")).await;
    match answered.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
        Ok(answer) => judged_answer(&answer, || owner(&config, &answer)),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused && is_served(&config) => {
            let observation =
                format!("one runs on {}, but not at {}", config.data_dir.display(), config.listen);
            let advice = "give the settings of the server: --config, --listen, or its environment";
            vec![DoctorFinding::unknown(check, observation, advice)]
        }
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            vec![match TcpListener::bind(config.listen.address()) {
                Ok(_) => {
                    DoctorFinding::fine(check, format!("it does not run; {} is free for it", config.listen))
                }
                Err(error) => DoctorFinding::problem(
                    check,
                    format!("it does not run, and {} cannot be taken: {error}", config.listen),
                    "choose another address with --listen",
                ),
            }]
        }
        Err(error) => vec![DoctorFinding::problem(
            check,
            format!("something at {} does not answer: {error}", config.listen),
            "see what listens there: ss -ltnp",
        )],
    }
}

/// The installation to which an answering server belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ServerOwner {
    /// The server runs on the data folder of these settings.
    This,
    /// The server runs on another data folder; the text describes both.
    Other(String),
    /// This user may not see whether a server runs on the data folder; the text is the reason.
    Unknown(String),
}

/// Compares the node that an answer names with the node of the data folder. A server of an older version names none.
fn owner(config: &Config, answer: &str) -> ServerOwner {
    let folder = config.data_dir.display();
    let is_same_node = || {
        let Some(named) = header(answer, NODE_HEADER) else { return Ok(true) };
        first_start::node_of(&config.data_dir)
            .map(|node| node.is_some_and(|node| node.fingerprint() == named))
    };
    let other = |here: String| {
        ServerOwner::Other(format!("the one at {} belongs to another installation; {here}", config.listen))
    };
    match first_start::is_served(&config.data_dir).and_then(|is_served| Ok((is_served, is_same_node()?))) {
        Ok((true, true)) => ServerOwner::This,
        Ok((true, false)) => other(format!("the server of {folder} runs at another address")),
        Ok((false, _)) if require_installation(config).is_err() => {
            other(format!("there is none in {folder}"))
        }
        Ok((false, _)) => other(format!("no server runs on {folder}")),
        Err(error) => ServerOwner::Unknown(error.to_string()),
    }
}

/// Returns the value of a header of an answer.
fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split_once("\r\n\r\n").map_or(answer, |(head, _)| head);
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns true if a server is known to run on the data folder.
fn is_served(config: &Config) -> bool {
    first_start::is_served(&config.data_dir).unwrap_or(false)
}

/// Returns the answer of a server as text, including its head.
async fn ask(config: &Config, path: &str) -> std::io::Result<String> {
    let address = config.listen.local_address();
    let mut stream =
        timeout(CONNECT_WITHIN, TcpStream::connect(address)).await.map_err(|_| ErrorKind::TimedOut)??;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Returns the findings from an answer of `/readyz`; `owner` is called only if the answer is one of Watchkeeper.
fn judged_answer(answer: &str, owner: impl FnOnce() -> ServerOwner) -> Vec<DoctorFinding> {
    let check = "server";
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    // A body without a length may be chunked, so the JSON object is taken from between the outermost braces.
    let object = body.find('{').zip(body.rfind('}')).and_then(|(start, end)| body.get(start..=end));
    let observation: Option<Value> = object.and_then(|object| serde_json::from_str(object).ok());
    let Some(observation) = observation.filter(|observation| observation["status"].is_string()) else {
        let advice = "see what listens there: ss -ltnp";
        return vec![DoctorFinding::problem(check, "something else answers on its address", advice)];
    };
    match owner() {
        ServerOwner::This => {}
        ServerOwner::Other(observation) => {
            let advice =
                "give the settings of one installation: --data-dir, --config, --listen, or its environment";
            return vec![DoctorFinding::problem(check, observation, advice)];
        }
        ServerOwner::Unknown(reason) => {
            let observation =
                format!("one answers, but it is not known whether it is this installation's: {reason}");
            return vec![DoctorFinding::unknown(check, observation, OTHER_USER)];
        }
    }
    let mut found = match observation["status"].as_str() {
        Some("ready") => vec![DoctorFinding::fine(check, "it runs and is ready")],
        _ => vec![DoctorFinding::problem(
            check,
            format!("it is not ready: {observation}"),
            "check the databases, and its log",
        )],
    };
    for warning in observation["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.push(DoctorFinding::warning(
            check,
            warning,
            "docs/operations.md, \"3 a.m.\", or the log of the server",
        ));
    }
    found
}

/// Connects to the configured NATS servers.
pub(super) async fn find_nats(config: Arc<Config>) -> Vec<DoctorFinding> {
    let check = "nats";
    let mut found = Vec::new();
    for text in config.nats_url.iter().flat_map(|urls| urls.split(',')).map(str::trim) {
        let Ok(url) = text.parse::<Url>() else { continue };
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = url.port().unwrap_or(NATS_PORT);
        let connected = timeout(CONNECT_WITHIN, TcpStream::connect((host.as_str(), port))).await;
        found.push(match connected.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
            Ok(_) => DoctorFinding::fine(check, format!("{host}:{port} can be reached")),
            Err(error) => DoctorFinding::problem(
                check,
                format!("{host}:{port} cannot be reached: {error}"),
                "check the NATS server and the network to it (docs/cluster.md)",
            ),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::finding::FindingVerdict;
    use crate::id::Id;

    #[rstest]
    #[case("HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ready\"}", &[FindingVerdict::Fine])]
    #[case(
        "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ready\",\"warnings\":[\"a\",\"b\"]}",
        &[FindingVerdict::Fine, FindingVerdict::Warning, FindingVerdict::Warning]
    )]
    #[case("HTTP/1.1 503 x\r\n\r\n{\"status\":\"not ready\"}", &[FindingVerdict::Problem])]
    #[case("HTTP/1.1 200 OK\r\n\r\n<html>", &[FindingVerdict::Problem])]
    #[case("", &[FindingVerdict::Problem])]
    fn the_readiness_response_is_judged(#[case] answer: &str, #[case] expected: &[FindingVerdict]) {
        let found: Vec<_> =
            judged_answer(answer, || ServerOwner::This).iter().map(|finding| finding.verdict).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_header_is_found_in_the_head_alone() {
        let answer = "HTTP/1.1 200 OK\r\nWatchkeeper-Node: ab\r\n\r\nX: y";
        assert_eq!((header(answer, NODE_HEADER), header(answer, "x")), (Some("ab"), None));
    }

    /// A mistyped data folder, a folder that is not served, and a server of an older version.
    #[test]
    fn a_server_belongs_to_the_folder_that_it_runs_on() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().to_owned();
        let answer = |node: Id| format!("HTTP/1.1 200 OK\r\n{NODE_HEADER}: {}\r\n\r\n", node.fingerprint());
        let config = Config { data_dir: data_dir.join("mistyped"), ..Config::default() };
        let of_none = owner(&config, &answer(Id::random()));
        let said = format!(
            "the one at 127.0.0.1:8080 belongs to another installation; there is none in {}",
            config.data_dir.display()
        );
        assert_eq!(of_none, ServerOwner::Other(said));
        let config = Config { data_dir, ..Config::default() };
        let lock = first_start::lock(folder.path()).unwrap();
        let node = lock.node;
        assert_eq!(owner(&config, &answer(node)), ServerOwner::This);
        assert_eq!(owner(&config, "HTTP/1.1 200 OK\r\n\r\n"), ServerOwner::This);
        assert!(matches!(owner(&config, &answer(Id::random())), ServerOwner::Other(_)));
        drop(lock);
        assert!(matches!(owner(&config, &answer(node)), ServerOwner::Other(_)), "a copy of the folder");
    }
}
