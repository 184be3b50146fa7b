//! Certificates made at test time, and TLS servers that show them.
//!
//! Each test has an authority of its own, which only its own toolbox trusts.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, IsCa, KeyPair,
    PKCS_ECDSA_P256_SHA256, SignatureAlgorithm, date_time_ymd,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use rustls::{ALL_VERSIONS, ServerConfig, SupportedProtocolVersion};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use x509_parser::prelude::{FromDer, X509Certificate};

use crate::support::offline;
use crate::support::server::Server;

/// Made by OpenSSL: what makes the other certificates pairs P-256 with SHA-256 alone.
const P256_WITH_SHA512: &str = include_str!("certificates/p256_with_sha512.pem");

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
        Self::found_by(&PKCS_ECDSA_P256_SHA256)
    }

    /// A new one that signs in this way.
    pub(crate) fn found_by(algorithm: &'static SignatureAlgorithm) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Test Authority");
        let key = KeyPair::generate_for(algorithm).unwrap();
        Self { issuer: CertifiedIssuer::self_signed(params, key).unwrap() }
    }

    /// A certificate for these names, changed by `adapt` before it is signed.
    pub(crate) fn issue(&self, names: &[&str], adapt: impl FnOnce(&mut CertificateParams)) -> Identity {
        self.issue_for(&PKCS_ECDSA_P256_SHA256, names, adapt)
    }

    /// The same for a key of this kind.
    pub(crate) fn issue_for(
        &self,
        algorithm: &'static SignatureAlgorithm,
        names: &[&str],
        adapt: impl FnOnce(&mut CertificateParams),
    ) -> Identity {
        let mut params = params(names);
        adapt(&mut params);
        let key = KeyPair::generate_for(algorithm).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity::new(vec![certificate.der().clone(), self.issuer.der().clone()], &key)
    }

    /// A certificate for this name with this number of intermediate certificates below this authority.
    pub(crate) fn issue_behind(&self, count: usize, name: &str) -> Identity {
        self.issue_behind_others(count, name, |_, _| ())
    }

    /// The same with the others changed by `adapt` before they are signed, the one below this authority first, the server's own
    /// last.
    pub(crate) fn issue_behind_others(
        &self,
        count: usize,
        name: &str,
        adapt: impl Fn(usize, &mut CertificateParams),
    ) -> Identity {
        let mut chain = Vec::new();
        let mut issuer: Option<CertifiedIssuer<'static, KeyPair>> = None;
        for number in 0..count {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.distinguished_name.push(DnType::CommonName, format!("Between {number}"));
            adapt(number, &mut params);
            let above = issuer.as_ref().unwrap_or(&self.issuer);
            let next = CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), above).unwrap();
            chain.insert(0, next.der().clone());
            issuer = Some(next);
        }
        let key = KeyPair::generate().unwrap();
        let mut own = params(&[name]);
        adapt(count, &mut own);
        let own = own.signed_by(&key, issuer.as_ref().unwrap_or(&self.issuer)).unwrap();
        chain.insert(0, own.der().clone());
        Identity::new(chain, &key)
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
        trusting(&self.pem(), config)
    }
}

/// A toolbox with these settings that trusts these certificates.
pub(crate) fn trusting(pem: &str, config: ToolboxConfig) -> Toolbox {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    Toolbox::new(ToolboxConfig { ca_file: Some(file.path().to_owned()), ..config }).unwrap()
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
        Self::self_signed_as(names, |_| ())
    }

    /// The same, changed by `adapt` before it is signed.
    pub(crate) fn self_signed_as(names: &[&str], adapt: impl FnOnce(&mut CertificateParams)) -> Self {
        let mut params = params(names);
        adapt(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self::new(vec![certificate.der().clone()], &key)
    }

    /// A certificate with a key on P-256 that vouches for itself with SHA-512.
    pub(crate) fn p256_with_sha512() -> Self {
        Self::from_pem(P256_WITH_SHA512)
    }

    /// The first certificate of a file, and its key.
    pub(crate) fn from_pem(pem: &str) -> Self {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap();
        Self { chain: vec![certificate], key }
    }

    /// A toolbox that trusts this very certificate.
    pub(crate) fn trusted(&self) -> Toolbox {
        trusting(&pem("CERTIFICATE", &self.chain[0]), offline())
    }

    /// The same key under a certificate of X.509 version 1, whose signature does not fit.
    pub(crate) fn into_version_1(mut self) -> Self {
        let (_, certificate) = X509Certificate::from_der(&self.chain[0]).unwrap();
        let fields = certificate.tbs_certificate.as_ref();
        let mut content = &fields[fields.len() - content_length(fields)..];
        let mut kept = Vec::new();
        while let Some(tag) = content.first() {
            let length = content_length(content) + header_length(content);
            // Without the version and the extensions.
            if !matches!(tag, 0xa0 | 0xa3) {
                kept.extend_from_slice(&content[..length]);
            }
            content = &content[length..];
        }
        let behind = &self.chain[0][self.chain[0].len() - content_length(&self.chain[0]) + fields.len()..];
        let all = [wrapped(0x30, &kept), behind.to_vec()].concat();
        self.chain = vec![CertificateDer::from(wrapped(0x30, &all))];
        self
    }

    /// The same certificate with a chain of this many others behind it.
    pub(crate) fn followed_by(mut self, count: usize) -> Self {
        let filler = self.chain.last().unwrap().clone();
        self.chain.extend(std::iter::repeat_n(filler, count));
        self
    }

    /// Server configuration with this certificate.
    pub(crate) fn acceptor(&self, protocols: &[&str]) -> TlsAcceptor {
        // The server is not to judge what it shows.
        let key = aws_lc_rs::sign::any_supported_type(&self.key).unwrap();
        acceptor(self.chain.clone(), key, ALL_VERSIONS, protocols)
    }

    /// An HTTPS server that answers `204`.
    pub(crate) async fn serve(&self) -> Server {
        serve(self.acceptor(&["http/1.1"])).await
    }
}

/// Server configuration with a chain whose first certificate has this key.
pub(crate) fn acceptor(
    chain: Vec<CertificateDer<'static>>,
    key: Arc<dyn SigningKey>,
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&str],
) -> TlsAcceptor {
    let shown = SingleCertAndKey::from(CertifiedKey::new(chain, key));
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(shown));
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// An HTTPS server that answers `204`.
pub(crate) async fn serve(acceptor: TlsAcceptor) -> Server {
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

/// A certificate with an unknown critical extension.
pub(crate) fn with_unknown_extension(params: &mut CertificateParams) {
    let mut extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99_999, 1], vec![5, 0]);
    extension.set_criticality(true);
    params.custom_extensions.push(extension);
}

/// The `https` address of a server.
pub(crate) fn https(address: SocketAddr) -> String {
    format!("https://{address}/")
}

/// The number of bytes in front of the content of a DER value.
fn header_length(value: &[u8]) -> usize {
    if value[1] < 0x80 { 2 } else { 2 + usize::from(value[1] & 0x7f) }
}

/// The length of the content of a DER value.
fn content_length(value: &[u8]) -> usize {
    let bytes = &value[2..header_length(value)];
    let long = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    if bytes.is_empty() { usize::from(value[1]) } else { long }
}

/// A DER value of less than 64 KiB.
fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x82, length[0], length[1]], content].concat()
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}
