//! TLS as HTTP and certificate checks see it (contract 4.8, `tls_*`).

use std::net::Ipv4Addr;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    KeyUsagePurpose, NameConstraints, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ECDSA_P521_SHA512,
    SignatureAlgorithm,
};
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::model::check::{CheckStatus, CheckType, ErrorCode};
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig, ToolboxError};

use crate::support::certificates::{
    Authority, Identity, expired, https, not_yet_valid, with_unknown_extension,
};
use crate::support::server::Server;
use crate::support::{UP, down, http, measure, offline, spec, toolbox, verdict};

fn as_is(_: &mut CertificateParams) {}

/// Columns: name in the certificate, its validity, whether its authority is trusted, what both types say.
#[rstest]
#[case("127.0.0.1", as_is, true, UP)]
#[case("127.0.0.1", as_is, false, down(ErrorCode::TlsUntrusted))]
#[case("127.0.0.1", expired, true, down(ErrorCode::TlsExpired))]
#[case("127.0.0.1", not_yet_valid, true, down(ErrorCode::TlsExpired))]
#[case("192.168.1.1", as_is, true, down(ErrorCode::TlsHostname))]
#[case("other.example", as_is, true, down(ErrorCode::TlsHostname))]
#[tokio::test]
async fn a_certificate_is_judged_alike_by_http_and_ssl_checks(
    #[case] name: &str,
    #[case] adapt: fn(&mut CertificateParams),
    #[case] is_trusted: bool,
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let authority = Authority::found();
    let server = authority.issue(&[name], adapt).serve().await;
    let toolbox = if is_trusted { authority.trusted() } else { toolbox() };
    let request = http(&https(server.address), &json!({}));
    assert_eq!(verdict(&measure(&request, &toolbox).await), expected);
    let config = json!({ "conditions": [{ "field": "metadata.chain_length", "operator": "neq", "value": 2, "status": "down" }] });
    let certificate = spec(CheckType::Ssl, &server.address.to_string(), &config);
    assert_eq!(verdict(&measure(&certificate, &toolbox).await), expected);
}

#[tokio::test]
async fn a_self_signed_certificate_is_untrusted_unless_verification_is_off() {
    let server = Identity::self_signed(&["127.0.0.1"]).serve().await;
    let url = https(server.address);
    let strict = measure(&http(&url, &json!({})), &toolbox()).await;
    assert_eq!(verdict(&strict), down(ErrorCode::TlsUntrusted));
    assert_eq!(server.requests().len(), 0, "nothing is sent to a server that is not trusted");
    let lenient = measure(&http(&url, &json!({ "verify_ssl": false })), &toolbox()).await;
    assert_eq!((verdict(&lenient), lenient.status_code), (UP, Some(204)));
    assert!(lenient.timings.tls.is_some());
}

/// RFC 8446, section 4.2.3, and RFC 5758: the curves that OpenSSL and browsers take. Columns: authority, certificate.
#[rstest]
#[case::authority_on_p384(&PKCS_ECDSA_P384_SHA384, &PKCS_ECDSA_P256_SHA256)]
#[case::certificate_on_p521(&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P521_SHA512)]
#[case::authority_on_p521(&PKCS_ECDSA_P521_SHA512, &PKCS_ECDSA_P256_SHA256)]
#[tokio::test]
async fn every_common_curve_is_checked(
    #[case] signs: &'static SignatureAlgorithm,
    #[case] signed: &'static SignatureAlgorithm,
) {
    let authority = Authority::found_by(signs);
    let server = authority.issue_for(signed, &["127.0.0.1"], as_is).serve().await;
    assert_up(&server, &authority.trusted()).await;
}

/// A P-256 key that signs with SHA-512: two sizes that do not belong together, and are allowed to.
#[tokio::test]
async fn an_ecdsa_signature_with_another_hash_is_checked() {
    let identity = Identity::p256_with_sha512();
    assert_up(&identity.serve().await, &identity.trusted()).await;
}

/// Both types of checks find the server up.
async fn assert_up(server: &Server, toolbox: &Toolbox) {
    let request = measure(&http(&https(server.address), &json!({})), toolbox).await;
    assert_eq!(verdict(&request), UP, "{:?}", request.failure);
    let certificate = measure(&spec(CheckType::Ssl, &server.address.to_string(), &json!({})), toolbox).await;
    assert_eq!(verdict(&certificate), UP, "{:?}", certificate.failure);
}

