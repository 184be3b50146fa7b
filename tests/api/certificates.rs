//! Certificates of custom domains (contract 4.15), obtained from a real ACME server, and the question of a proxy that obtains
//! them itself.

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rcgen::{CertificateParams, KeyPair};
use rstest::rstest;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use watchkeeper::clock::Clock;

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::name_server::NameServer;
use crate::support::pages::{create_page, get_at, id_of};
use crate::support::pebble::{Pebble, PebbleRules, TlsVisit, authority, free_port, local};
use crate::support::server::{Server, failing_start};

const HOST: &str = "status.shop.example";

/// A server with further settings, and the name server by which it verifies domains.
fn served(further: &[(&'static str, String)]) -> (Server, NameServer) {
    let names = name_server();
    let settings = verifying(&names, further);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    (Server::with("", &settings), names)
}

fn name_server() -> NameServer {
    let names = NameServer::start();
    names.address_of("edge.example.test", [192, 0, 2, 1]);
    names
}

fn verifying(names: &NameServer, further: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("WATCHKEEPER_PROBE__DNS_SERVERS", names.address.to_string()),
        ("WATCHKEEPER_STATUSPAGE_HOST", "pages.example.test".into()),
        ("WATCHKEEPER_EDGE_HOST", "edge.example.test".into()),
    ];
    settings.extend_from_slice(further);
    settings
}

/// A domain of a public page that is verified.
struct VerifiedDomain {
    client: Client,
    path: String,
    verified: Value,
}

impl VerifiedDomain {
    /// Attaches the host name to a new page, sets its records and verifies it.
    fn of(client: &Client, names: &NameServer, host: &str) -> Self {
        let page = id_of(&create_page(client, &json!({"is_published": true})));
        let domains = format!("/v1/statuspages/{page}/custom-domains");
        let domain = client.post(&domains, &json!({"hostname": host})).expect(201).data();
        let text = |key: &str| domain[key].as_str().unwrap().to_owned();
        assert_eq!(domain["certificate"], nothing());
        names.alias(host, "edge.example.test");
        names.text(&text("txt_record_name"), &text("txt_record_value"));
        let path = format!("{domains}/{}", text("id"));
        let verified = client.post(&format!("{path}/verify"), &json!({})).expect(200).data();
        assert_eq!(verified["status"], "active");
        Self { client: client.clone(), path, verified }
    }

    fn certificate(&self) -> Value {
        self.client.get(&self.path).expect(200).data()["certificate"].clone()
    }

    /// Waits until the certificate has this status.
    async fn until(&self, status: &str) -> Value {
        let current = || Some(self.certificate()).filter(|certificate| certificate["status"] == status);
        eventually(&format!("the certificate is {status}"), current).await
    }
}

fn nothing() -> Value {
    json!({"status": "none", "not_after": null, "last_error": null})
}

/// Makes the next order due at once.
async fn bring_forward(server: &Server) {
    let database = server.main_database().await;
    database.execute_unprepared("UPDATE domain_certificate SET due_at = 0").await.unwrap();
    database.close().await.unwrap();
}

/// A number of the certificate of the only domain.
async fn stored(server: &Server, column: &str) -> i64 {
    let database = server.main_database().await;
    let text = format!("SELECT {column} AS number FROM domain_certificate");
    let statement = sea_orm::Statement::from_string(database.get_database_backend(), text);
    let row = database.query_one_raw(statement).await.unwrap().unwrap();
    row.try_get("", "number").unwrap()
}

/// Both challenges; the other one cannot succeed. The page is served by TLS, and plain HTTP leads there.
#[rstest]
#[case::http(true)]
#[case::tls_alpn(false)]
#[tokio::test]
async fn a_verified_domain_gets_a_certificate(#[case] by_http: bool) {
    let rules = PebbleRules { reaches_http: by_http, ..PebbleRules::default() };
    let Some(pebble) = Pebble::start(rules).await else { return };
    let mut settings = pebble.settings("127.0.0.1", by_http);
    let https = local("127.0.0.1", pebble.tls_port);
    if by_http {
        // Nobody answers TLS-ALPN-01 where the authority asks.
        settings.retain(|(name, _)| *name != "WATCHKEEPER_ACME__HTTPS_LISTEN");
        settings.push(("WATCHKEEPER_ACME__HTTPS_LISTEN", format!("127.0.0.2:{}", pebble.tls_port)));
    }
    let https = if by_http { local("127.0.0.2", https.port()) } else { https };
    let (server, names) = served(&settings);
    let domain = VerifiedDomain::of(&server.client(), &names, HOST);
    assert_eq!(domain.verified["certificate"]["status"], "issuing");
    let certificate = domain.until("active").await;
    assert!(certificate["not_after"].is_string() && certificate["last_error"].is_null(), "{certificate}");
    assert_eq!(pebble.orders(), 1);

    eventually("the node serves the certificate", || {
        let metrics = server.client().get("/metrics").expect(200).body;
        metrics.contains("\nwatchkeeper_certificates 1\n").then_some(())
    })
    .await;

    let root = pebble.root();
    let visit = TlsVisit { address: https, host: HOST, root: &root };
    let (page, _) = visit.get("/").unwrap();
    assert_eq!(page.header("strict-transport-security"), Some("max-age=31536000"));
    assert!(page.expect(200).body.contains("Example status"));
    assert!(TlsVisit { host: "other.shop.example", ..visit }.get("/").is_err(), "it has no certificate");
    let plain = get_at(&server.client(), HOST, "/").expect(200);
    assert_eq!(plain.header("strict-transport-security"), None, "a proxy may be in front");
    if by_http {
        let port_80 = Client { address: local("127.0.0.1", pebble.http_port), token: None, _server: None };
        let moved = get_at(&port_80, HOST, "/history?a=b").expect(308);
        assert_eq!(moved.header("location"), Some("https://status.shop.example/history?a=b"));
        get_at(&port_80, "localhost", "/healthz").expect(200);
        get_at(&port_80, HOST, "/.well-known/acme-challenge/invented").expect(308);
    }
    let is_sealed = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        !bytes.windows(11).any(|window| window == b"PRIVATE KEY" || window == b"-----BEGIN ")
    };
    assert!(server.files().iter().all(is_sealed));
    assert!(!server.log().contains("PRIVATE KEY"));
}

