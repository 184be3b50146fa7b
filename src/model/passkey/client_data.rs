//! Client data: what the browser says about an operation, signed by the device (WebAuthn level 2, section 5.8.1).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::model::passkey::{PasskeyRefusal, RelyingParty};

/// Maximum length in bytes; browsers send some hundred.
const BYTES_MAX: usize = 8 * 1_024;

/// The members that are checked; the specification lets browsers add others.
#[derive(Deserialize)]
struct ClientData {
    #[serde(rename = "type")]
    operation: String,
    challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    is_cross_origin: bool,
}

/// Checks client data: steps 5 to 9 of a registration, 9 to 13 of an assertion. Token binding (the step after these) is
/// used by no browser.
pub(super) fn check(json: &[u8], operation: &str, expected: &RelyingParty<'_>) -> Result<(), PasskeyRefusal> {
    if json.len() > BYTES_MAX {
        return Err(PasskeyRefusal::MalformedClientData);
    }
    let read: Result<ClientData, _> = serde_json::from_slice(json);
    let data = read.map_err(|_| PasskeyRefusal::MalformedClientData)?;
    if data.operation != operation {
        return Err(PasskeyRefusal::WrongOperation);
    }
    if data.challenge != URL_SAFE_NO_PAD.encode(expected.challenge) {
        return Err(PasskeyRefusal::WrongChallenge);
    }
    if data.origin != expected.origin || data.is_cross_origin {
        return Err(PasskeyRefusal::WrongOrigin);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const EXPECTED: RelyingParty<'static> = RelyingParty {
        origin: "https://wk.example",
        is_configured: false,
        host: "wk.example",
        challenge: b"abc",
    };

    #[rstest]
    #[case::plain("", None)]
    #[case::same_origin(r#","crossOrigin":false"#, None)]
    #[case::more(r#","other":{"a":1}"#, None)]
    #[case::inside(r#","crossOrigin":true"#, Some(PasskeyRefusal::WrongOrigin))]
    #[case::twice(r#","origin":"https://wk.example""#, Some(PasskeyRefusal::MalformedClientData))]
    #[case::no_json(",", Some(PasskeyRefusal::MalformedClientData))]
    fn members_are_read(#[case] more: &str, #[case] refusal: Option<PasskeyRefusal>) {
        let json =
            format!(r#"{{"type":"webauthn.get","challenge":"YWJj","origin":"https://wk.example"{more}}}"#);
        assert_eq!(check(json.as_bytes(), "webauthn.get", &EXPECTED).err(), refusal);
    }

    #[rstest]
    #[case("webauthn.create", "YWJj", "https://wk.example", PasskeyRefusal::WrongOperation)]
    #[case("webauthn.get", "YWJk", "https://wk.example", PasskeyRefusal::WrongChallenge)]
    #[case("webauthn.get", "YWJj=", "https://wk.example", PasskeyRefusal::WrongChallenge)]
    #[case("webauthn.get", "YWJj", "https://shop.wk.example", PasskeyRefusal::WrongOrigin)]
    #[case("webauthn.get", "YWJj", "http://wk.example", PasskeyRefusal::WrongOrigin)]
    #[case("webauthn.get", "YWJj", "https://wk.example:8443", PasskeyRefusal::WrongOrigin)]
    fn other_values_are_refused(
        #[case] operation: &str,
        #[case] challenge: &str,
        #[case] origin: &str,
        #[case] refusal: PasskeyRefusal,
    ) {
        let json = serde_json::json!({"type": operation, "challenge": challenge, "origin": origin});
        assert_eq!(check(json.to_string().as_bytes(), "webauthn.get", &EXPECTED), Err(refusal));
    }

    #[test]
    fn long_client_data_is_refused() {
        assert_eq!(
            check(&[b' '; BYTES_MAX + 1], "webauthn.get", &EXPECTED),
            Err(PasskeyRefusal::MalformedClientData)
        );
    }
}
