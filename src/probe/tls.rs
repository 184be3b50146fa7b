//! TLS for checks: the handshake, and the meaning of its failures.
//!
//! Configurations are built once per location. Sessions are never resumed: a check measures a full handshake. rustls
//! supports neither TLS 1.1 nor suites without forward secrecy; a server that supports nothing else is distinguished from
//! one that is broken.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, InvalidMessage, PeerIncompatible, PeerMisbehaved,
};
use tokio::net::TcpStream;
use tokio::time::timeout_at;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::clock::Clock;
use crate::egress::{CertificateTime, cryptography};
use crate::model::check::ErrorCode;
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::{AttemptPhase, RunningAttempt};
use crate::probe::certificate_flaw::CertificateFlaw;
use crate::probe::endpoint::Host;
use crate::probe::link::CountingStream;
use crate::probe::toolbox_error::ToolboxError;
use crate::probe::trust::{CertificateVerifier, TrustStore};

/// Size of one TLS alert record in bytes. A server that rejects our hello at once sends nothing else.
const ALERT_RECORD_BYTES: u64 = 7;

/// The versions of HTTP that a server may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpOffer {
    /// HTTP/2 and HTTP/1.1.
    Any,
    /// HTTP/1.1 alone.
    OnlyHttp1,
}

/// The configurations for HTTP, one for each offer.
#[derive(Debug)]
struct HttpConfigs {
    any: Arc<ClientConfig>,
    only_http1: Arc<ClientConfig>,
}

/// The TLS configurations of one location.
#[derive(Debug)]
pub(crate) struct TlsConfigs {
    verified: HttpConfigs,
    unverified: HttpConfigs,
    inspecting: Arc<ClientConfig>,
    trust: Arc<TrustStore>,
    time: Arc<CertificateTime>,
}

impl TlsConfigs {
    /// Creates the configurations, which trust the system's authorities and those in `ca_file`.
    pub(crate) fn new(ca_file: Option<&Path>, clock: Clock) -> Result<Self, ToolboxError> {
        let provider = cryptography();
        let algorithms = provider.signature_verification_algorithms;
        let trust = Arc::new(TrustStore::load(ca_file, algorithms)?);
        let time = Arc::new(CertificateTime(clock));
        let build = |verifier, protocols| config(&provider, &time, verifier, protocols);
        Ok(Self {
            verified: HttpConfigs {
                any: build(CertificateVerifier::Strict(trust.clone()), &[b"h2", b"http/1.1"])?,
                only_http1: build(CertificateVerifier::Strict(trust.clone()), &[b"http/1.1"])?,
            },
            unverified: HttpConfigs {
                any: build(CertificateVerifier::Unjudged, &[b"h2", b"http/1.1"])?,
                only_http1: build(CertificateVerifier::Unjudged, &[b"http/1.1"])?,
            },
            inspecting: build(CertificateVerifier::Lenient(algorithms), &[])?,
            trust,
            time,
        })
    }

    /// Returns the configuration that offers all versions of HTTP, with or without verification.
    pub(crate) const fn for_http(&self, verify: bool) -> &Arc<ClientConfig> {
        self.for_offer(verify, HttpOffer::Any)
    }

    /// Returns the configuration that offers these versions of HTTP, with or without verification.
    pub(crate) const fn for_offer(&self, verify: bool, offer: HttpOffer) -> &Arc<ClientConfig> {
        let configs = if verify { &self.verified } else { &self.unverified };
        match offer {
            HttpOffer::Any => &configs.any,
            HttpOffer::OnlyHttp1 => &configs.only_http1,
        }
    }

    /// The configuration for reading any certificate; for connections without application data.
    pub(crate) const fn for_inspection(&self) -> &Arc<ClientConfig> {
        &self.inspecting
    }

    /// The wall time by which certificates are judged.
    pub(crate) fn now(&self) -> UnixTime {
        self.time.now()
    }

    /// Verifies that a chain is valid now, trusted, and for this name.
    pub(crate) fn judge(
        &self,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
    ) -> Result<(), ProbeAbort> {
        let verdict = self.trust.judge(chain, name, self.now());
        verdict.map_err(|error| refused(&error, u64::MAX))
    }
}

fn config(
    provider: &Arc<CryptoProvider>,
    time: &Arc<CertificateTime>,
    verifier: CertificateVerifier,
    protocols: &[&[u8]],
) -> Result<Arc<ClientConfig>, ToolboxError> {
    let builder = ClientConfig::builder_with_details(provider.clone(), time.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| ToolboxError::Tls(error.to_string()))?;
    let mut config =
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Arc::new(config))
}

