//! Certificates made at test time, and TLS servers that show them.
//!
//! Each test has an authority of its own, which only its own toolbox trusts.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use crate::support::offline;
use crate::support::server::Server;

/// A certificate authority.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key, and the chain that is sent along.
pub(crate) struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    /// A new one.
    pub(crate) fn found() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Test Authority");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { issuer }
    }

    /// A certificate for these names, changed by `adapt` before it is signed.
    pub(crate) fn issue(&self, names: &[&str], adapt: impl FnOnce(&mut CertificateParams)) -> Identity {
        let mut params = params(names);
        adapt(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity::new(vec![certificate.der().clone(), self.issuer.der().clone()], &key)
    }

    /// Its own certificate, as an operator's file holds it.
    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A toolbox that trusts this authority.
    pub(crate) fn trusted(&self) -> Toolbox {
        self.trusted_by(offline())
    }

    /// A toolbox with these settings that trusts this authority.
    pub(crate) fn trusted_by(&self, config: ToolboxConfig) -> Toolbox {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(self.pem().as_bytes()).unwrap();
        Toolbox::new(ToolboxConfig { ca_file: Some(file.path().to_owned()), ..config }).unwrap()
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, "watched");
    params
}

impl Identity {
    /// The chain and the key, for programs that read files.
    pub(crate) fn pem(&self) -> (String, String) {
        let chain = self.chain.iter().map(|certificate| pem("CERTIFICATE", certificate)).collect();
        (chain, pem("PRIVATE KEY", self.key.secret_der()))
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: &KeyPair) -> Self {
        Self { chain, key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())) }
    }

    /// A certificate that vouches for itself.
    pub(crate) fn self_signed(names: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params(names).self_signed(&key).unwrap();
        Self::new(vec![certificate.der().clone()], &key)
    }

    /// The same certificate with a chain of this many others behind it.
    pub(crate) fn followed_by(mut self, count: usize) -> Self {
        let filler = self.chain.last().unwrap().clone();
        self.chain.extend(std::iter::repeat_n(filler, count));
        self
    }

    /// How a server shows it.
    pub(crate) fn acceptor(&self, protocols: &[&str]) -> TlsAcceptor {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    /// An HTTPS server that answers `204`.
    pub(crate) async fn serve(&self) -> Server {
        let acceptor = self.acceptor(&["http/1.1"]);
        Server::start(move |stream, visit| {
            let acceptor = acceptor.clone();
            async move {
                // A probe that rejects the certificate leaves in the middle of the handshake.
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    visit.request(&mut stream).await;
                    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
                    let _ = stream.shutdown().await;
                }
            }
        })
        .await
    }
}

/// A certificate that was valid once.
pub(crate) fn expired(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2021, 1, 1);
}

/// A certificate that will be valid some day.
pub(crate) fn not_yet_valid(params: &mut CertificateParams) {
    params.not_before = date_time_ymd(2090, 1, 1);
    params.not_after = date_time_ymd(2091, 1, 1);
}

/// The `https` address of a server.
pub(crate) fn https(address: SocketAddr) -> String {
    format!("https://{address}/")
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}