/// Contract 4.2.2: with verification switched off nothing is demanded of a certificate; otherwise it is said what is wrong.
#[rstest]
#[case::critical_extension(
    Authority::found().issue(&["127.0.0.1"], with_unknown_extension),
    "The certificate has a critical extension that is not known here"
)]
#[case::version_1(
    Identity::self_signed(&["127.0.0.1"]).into_version_1(),
    "The certificate is of X.509 version 1; version 3 is the one that is trusted"
)]
#[tokio::test]
async fn any_certificate_is_accepted_without_verification(#[case] identity: Identity, #[case] message: &str) {
    let server = identity.serve().await;
    let url = https(server.address);
    let lenient = measure(&http(&url, &json!({ "verify_ssl": false })), &toolbox()).await;
    assert_eq!(verdict(&lenient), UP);
    let strict = measure(&http(&url, &json!({})), &toolbox()).await;
    assert_eq!(verdict(&strict), down(ErrorCode::TlsUntrusted));
    assert_eq!(&*strict.failure.unwrap().message, message);
    let inspected = measure(&spec(CheckType::Ssl, &server.address.to_string(), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&inspected), down(ErrorCode::TlsUntrusted));
    assert_eq!(&*inspected.failure.unwrap().message, message);
}

const LONG_CHAIN: &str =
    "More than 6 certificates are between this one and its authority, and not all of them could be verified";

/// Changes one certificate of a chain; the authority's neighbour is the number 0.
fn at(place: usize, adapt: impl Fn(&mut CertificateParams)) -> impl Fn(usize, &mut CertificateParams) {
    move |number, params| {
        if number == place {
            adapt(params);
        }
    }
}

/// OpenSSL follows a hundred.
#[rstest]
#[case(6)]
#[case(7)]
#[case(20)]
#[tokio::test]
async fn a_long_chain_is_followed(#[case] count: usize) {
    let authority = Authority::found();
    let server = authority.issue_behind(count, "127.0.0.1").serve().await;
    assert_up(&server, &authority.trusted()).await;
    let stranger = measure(&http(&https(server.address), &json!({})), &Authority::found().trusted()).await;
    assert_eq!(verdict(&stranger), down(ErrorCode::TlsUntrusted), "another authority of the same name");
    let server = authority.issue_behind(count, "other.example").serve().await;
    let misnamed = measure(&http(&https(server.address), &json!({})), &authority.trusted()).await;
    assert_eq!(verdict(&misnamed), down(ErrorCode::TlsHostname));
}

/// Of ten certificates between the server's and the authority one is changed. What cannot be verified is said to be so:
/// the certificate may be a good one.
#[rstest]
#[case::no_authority(1, |params: &mut CertificateParams| params.is_ca = IsCa::ExplicitNoCa)]
#[case::path_too_long(0, |params: &mut CertificateParams| params.is_ca = IsCa::Ca(BasicConstraints::Constrained(8)))]
#[case::not_for_servers(1, |params: &mut CertificateParams| params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth))]
#[case::may_not_sign(1, |params: &mut CertificateParams| params.key_usages.push(KeyUsagePurpose::DigitalSignature))]
#[case::names_are_limited(0, |params: &mut CertificateParams| params.name_constraints = Some(only_for("other.example")))]
#[case::names_are_limited_below(5, |params: &mut CertificateParams| params.name_constraints = Some(only_for("other.example")))]
#[tokio::test]
async fn every_link_of_a_long_chain_is_verified(
    #[case] place: usize,
    #[case] adapt: fn(&mut CertificateParams),
) {
    let authority = Authority::found();
    let server = authority.issue_behind_others(10, "127.0.0.1", at(place, adapt)).serve().await;
    let measured = measure(&http(&https(server.address), &json!({})), &authority.trusted()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsUntrusted));
    assert_eq!(&*measured.failure.unwrap().message, LONG_CHAIN);
}

const EXPIRED: &str = "has expired";
const NOT_YET_VALID: &str = "is not valid yet";

