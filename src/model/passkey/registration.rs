//! Checks a new passkey: section 7.1 of WebAuthn level 2, whose steps are named here. Steps 1 to 4 are those of the browser.

use crate::model::passkey::authenticator_data::AuthenticatorData;
use crate::model::passkey::cbor::CborValue;
use crate::model::passkey::cose_key::CoseKey;
use crate::model::passkey::{PasskeyRefusal, RelyingParty, client_data};

/// What a device and the browser answer when a passkey is made.
#[derive(Clone, Copy, Debug)]
pub struct RegistrationAnswer<'a> {
    /// `clientDataJSON`.
    pub client_data: &'a [u8],
    /// `attestationObject`.
    pub attestation: &'a [u8],
}

/// A passkey that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCredential {
    /// Credential id.
    pub id: Vec<u8>,
    /// Public key as a COSE key.
    pub public_key: Vec<u8>,
    /// Signature counter of the device.
    pub sign_count: u32,
}

/// Checks the answer of a device. Whether another user has the credential (step 22) is up to the caller.
///
/// # Errors
/// The first step that fails.
pub fn check_registration(
    answer: &RegistrationAnswer<'_>,
    expected: &RelyingParty<'_>,
) -> Result<NewCredential, PasskeyRefusal> {
    // Steps 5 to 10. The hash of step 11 is needed for attestations only.
    client_data::check(answer.client_data, "webauthn.create", expected)?;
    // Step 12.
    let malformed = PasskeyRefusal::MalformedAttestation;
    let object = CborValue::parse(answer.attestation).ok_or(malformed)?;
    let (Some(CborValue::Text(format)), Some(CborValue::Map(statement)), Some(CborValue::Bytes(data))) =
        (object.named("fmt"), object.named("attStmt"), object.named("authData"))
    else {
        return Err(malformed);
    };
    let data = AuthenticatorData::parse(data)?;
    // Steps 13 to 15.
    data.check(expected)?;
    // Step 16. Step 17: no extension was asked for, and those that a device adds are ignored.
    let credential = data.credential.ok_or(PasskeyRefusal::MalformedAuthenticatorData)?;
    CoseKey::parse(credential.public_key)?;
    // Steps 18 to 21: any device is acceptable, so an attestation of another format says nothing that is needed.
    if *format == "none" && !statement.is_empty() {
        return Err(malformed);
    }
    // Step 23.
    Ok(NewCredential {
        id: credential.id.to_vec(),
        public_key: credential.public_key.to_vec(),
        sign_count: data.sign_count,
    })
}
