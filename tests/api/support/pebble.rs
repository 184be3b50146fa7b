//! A private certificate authority: Debian's `pebble` (an ACME server for tests), with `pebble-challtestsrv` as its name server.
//!
//! It validates host names at ports of its own, at the addresses that its name server gives: 127.0.0.1 unless a test says
//! otherwise. Without the programs a test says so and passes, unless `WATCHKEEPER_TESTS_REQUIRE_PEBBLE` is set.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};
use serde_json::json;
use tempfile::TempDir;

use crate::support::client::{Answer, exchange};
use crate::support::eventually;

const PROGRAMS: [&str; 2] = ["/usr/bin/pebble", "/usr/bin/pebble-challtestsrv"];
/// Timeout of an answer over TLS.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// How the authority behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PebbleRules {
    /// Percentage of good nonces that it rejects.
    pub(crate) rejected_nonces: u32,
    /// Seconds for which its certificates are valid.
    pub(crate) valid_seconds: u64,
    /// False if nobody listens at the port at which it expects answers to HTTP-01.
    pub(crate) reaches_http: bool,
}

impl Default for PebbleRules {
    fn default() -> Self {
        Self { rejected_nonces: 0, valid_seconds: 86_400, reaches_http: true }
    }
}

/// The authority; its processes end when it is dropped.
pub(crate) struct Pebble {
    folder: TempDir,
    children: Vec<Child>,
    listen: u16,
    management: u16,
    names: u16,
    /// Port of hosts at which answers to HTTP-01 are expected.
    pub(crate) http_port: u16,
    /// Port of hosts at which answers to TLS-ALPN-01 are expected.
    pub(crate) tls_port: u16,
}