/// RFC 8555, section 6.5: a rejected nonce is no refusal.
#[tokio::test]
async fn rejected_nonces_only_delay_a_certificate() {
    let rules = PebbleRules { rejected_nonces: 25, ..PebbleRules::default() };
    let Some(pebble) = Pebble::start(rules).await else { return };
    let (server, names) = served(&pebble.settings("127.0.0.1", true));
    VerifiedDomain::of(&server.client(), &names, HOST).until("active").await;
}

/// A renewal is due at two thirds of the life of a certificate. Visitors come all the time.
#[tokio::test]
async fn a_certificate_is_renewed_without_a_gap() {
    let Some(pebble) = Pebble::start(PebbleRules::default()).await else { return };
    let (server, names) = served(&pebble.settings("127.0.0.1", true));
    let domain = VerifiedDomain::of(&server.client(), &names, HOST);
    domain.until("active").await;
    let [begin, end, due] = [
        stored(&server, "not_before").await,
        stored(&server, "not_after").await,
        stored(&server, "due_at").await,
    ];
    assert_eq!(due - begin, (end - begin) * 2 / 3);

    let (address, root) = (local("127.0.0.1", pebble.tls_port), pebble.root());
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    let visitor = std::thread::spawn(move || {
        let (mut visits, mut seen) = (0, HashSet::new());
        while !ends.load(Ordering::SeqCst) {
            let (answer, certificate) = TlsVisit { address, host: HOST, root: &root }.get("/").unwrap();
            answer.expect(200);
            seen.insert(certificate.to_vec());
            visits += 1;
        }
        (visits, seen.len())
    });
    let is_served = |certificate: &CertificateDer<'_>| {
        let visit = TlsVisit { address, host: HOST, root: &pebble.root() };
        (visit.get("/").unwrap().1 != *certificate).then_some(())
    };
    for _ in 0..3 {
        let root = pebble.root();
        let (_, present) = TlsVisit { address, host: HOST, root: &root }.get("/").unwrap();
        bring_forward(&server).await;
        eventually("another certificate is served", || is_served(&present)).await;
        assert_eq!(domain.certificate()["status"], "active");
    }
    is_over.store(true, Ordering::SeqCst);
    let (visits, seen) = visitor.join().unwrap();
    assert!(visits > seen && (2..=4).contains(&seen), "{visits} visits, {seen} certificates");
    assert_eq!(pebble.orders(), 4);
}

