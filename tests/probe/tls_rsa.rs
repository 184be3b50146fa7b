//! Servers with RSA keys that are out of the ordinary: what is checked, and how it is said what cannot be.

use rstest::rstest;
use rustls::version::{TLS12, TLS13};
use serde_json::json;
use watchkeeper::model::check::{CheckType, ErrorCode};
use watchkeeper::probe::toolbox::Toolbox;

use crate::support::certificates::{Identity, https, trusting};
use crate::support::restricted_key::{STRANGER, Signing, authority, serve_restricted, serve_without_key};
use crate::support::server::Server;
use crate::support::{UP, down, http, measure, offline, spec, toolbox, verdict};

const LONG_EXPONENT: &str = include_str!("support/certificates/long_exponent.pem");
const LONG_EXPONENT_OWN: &str = include_str!("support/certificates/long_exponent_own.pem");

const WRONG_SIGNATURE: &str = "A signature does not fit the certificate";

/// Both types of checks refuse the server, and say why.
async fn assert_untrusted(server: &Server, toolbox: &Toolbox, message: &str) {
    let request = measure(&http(&https(server.address), &json!({})), toolbox).await;
    assert_eq!(verdict(&request), down(ErrorCode::TlsUntrusted), "{:?}", request.failure);
    assert_eq!(&*request.failure.unwrap().message, message);
    let certificate = measure(&spec(CheckType::Ssl, &server.address.to_string(), &json!({})), toolbox).await;
    assert_eq!(verdict(&certificate), down(ErrorCode::TlsUntrusted));
    assert_eq!(&*certificate.failure.unwrap().message, message);
}

/// RFC 8446, section 4.2.3, `rsa_pss_pss_*`, as OpenSSL has it.
#[tokio::test]
async fn a_key_that_is_restricted_to_pss_is_checked() {
    let server = serve_restricted(Signing::Allowed, &[&TLS13]).await;
    let toolbox = trusting(authority(), offline());
    for config in [json!({}), json!({ "verify_ssl": false })] {
        let request = measure(&http(&https(server.address), &config), &toolbox).await;
        assert_eq!(verdict(&request), UP, "{config}: {:?}", request.failure);
    }
    let certificate = measure(&spec(CheckType::Ssl, &server.address.to_string(), &json!({})), &toolbox).await;
    assert_eq!(verdict(&certificate), UP, "{:?}", certificate.failure);
}

#[tokio::test]
async fn a_restricted_key_is_trusted_only_by_its_authority() {
    let server = serve_restricted(Signing::Allowed, &[&TLS13]).await;
    let unknown = "The certificate was not issued by a trusted authority";
    assert_untrusted(&server, &toolbox(), unknown).await;
    assert_untrusted(&server, &trusting(STRANGER, offline()), WRONG_SIGNATURE).await;
}

#[rstest]
#[case::junk(Signing::Junk)]
#[case::a_hash_that_the_key_is_not_for(Signing::OtherHash)]
#[tokio::test]
async fn a_wrong_signature_by_a_restricted_key_is_refused(#[case] signing: Signing) {
    let server = serve_restricted(signing, &[&TLS13]).await;
    assert_untrusted(&server, &trusting(authority(), offline()), WRONG_SIGNATURE).await;
}

/// The TLS library does not let such a signature be checked in TLS 1.2.
#[tokio::test]
async fn a_restricted_key_in_tls_1_2_is_reported_as_unsupported() {
    let server = serve_restricted(Signing::Allowed, &[&TLS12]).await;
    let measured =
        measure(&http(&https(server.address), &json!({})), &trusting(authority(), offline())).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsLegacy));
    let message = "The server signed the TLS 1.2 handshake in a way that cannot be checked";
    assert_eq!(&*measured.failure.unwrap().message, message);
}

/// The public exponent is 2^64 + 13.
#[tokio::test]
async fn an_unusable_key_is_reported() {
    let limit = "has a public exponent of 65 bits; 33 are the most that can be checked here";
    let signed = Identity::from_pem(LONG_EXPONENT);
    let server = signed.serve().await;
    let message = format!("The RSA key of the authority \"CN=Odd authority\" {limit}");
    assert_untrusted(&server, &trusting(LONG_EXPONENT, offline()), &message).await;
    let server = serve_without_key(LONG_EXPONENT_OWN).await;
    let message = format!("The RSA key of the certificate {limit}");
    assert_untrusted(&server, &trusting(LONG_EXPONENT_OWN, offline()), &message).await;
}