/// A free port of 127.0.0.1, and as far as can be seen of the other addresses of this machine.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Pebble {
    /// Starts an authority; `None` where it is not installed.
    pub(crate) async fn start(rules: PebbleRules) -> Option<Self> {
        if let Some(missing) = PROGRAMS.iter().find(|program| !std::path::Path::new(program).exists()) {
            let is_required = std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_PEBBLE").is_some();
            assert!(!is_required, "{missing} is missing: apt-get install pebble");
            eprintln!("SKIPPED: {missing} is missing");
            return None;
        }
        let [listen, management, names, dns, http_port, tls_port] = [(); 6].map(|()| free_port());
        let mut pebble = Self {
            folder: tempfile::tempdir().unwrap(),
            children: Vec::new(),
            listen,
            management,
            names,
            http_port,
            tls_port,
        };
        pebble.write_identity();
        let settings = json!({"pebble": {
            "listenAddress": format!("127.0.0.1:{listen}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": pebble.file("own.pem"),
            "privateKey": pebble.file("own.key"),
            "httpPort": if rules.reaches_http { http_port } else { free_port() },
            "tlsPort": tls_port,
            "ocspResponderURL": "",
            "externalAccountBindingRequired": false,
            "certificateValidityPeriod": rules.valid_seconds,
        }});
        std::fs::write(pebble.file("settings.json"), settings.to_string()).unwrap();
        let dns = format!("127.0.0.1:{dns}");
        let mut command = Command::new(PROGRAMS[1]);
        command.args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""]);
        command.args(["-dns01", &dns, "-management", &format!("127.0.0.1:{names}")]);
        pebble.run(&mut command, "names.log");
        let mut command = Command::new(PROGRAMS[0]);
        command.arg("-config").arg(pebble.file("settings.json")).args(["-dnsserver", &dns]);
        command.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        command.env("PEBBLE_WFE_NONCEREJECT", rules.rejected_nonces.to_string());
        pebble.run(&mut command, "pebble.log");
        for port in [listen, management, names] {
            let is_open = || TcpStream::connect(("127.0.0.1", port)).ok();
            eventually("pebble listens", is_open).await;
        }
        Some(pebble)
    }

    /// Address of the directory.
    pub(crate) fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.listen)
    }

    /// The settings of a server that uses this authority, and is reached at this address of the machine.
    pub(crate) fn settings(&self, address: &str, has_http_listener: bool) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("WATCHKEEPER_ACME__DIRECTORY_URL", self.directory()),
            ("WATCHKEEPER_ACME__TERMS_ACCEPTED", "true".to_owned()),
            ("WATCHKEEPER_ACME__CONTACT", "ops@example.com".to_owned()),
            ("WATCHKEEPER_ACME__CA_FILE", self.file("authority.pem").display().to_string()),
            ("WATCHKEEPER_ACME__HTTPS_LISTEN", format!("{address}:{}", self.tls_port)),
        ];
        if has_http_listener {
            settings.push(("WATCHKEEPER_ACME__HTTP_LISTEN", format!("{address}:{}", self.http_port)));
        }
        settings
    }

    /// Lets its name server give these addresses for a host.
    pub(crate) fn set_addresses(&self, host: &str, addresses: &[&str]) {
        let body = json!({"host": host, "addresses": addresses}).to_string();
        for path in ["/clear-a", "/add-a"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let address = SocketAddr::from(([127, 0, 0, 1], self.names));
            assert_eq!(exchange(address, [head.as_bytes(), body.as_bytes()].concat().as_slice()).status, 200);
        }
    }

    /// Number of orders that were placed.
    pub(crate) fn orders(&self) -> usize {
        let log = std::fs::read_to_string(self.file("pebble.log")).unwrap();
        log.matches("orders in the db").count()
    }

    /// The root that has signed its certificates for host names.
    pub(crate) fn root(&self) -> CertificateDer<'static> {
        let own = CertificateDer::from_pem_file(self.file("authority.pem")).unwrap();
        let management = SocketAddr::from(([127, 0, 0, 1], self.management));
        let visit = TlsVisit { address: management, host: "127.0.0.1", root: &own };
        let (answer, _) = visit.get("/roots/0").unwrap();
        CertificateDer::from_pem_slice(answer.expect(200).body.as_bytes()).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes the certificate of the authority's own server, and the root that has signed it.
    fn write_identity(&self) {
        let authority = authority();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let own = params.signed_by(&key, &authority).unwrap();
        for (name, pem) in
            [("authority.pem", authority.pem()), ("own.pem", own.pem()), ("own.key", key.serialize_pem())]
        {
            std::fs::write(self.file(name), pem).unwrap();
        }
    }

    fn run(&mut self, command: &mut Command, log: &str) {
        let log = File::create(self.file(log)).unwrap();
        let child = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn();
        self.children.push(child.unwrap());
    }
}

/// A certificate authority that signs certificates of servers.
pub(crate) fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.file("pebble.log")).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("--- what pebble said at last\n{}", lines[lines.len().saturating_sub(60)..].join("\n"));
        }
    }
}

/// A visitor over TLS who trusts one root and verifies the certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TlsVisit<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) host: &'a str,
    pub(crate) root: &'a CertificateDer<'static>,
}

impl TlsVisit<'_> {
    /// Requests a path on a connection of its own; returns the answer and the certificate of the server.
    ///
    /// # Errors
    /// When no connection could be made, or its certificate is not valid for the host.
    pub(crate) fn get(&self, path: &str) -> Result<(Answer, CertificateDer<'static>), String> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
        let name = ServerName::try_from(self.host.to_owned()).unwrap();
        let mut connection = ClientConnection::new(config, name).unwrap();
        let mut socket = TcpStream::connect(self.address).map_err(|error| error.to_string())?;
        socket.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        let mut stream = Stream::new(&mut connection, &mut socket);
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host);
        stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        if bytes.is_empty() {
            return Err(format!("no answer: {ended:?}"));
        }
        let certificate = connection.peer_certificates().unwrap()[0].clone().into_owned();
        Ok((Answer::parse(&String::from_utf8(bytes).unwrap()), certificate))
    }
}

/// The address of a listener on this machine.
pub(crate) fn local(address: &str, port: u16) -> SocketAddr {
    (address.parse::<Ipv4Addr>().unwrap(), port).into()
}