/// Certificates that live for a minute are renewed by the clock alone.
#[tokio::test]
async fn a_short_certificate_is_renewed_by_the_clock() {
    let rules = PebbleRules { valid_seconds: 60, ..PebbleRules::default() };
    let Some(pebble) = Pebble::start(rules).await else { return };
    let (server, names) = served(&pebble.settings("127.0.0.1", true));
    let first = VerifiedDomain::of(&server.client(), &names, HOST);
    let not_after = first.until("active").await["not_after"].clone();
    eventually("it is renewed", || (first.certificate()["not_after"] != not_after).then_some(())).await;
    assert_eq!(first.certificate()["status"], "active");
    assert_eq!(pebble.orders(), 2);
}

/// The owner is shown what the authority says; the next order succeeds, and removes the reason.
#[tokio::test]
async fn wrong_dns_is_shown_as_the_reason() {
    let Some(pebble) = Pebble::start(PebbleRules::default()).await else { return };
    let (server, names) = served(&pebble.settings("127.0.0.1", true));
    // Nobody listens there.
    pebble.set_addresses(HOST, &["127.0.0.77"]);
    let domain = VerifiedDomain::of(&server.client(), &names, HOST);
    let failed = domain.until("failed").await;
    let reason = failed["last_error"].as_str().unwrap();
    assert!(reason.starts_with("connection: ") && failed["not_after"].is_null(), "{failed}");
    let wait_ms = stored(&server, "due_at").await - Clock::System.now().ms();
    assert!((1..=300_000).contains(&wait_ms), "the next order is in {wait_ms} ms");
    assert_eq!(pebble.orders(), 1);

    pebble.set_addresses(HOST, &["127.0.0.1"]);
    bring_forward(&server).await;
    assert_eq!(domain.until("active").await["last_error"], Value::Null);
}

/// Two processes on one PostgreSQL, each of which believes that it leads: each name is ordered once, and both answer
/// challenges and serve all certificates.
#[tokio::test]
async fn two_nodes_at_once_place_one_order() {
    let Some(pebble) = Pebble::start(PebbleRules::default()).await else { return };
    let names = name_server();
    let key = ("WATCHKEEPER_SECRET_KEY", "5e".repeat(32));
    let settings = |address: &str| {
        let further = [pebble.settings(address, true), vec![key.clone()]].concat();
        verifying(&names, &further)
    };
    let given = settings("127.0.0.1");
    let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let Some(first) = Server::on_postgres(&given) else { return };
    let mut given = settings("127.0.0.2");
    let [main, history] = first.urls();
    given.extend([("WATCHKEEPER_DATABASE_URL", main), ("WATCHKEEPER_HISTORY_URL", history)]);
    let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let second = Server::joining(first.client().token.as_deref().unwrap(), &given);

    let hosts: Vec<String> = (0..4).map(|number| format!("status{number}.shop.example")).collect();
    let client = first.client();
    let domains: Vec<VerifiedDomain> = hosts
        .iter()
        .zip(["127.0.0.1", "127.0.0.2"].iter().cycle())
        .map(|(host, address)| {
            pebble.set_addresses(host, &[*address]);
            VerifiedDomain::of(&client, &names, host)
        })
        .collect();
    for domain in &domains {
        domain.until("active").await;
    }
    assert_eq!(pebble.orders(), hosts.len());
    let root = pebble.root();
    for address in ["127.0.0.1", "127.0.0.2"] {
        for host in &hosts {
            let visit = TlsVisit { address: local(address, pebble.tls_port), host, root: &root };
            let page = eventually("every node serves every certificate", || visit.get("/").ok()).await;
            page.0.expect(200);
        }
    }
    drop(second);
}

/// The wait that the authority asks for is kept.
#[tokio::test]
async fn an_authority_that_asks_to_wait_is_not_asked_again() {
    let refusing = RefusingAuthority::start();
    let (server, names) = served(&refusing.settings());
    let domain = VerifiedDomain::of(&server.client(), &names, HOST);
    domain.until("failed").await;
    let wait_ms = stored(&server, "due_at").await - Clock::System.now().ms();
    assert!((6_000_000..=7_200_000).contains(&wait_ms), "the next order is in {wait_ms} ms");
}