/// Returns the server name of a host; literal addresses are verified, but not sent.
pub(crate) fn server_name(host: &Host) -> Result<ServerName<'static>, ProbeAbort> {
    match host {
        Host::Ip(address) => Ok(ServerName::from(*address)),
        Host::Name(_) => ServerName::try_from(host.to_text()).map_err(|_| {
            ProbeAbort::failed(ErrorCode::TlsHandshake, "The host name cannot be used with TLS")
        }),
    }
}

pub(crate) async fn handshake(
    stream: TcpStream,
    name: ServerName<'static>,
    config: &Arc<ClientConfig>,
    attempt: &mut RunningAttempt,
) -> Result<TlsStream<CountingStream>, ProbeAbort> {
    // The last message of the handshake and the first request are small and follow each other at once.
    stream.set_nodelay(true).map_err(|error| ProbeAbort::broken(&error, ErrorCode::TlsHandshake))?;
    let connecting =
        TlsConnector::from(config.clone()).connect(name, CountingStream::new(stream)).into_fallible();
    let stream = match timeout_at(attempt.deadline, connecting).await {
        Err(_elapsed) => {
            return Err(ProbeAbort::failed(ErrorCode::TlsHandshake, "The TLS handshake timed out"));
        }
        Ok(Err((error, _))) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let message = "The server closed the connection during the TLS handshake";
            return Err(ProbeAbort::failed(ErrorCode::TlsHandshake, message));
        }
        Ok(Err((error, wire))) => return Err(rejected(&error, wire.received(), ErrorCode::TlsHandshake)),
        Ok(Ok(stream)) => stream,
    };
    attempt.finish(AttemptPhase::Tls);
    Ok(stream)
}

/// Interprets an error of an established connection, which TLS may have caused (such as the late refusal of a
/// client without a certificate). `otherwise` is the code for errors that have no code of their own.
pub(crate) fn failure(error: &io::Error, otherwise: ErrorCode) -> ProbeAbort {
    rejected(error, u64::MAX, otherwise)
}

fn rejected(error: &io::Error, received: u64, otherwise: ErrorCode) -> ProbeAbort {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(error) => refused(error, received),
        None => ProbeAbort::broken(error, otherwise),
    }
}