/// Columns: how many certificates are between the server's and the authority, and the one of them that is out of date.
#[rstest]
#[case::short(2, 0, expired, EXPIRED)]
#[case::short_below(2, 1, not_yet_valid, NOT_YET_VALID)]
#[case::long(10, 0, expired, EXPIRED)]
#[case::long_in_the_middle(10, 2, expired, EXPIRED)]
#[case::long_below(10, 9, expired, EXPIRED)]
#[case::long_not_yet_valid(10, 1, not_yet_valid, NOT_YET_VALID)]
#[tokio::test]
async fn an_expired_authority_is_named(
    #[case] count: usize,
    #[case] place: usize,
    #[case] adapt: fn(&mut CertificateParams),
    #[case] flaw: &str,
) {
    let authority = Authority::found();
    let server = authority.issue_behind_others(count, "127.0.0.1", at(place, adapt)).serve().await;
    for check in [
        http(&https(server.address), &json!({})),
        spec(CheckType::Ssl, &server.address.to_string(), &json!({})),
    ] {
        let measured = measure(&check, &authority.trusted()).await;
        assert_eq!(verdict(&measured), down(ErrorCode::TlsExpired));
        let message = format!("The certificate of the authority \"CN=Between {place}\" {flaw}");
        assert_eq!(&*measured.failure.unwrap().message, message);
        let stranger = measure(&check, &Authority::found().trusted()).await;
        assert_eq!(stranger.status, CheckStatus::Down);
    }
}

/// Two things are wrong with the chain: that it is out of date is not all.
#[tokio::test]
async fn a_long_chain_with_another_flaw_is_not_reported_as_expired() {
    let authority = Authority::found();
    let adapt = |number: usize, params: &mut CertificateParams| match number {
        0 => expired(params),
        1 => params.is_ca = IsCa::ExplicitNoCa,
        _ => {}
    };
    let server = authority.issue_behind_others(10, "127.0.0.1", adapt).serve().await;
    let measured = measure(&http(&https(server.address), &json!({})), &authority.trusted()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsUntrusted));
    assert_eq!(&*measured.failure.unwrap().message, LONG_CHAIN);
}

/// Constraints that a long chain may have, in the certificate at this index.
#[rstest]
#[case::path_of_nine(0, |params: &mut CertificateParams| params.is_ca = IsCa::Ca(BasicConstraints::Constrained(9)))]
#[case::names_that_fit(4, |params: &mut CertificateParams| params.name_constraints = Some(only_for("127.0.0.1")))]
#[case::for_servers(1, |params: &mut CertificateParams| params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth))]
#[case::may_sign(1, |params: &mut CertificateParams| params.key_usages.push(KeyUsagePurpose::KeyCertSign))]
#[tokio::test]
async fn a_constraint_that_is_met_is_accepted(
    #[case] index: usize,
    #[case] adapt: fn(&mut CertificateParams),
) {
    let authority = Authority::found();
    let server = authority.issue_behind_others(10, "127.0.0.1", at(index, adapt)).serve().await;
    assert_up(&server, &authority.trusted()).await;
}

fn only_for(name: &str) -> NameConstraints {
    let subtree = match name.parse::<Ipv4Addr>() {
        Ok(address) => GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address.into(), 32)),
        Err(_) => GeneralSubtree::DnsName(name.to_owned()),
    };
    // A certificate for an address is under no limit for names.
    let nowhere =
        GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(Ipv4Addr::new(192, 0, 2, 1).into(), 32));
    NameConstraints { permitted_subtrees: vec![subtree, nowhere], excluded_subtrees: Vec::new() }
}

fn authority_too(params: &mut CertificateParams) {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

/// OpenSSL makes them so by default, and takes them.
#[tokio::test]
async fn an_authority_may_be_the_server_certificate() {
    let itself = Identity::self_signed_as(&["127.0.0.1"], authority_too);
    assert_up(&itself.serve().await, &itself.trusted()).await;
    let authority = Authority::found();
    let issued = authority.issue(&["127.0.0.1"], authority_too);
    assert_up(&issued.serve().await, &authority.trusted()).await;
}

/// A certificate that may issue others is judged like any other one.
#[rstest]
#[case::name("other.example", as_is, down(ErrorCode::TlsHostname))]
#[case::expired("127.0.0.1", expired, down(ErrorCode::TlsExpired))]
#[case::purpose(
    "127.0.0.1",
    |params: &mut CertificateParams| params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth),
    down(ErrorCode::TlsUntrusted)
)]
#[tokio::test]
async fn a_serving_authority_is_verified(
    #[case] name: &str,
    #[case] adapt: fn(&mut CertificateParams),
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let authority = Authority::found();
    let issued = authority.issue(&[name], |params| {
        authority_too(params);
        adapt(params);
    });
    let server = issued.serve().await;
    let measured = measure(&http(&https(server.address), &json!({})), &authority.trusted()).await;
    assert_eq!(verdict(&measured), expected);
    for toolbox in [toolbox(), Authority::found().trusted()] {
        let measured = measure(&http(&https(server.address), &json!({})), &toolbox).await;
        assert_eq!(measured.status, CheckStatus::Down, "another authority of the same name");
    }
}

