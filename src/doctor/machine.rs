//! Checks of the machine: ping permission, name servers, limit of file descriptors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use nix::sys::resource::{Resource, getrlimit};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::app::database_files;
use crate::config::Config;
use crate::doctor::finding::{DoctorFinding, counted};
use crate::egress;
use crate::probe;
use crate::store::file_copy::DatabaseFile;

/// Timeout of a name server's answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
/// A DNS query for the name servers of the root, which every server can answer: header, root, NS, IN.
const QUESTION: [u8; 17] = [0x57, 0x4b, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];
/// Descriptors per service: one for its check, one for its name.
const PER_SERVICE: u64 = 2;
/// Descriptors of a process without services.
const OTHERWISE: u64 = 512;

pub(super) fn ping_sockets() -> DoctorFinding {
    if probe::may_ping() {
        return DoctorFinding::fine("ping", "this user may send pings");
    }
    DoctorFinding::warning(
        "ping",
        "this user may not send pings: services of type icmp have no data",
        "give the program CAP_NET_RAW, or run: sysctl net.ipv4.ping_group_range='0 2147483647'",
    )
}

pub(super) async fn name_servers(config: Arc<Config>) -> Vec<DoctorFinding> {
    let check = "name servers";
    let servers = match egress::configured_name_servers(&config.probe.dns_servers) {
        Ok(servers) => servers,
        Err(error) => {
            let advice = "name one in /etc/resolv.conf, or set probe.dns_servers";
            return vec![DoctorFinding::problem(check, format!("none is configured: {error}"), advice)];
        }
    };
    let answers = join_all(servers.iter().map(|server| answers(*server))).await;
    let silent: Vec<String> = servers
        .iter()
        .zip(&answers)
        .filter(|(_, answers)| !**answers)
        .map(|(server, _)| server.to_string())
        .collect();
    vec![judged_servers(servers.len(), &silent)]
}

fn judged_servers(number: usize, silent: &[String]) -> DoctorFinding {
    let check = "name servers";
    let advice = "check /etc/resolv.conf or probe.dns_servers, and the network to them";
    match silent.len() {
        0 => DoctorFinding::fine(check, format!("{number} of {number} answer")),
        all if all == number => {
            DoctorFinding::problem(check, format!("none answers: {}", silent.join(", ")), advice)
        }
        _ => DoctorFinding::warning(check, format!("without an answer: {}", silent.join(", ")), advice),
    }
}

/// Returns true if a name server answers anything to a question.
async fn answers(server: SocketAddr) -> bool {
    let asking = async {
        let from: SocketAddr = if server.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(from).await?;
        socket.connect(server).await?;
        socket.send(&QUESTION).await?;
        let mut answer = [0; 512];
        let length = socket.recv(&mut answer).await?;
        std::io::Result::Ok(length >= 12 && answer[..2] == QUESTION[..2])
    };
    matches!(timeout(ANSWER_WITHIN, asking).await, Ok(Ok(true)))
}

/// Compares the limit of file descriptors with the number of services.
pub(super) async fn descriptors(config: Arc<Config>) -> Vec<DoctorFinding> {
    let check = "descriptors";
    let Ok((limit, _)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return vec![DoctorFinding::unknown(check, "the limit is not known", "check with: ulimit -n")];
    };
    let Ok(main) = database_files::main_file(&config) else {
        let observation = format!("{limit} of this user's processes; services in PostgreSQL are not counted");
        return vec![DoctorFinding::unknown(
            check,
            observation,
            "two for each service and 512 more are enough",
        )];
    };
    let counted = async { DatabaseFile::open_to_read(&main).await?.count_services().await };
    match counted.await {
        Ok(services) => vec![judged_limit(limit, services)],
        // The check of the databases reports the reason.
        Err(error) => vec![DoctorFinding::unknown(
            check,
            format!("services cannot be counted: {}", error.describe()),
            "check the databases first",
        )],
    }
}

fn judged_limit(limit: u64, services: u64) -> DoctorFinding {
    let wanted = services.saturating_mul(PER_SERVICE).saturating_add(OTHERWISE);
    let observation = format!("{limit} of this user's processes, for {}", counted(services, "service"));
    if limit >= wanted {
        return DoctorFinding::fine("descriptors", observation);
    }
    let advice = format!("allow {wanted}: LimitNOFILE= of the unit, or ulimit -n");
    DoctorFinding::warning("descriptors", observation, advice)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::doctor::finding::FindingVerdict;

    #[rstest]
    #[case(2, &[], FindingVerdict::Fine)]
    #[case(2, &["a"], FindingVerdict::Warning)]
    #[case(2, &["a", "b"], FindingVerdict::Problem)]
    fn a_silent_name_server_is_named(
        #[case] number: usize,
        #[case] silent: &[&str],
        #[case] expected: FindingVerdict,
    ) {
        let silent: Vec<String> = silent.iter().map(|server| (*server).to_owned()).collect();
        let found = judged_servers(number, &silent);
        assert_eq!(found.verdict, expected);
        assert!(silent.iter().all(|server| found.observation.contains(server)), "{found:?}");
    }

    #[tokio::test]
    async fn a_name_server_is_probed_with_a_query() {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().unwrap();
        let serving = async {
            let mut question = [0; 512];
            let (length, from) = server.recv_from(&mut question).await.unwrap();
            question[2] |= 0x80;
            server.send_to(&question[..length], from).await.unwrap();
        };
        let (answered, ()) = tokio::join!(answers(address), serving);
        assert!(answered);
        drop(server);
        assert!(!answers(address).await, "nobody listens");
    }

    #[rstest]
    #[case(1_024, 256, FindingVerdict::Fine)]
    #[case(1_024, 257, FindingVerdict::Warning)]
    #[case(u64::MAX, u64::MAX, FindingVerdict::Fine)]
    fn the_limit_of_descriptors_is_for_all_services(
        #[case] limit: u64,
        #[case] services: u64,
        #[case] expected: FindingVerdict,
    ) {
        assert_eq!(judged_limit(limit, services).verdict, expected);
    }
}