/// Interprets a TLS error as a statement about the server, which had sent `received` bytes by then.
fn refused(error: &Error, received: u64) -> ProbeAbort {
    let (code, message) = match error {
        Error::InvalidCertificate(reason) => match flaw(reason) {
            Some(flaw) => return ProbeAbort::failed(flaw.code(), flaw.to_string()),
            None => untrusted(reason),
        },
        Error::AlertReceived(AlertDescription::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => (ErrorCode::TlsLegacy, "The server speaks neither TLS 1.2 nor TLS 1.3"),
        Error::AlertReceived(AlertDescription::InsufficientSecurity)
        | Error::PeerIncompatible(
            PeerIncompatible::NoCipherSuitesInCommon
            | PeerIncompatible::NoSignatureSchemesInCommon
            | PeerIncompatible::NoKxGroupsInCommon,
        ) => NOTHING_IN_COMMON,
        // A server that answers the first hello with a bare "handshake failure" has no algorithm in common with us; later in
        // the handshake the same alert means something else, such as a missing client certificate.
        Error::AlertReceived(AlertDescription::HandshakeFailure) if received <= ALERT_RECORD_BYTES => {
            NOTHING_IN_COMMON
        }
        Error::PeerMisbehaved(PeerMisbehaved::SignedKxWithWrongAlgorithm) => {
            (ErrorCode::TlsLegacy, "The server signed the TLS 1.2 handshake in a way that cannot be checked")
        }
        Error::NoCertificatesPresented => (ErrorCode::TlsHandshake, "The server sent no certificate"),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => (ErrorCode::TlsHandshake, "The server answered, but not in TLS"),
        Error::InvalidMessage(_) => {
            (ErrorCode::TlsHandshake, "The server sent a TLS message that cannot be read")
        }
        Error::AlertReceived(alert) => {
            let message = format!("The server ended the TLS connection: {}", alert_name(*alert));
            return ProbeAbort::failed(ErrorCode::TlsHandshake, message);
        }
        _ => (ErrorCode::TlsHandshake, "The TLS handshake failed"),
    };
    ProbeAbort::failed(code, message)
}

/// Returns the flaw that was found in the certificate itself; `None` for other reasons.
fn flaw(reason: &CertificateError) -> Option<&CertificateFlaw> {
    match reason {
        CertificateError::Other(other) => other.0.downcast_ref(),
        _ => None,
    }
}

const NOTHING_IN_COMMON: (ErrorCode, &str) = (
    ErrorCode::TlsLegacy,
    "The server accepts none of the TLS versions (1.2, 1.3), cipher suites and algorithms that are offered",
);

/// Returns the name of an alert as in RFC 8446, section 6, such as `certificate_required`.
fn alert_name(alert: AlertDescription) -> String {
    let Some(name) = alert.as_str() else {
        return format!("alert {}", u8::from(alert));
    };
    let letters: Vec<char> = name.chars().collect();
    let mut words = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let follows_small = at > 0 && letters[at - 1].is_ascii_lowercase();
        let precedes_small = at > 0 && letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase() && (follows_small || precedes_small) {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

const fn untrusted(reason: &CertificateError) -> (ErrorCode, &'static str) {
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            (ErrorCode::TlsExpired, "The certificate has expired")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            (ErrorCode::TlsExpired, "The certificate is not valid yet")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            (ErrorCode::TlsHostname, "The certificate is for another name")
        }
        CertificateError::UnknownIssuer => {
            (ErrorCode::TlsUntrusted, "The certificate was not issued by a trusted authority")
        }
        CertificateError::BadSignature => {
            (ErrorCode::TlsUntrusted, "A signature does not fit the certificate")
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            (ErrorCode::TlsUntrusted, "The certificate is not meant for servers")
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            (ErrorCode::TlsUntrusted, "The certificate is signed in a way that this monitor cannot check")
        }
        CertificateError::BadEncoding => (ErrorCode::TlsHandshake, "The certificate cannot be read"),
        _ => (ErrorCode::TlsUntrusted, "The certificate cannot be trusted"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn failed(error: &Error, received: u64) -> (ErrorCode, String) {
        match refused(error, received) {
            ProbeAbort::Failed(failure) => (failure.code, failure.message.to_string()),
            ProbeAbort::Trouble(trouble) => panic!("{trouble:?}"),
        }
    }

    /// The codes `tls_*` of contract 4.8; `tls_legacy` for versions that rustls does not support.
    #[rstest]
    #[case(Error::InvalidCertificate(CertificateError::Expired), 900, ErrorCode::TlsExpired)]
    #[case(Error::InvalidCertificate(CertificateError::NotValidYet), 900, ErrorCode::TlsExpired)]
    #[case(Error::InvalidCertificate(CertificateError::NotValidForName), 900, ErrorCode::TlsHostname)]
    #[case(Error::InvalidCertificate(CertificateError::UnknownIssuer), 900, ErrorCode::TlsUntrusted)]
    #[case(Error::InvalidCertificate(CertificateError::BadSignature), 900, ErrorCode::TlsUntrusted)]
    #[case(Error::AlertReceived(AlertDescription::ProtocolVersion), 7, ErrorCode::TlsLegacy)]
    #[case(Error::AlertReceived(AlertDescription::HandshakeFailure), 7, ErrorCode::TlsLegacy)]
    #[case(Error::AlertReceived(AlertDescription::HandshakeFailure), 900, ErrorCode::TlsHandshake)]
    #[case(Error::AlertReceived(AlertDescription::InternalError), 7, ErrorCode::TlsHandshake)]
    #[case(Error::DecryptError, 900, ErrorCode::TlsHandshake)]
    fn an_error_becomes_a_code(#[case] error: Error, #[case] received: u64, #[case] code: ErrorCode) {
        assert_eq!(failed(&error, received).0, code);
    }

    #[rstest]
    #[case(
        Error::AlertReceived(AlertDescription::ProtocolVersion),
        "The server speaks neither TLS 1.2 nor TLS 1.3"
    )]
    #[case(Error::AlertReceived(AlertDescription::HandshakeFailure), NOTHING_IN_COMMON.1)]
    #[case(
        Error::AlertReceived(AlertDescription::UnknownCA),
        "The server ended the TLS connection: unknown_ca"
    )]
    #[case(
        Error::AlertReceived(AlertDescription::CertificateRequired),
        "The server ended the TLS connection: certificate_required"
    )]
    #[case(
        Error::AlertReceived(AlertDescription::UnknownPSKIdentity),
        "The server ended the TLS connection: unknown_psk_identity"
    )]
    #[case(
        Error::AlertReceived(AlertDescription::from(200)),
        "The server ended the TLS connection: alert 200"
    )]
    #[case(Error::InvalidMessage(InvalidMessage::InvalidContentType), "The server answered, but not in TLS")]
    fn an_error_has_the_message_of_its_cause(#[case] error: Error, #[case] message: &str) {
        assert_eq!(failed(&error, ALERT_RECORD_BYTES).1, message);
    }
}