/// An authority that cannot be reached is the reason that the owner sees.
#[tokio::test]
async fn an_unreachable_authority_is_shown_as_the_reason() {
    let refusing = RefusingAuthority::start();
    let mut settings = refusing.settings();
    let nowhere = ("WATCHKEEPER_ACME__DIRECTORY_URL", format!("https://127.0.0.1:{}/dir", free_port()));
    settings.push(nowhere);
    let (server, names) = served(&settings);
    let failed = VerifiedDomain::of(&server.client(), &names, HOST).until("failed").await;
    let reason = failed["last_error"].as_str().unwrap();
    assert_eq!(reason, "no usable answer of the certificate authority: Connection refused");
}

/// A proxy in front may obtain certificates for active domains alone. It asks the server, whatever host it names.
#[test]
fn a_proxy_can_ask_which_hosts_are_active() {
    let (server, names) = served(&[]);
    let client = server.client();
    let ask = |query: &str| client.without_token().get(&format!("/tls/ask{query}")).status;
    assert_eq!(ask(&format!("?domain={HOST}")), 404, "it is not attached");
    let domain = VerifiedDomain::of(&client, &names, HOST);
    assert_eq!(domain.certificate(), nothing(), "this server obtains no certificates");
    let page = id_of(&create_page(&client, &json!({})));
    let waiting = json!({"hostname": "waiting.shop.example"});
    client.post(&format!("/v1/statuspages/{page}/custom-domains"), &waiting).expect(201);
    for (query, status) in [
        ("?domain=status.shop.example", 200),
        ("?domain=STATUS.shop.example", 200),
        ("?domain=waiting.shop.example", 404),
        ("?domain=shop.example", 404),
        ("?domain=", 404),
        ("", 404),
    ] {
        assert_eq!(ask(query), status, "{query}");
    }
    get_at(&client, "proxy.internal.example", "/tls/ask?domain=status.shop.example").expect(200);
    // It is no path of a page.
    get_at(&client, HOST, "/tls/ask?domain=status.shop.example").expect(404);
}

#[rstest]
#[case("[acme]\ndirectory_url = 'https://ca.example/dir'", "acme.terms_accepted must be true")]
#[case(
    "[acme]\ndirectory_url = 'https://ca.example/dir'\nterms_accepted = true",
    "acme.https_listen is missing"
)]
#[case("[acme]\nhttps_listen = '127.0.0.1:0'", "has no effect without acme.directory_url")]
#[case(
    "[acme]\ndirectory_url = 'https://ca.example/dir'\nterms_accepted = true\nhttps_listen = '127.0.0.1:0'\nca_file = '/nowhere.pem'",
    "acme.ca_file /nowhere.pem"
)]
fn settings_that_do_not_fit_are_refused(#[case] file: &str, #[case] words: &str) {
    let (code, said) = failing_start(file, &[]);
    assert!(code.is_some_and(|code| code != 0) && said.contains(words), "{code:?} {said}");
}

/// An authority that answers every request with 503 and asks to wait for two hours.
struct RefusingAuthority {
    folder: tempfile::TempDir,
    port: u16,
}

impl RefusingAuthority {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = authority();
        std::fs::write(folder.path().join("authority.pem"), authority.pem()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let own = params.signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![own.der().clone()], key).unwrap();
        let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            while let Ok((mut socket, _)) = listener.accept() {
                let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = Stream::new(&mut connection, &mut socket);
                // A client may leave at any time.
                let _ = stream.read(&mut [0; 4_096]);
                let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7200\r\nConnection: close\r\n\
                     Content-Type: application/problem+json\r\nContent-Length: 2\r\n\r\n{}";
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { folder, port }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("WATCHKEEPER_ACME__DIRECTORY_URL", format!("https://127.0.0.1:{}/dir", self.port)),
            ("WATCHKEEPER_ACME__TERMS_ACCEPTED", "true".into()),
            ("WATCHKEEPER_ACME__CA_FILE", self.folder.path().join("authority.pem").display().to_string()),
            ("WATCHKEEPER_ACME__HTTPS_LISTEN", "127.0.0.1:0".into()),
        ]
    }
}
