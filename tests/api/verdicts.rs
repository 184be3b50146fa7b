//! Verdicts of several real locations (contract 4.3.7): each connects from an address of its own, and the target answers only
//! some of them.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener};

use rstest::rstest;
use serde_json::json;

use crate::support::server::Server;
use crate::support::{create_watched, service, until_status};

const LOCATIONS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// The address from which a location connects.
fn source(code: &str) -> IpAddr {
    let number = LOCATIONS.iter().position(|known| *known == code).unwrap();
    IpAddr::from([127, 0, 9, u8::try_from(number).unwrap() + 1])
}

fn server() -> Server {
    let location = |code: &&str| {
        format!(
            "[[probe.locations]]\ncode = '{code}'\nname = '{code}'\nsource_address = '{}'\n",
            source(code)
        )
    };
    Server::with(&LOCATIONS.iter().map(location).collect::<String>(), &[])
}

/// A web server with three manners: 500 for some addresses, 299 for others, 200 for the rest.
fn target(down: &[&str], degraded: &[&str]) -> SocketAddr {
    let addresses = |codes: &[&str]| codes.iter().map(|code| source(code)).collect::<HashSet<_>>();
    let (down, degraded) = (addresses(down), addresses(degraded));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, from)) = listener.accept() {
            let _ = stream.read(&mut [0; 4_096]);
            let status = if down.contains(&from.ip()) {
                500
            } else if degraded.contains(&from.ip()) {
                299
            } else {
                200
            };
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// n locations, d of them down, g degraded: `down` if 2d > n, else `degraded` if 2(d + g) >= n and d + g > 0, else `up`.
#[rstest]
#[case(&["a"], &["a"], &[], "down")]
#[case(&["a", "b"], &["a"], &[], "degraded")]
#[case(&["a", "b"], &["a", "b"], &[], "down")]
#[case(&["a", "b", "c"], &["a"], &[], "up")]
#[case(&["a", "b", "c"], &["a"], &["b"], "degraded")]
#[case(&["a", "b", "c"], &["a", "b"], &[], "down")]
#[case(&["a", "b", "c", "d"], &["a", "b"], &[], "degraded")]
#[case(&["a", "b", "c", "d"], &["a"], &[], "up")]
#[case(&["a", "b", "c", "d", "e"], &["a", "b", "c"], &[], "down")]
#[case(&["a", "b", "c", "d", "e"], &["a", "b"], &["c"], "degraded")]
#[case(&["a", "b", "c", "d", "e"], &[], &["d", "e"], "up")]
#[tokio::test]
async fn the_majority_of_the_locations_decides(
    #[case] assigned: &[&str],
    #[case] down: &[&str],
    #[case] degraded: &[&str],
    #[case] verdict: &str,
) {
    let server = server();
    let client = server.client();
    let conditions = json!([
        {"field": "status_code", "operator": "eq", "value": 500, "status": "down"},
        {"field": "status_code", "operator": "eq", "value": 299, "status": "degraded"},
    ]);
    let settings = json!({
        "interval_seconds": 1, "retries": 0, "assigned_probes": assigned, "config": {"conditions": conditions},
    });
    let id = create_watched(&client, &format!("http://{}/", target(down, degraded)), &settings);
    let path = format!("{}/checks?per_page=100", service(&id));
    let all_have_voted = || {
        let checks = client.get(&path).expect(200).data();
        let seen: HashSet<String> = checks
            .as_array()
            .unwrap()
            .iter()
            .map(|check| check["probe"].as_str().unwrap().to_owned())
            .collect();
        (seen.len() == assigned.len()).then_some(())
    };
    crate::support::eventually("every location has looked", all_have_voted).await;
    let shown = until_status(&client, &id, verdict).await;
    assert_eq!(shown["effective_status"], verdict);
    // Each location has its own result, and the verdict is no location's.
    let checks = client.get(&path).expect(200).data();
    for check in checks.as_array().unwrap() {
        let code = check["probe"].as_str().unwrap();
        let own = if down.contains(&code) {
            "down"
        } else if degraded.contains(&code) {
            "degraded"
        } else {
            "up"
        };
        assert_eq!(check["status"], own, "{code}");
    }
}