/// An authority that may vouch only for other names is not accepted, though the TLS library does not follow such constraints.
#[tokio::test]
async fn name_constraints_apply_to_a_serving_authority() {
    let authority = Authority::found();
    let adapt = |number: usize, params: &mut CertificateParams| match number {
        0 => params.name_constraints = Some(only_for("other.example")),
        _ => authority_too(params),
    };
    let server = authority.issue_behind_others(1, "127.0.0.1", adapt).serve().await;
    let measured = measure(&http(&https(server.address), &json!({})), &authority.trusted()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsUntrusted));
}

/// A self-signed one is trusted for itself alone.
#[tokio::test]
async fn an_authority_that_serves_itself_is_trusted_by_its_key() {
    let trusted = Identity::self_signed_as(&["127.0.0.1"], authority_too);
    let other = Identity::self_signed_as(&["127.0.0.1"], authority_too);
    let measured = measure(&http(&https(other.serve().await.address), &json!({})), &trusted.trusted()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsUntrusted));
}

#[tokio::test]
async fn expiry_is_judged_by_the_clock_of_the_installation() {
    let server = Identity::self_signed(&["127.0.0.1"]).serve().await;
    let config = ToolboxConfig { clock: Clock::fixed(Timestamp::from_ms(0)), ..offline() };
    let measured = measure(&http(&https(server.address), &json!({})), &Toolbox::new(config).unwrap()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsExpired));
}

/// Response of a server to a hello, byte for byte.
#[rstest]
#[case::garbage(b"garbage that is no TLS record at all", ErrorCode::TlsHandshake)]
#[case::plain_http(b"HTTP/1.1 400 Bad Request\r\n\r\n", ErrorCode::TlsHandshake)]
#[case::alert_protocol_version(b"\x15\x03\x01\x00\x02\x02\x46", ErrorCode::TlsLegacy)]
#[case::alert_handshake_failure(b"\x15\x03\x01\x00\x02\x02\x28", ErrorCode::TlsLegacy)]
#[case::alert_internal_error(b"\x15\x03\x03\x00\x02\x02\x50", ErrorCode::TlsHandshake)]
#[case::silence_and_close(b"", ErrorCode::TlsHandshake)]
#[tokio::test]
async fn a_failed_handshake_has_its_code(#[case] reply: &'static [u8], #[case] code: ErrorCode) {
    let server = Server::start(move |mut stream, _| async move {
        let mut hello = [0; 4096];
        assert!(stream.read(&mut hello).await.unwrap() > 0);
        stream.write_all(reply).await.unwrap();
        stream.shutdown().await.unwrap();
        // Stay until the probe has left, so that the reply is not cut.
        while stream.read(&mut hello).await.is_ok_and(|length| length > 0) {}
    })
    .await;
    let measured = measure(&http(&https(server.address), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), down(code));
    assert!(measured.timings.connect.is_some() && measured.timings.tls.is_none());
}

#[tokio::test]
async fn a_server_that_never_answers_the_hello_times_out() {
    let server = Server::start(|mut stream, _| async move {
        let mut hello = [0; 4096];
        while stream.read(&mut hello).await.is_ok_and(|length| length > 0) {}
    })
    .await;
    let mut check = http(&https(server.address), &json!({}));
    check.timeout = Duration::from_millis(300);
    let measured = measure(&check, &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::TlsHandshake));
    assert!(measured.timings.total.unwrap().get() < 550_000);
}

#[tokio::test]
async fn a_chain_of_a_hundred_certificates_is_accepted() {
    let authority = Authority::found();
    let server = authority.issue(&["127.0.0.1"], as_is).followed_by(98).serve().await;
    let measured = measure(&http(&https(server.address), &json!({})), &authority.trusted()).await;
    assert_eq!(verdict(&measured), UP);
    assert!(measured.timings.total.unwrap().get() < 2_250_000);
}

#[tokio::test]
async fn a_useless_ca_file_is_named_with_its_reason() {
    let missing = ToolboxConfig { ca_file: Some("/nonexistent/ca.pem".into()), ..offline() };
    let error = Toolbox::new(missing).unwrap_err();
    assert!(matches!(error, ToolboxError::CaFile { .. }));
    assert!(error.to_string().starts_with("probe.ca_file /nonexistent/ca.pem: "), "{error}");
    let empty = tempfile::NamedTempFile::new().unwrap();
    let config = ToolboxConfig { ca_file: Some(empty.path().to_owned()), ..offline() };
    assert!(Toolbox::new(config).unwrap_err().to_string().ends_with("it holds no certificate"));
}
