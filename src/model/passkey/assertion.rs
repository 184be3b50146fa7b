//! Checks a sign-in with a passkey: section 7.2 of WebAuthn level 2, whose steps are named here. Steps 1 to 4 are those of
//! the browser; step 5 does not apply, because the device chooses the passkey.

use sha2::{Digest as _, Sha256};

use crate::model::passkey::authenticator_data::AuthenticatorData;
use crate::model::passkey::cose_key::CoseKey;
use crate::model::passkey::{PasskeyRefusal, RelyingParty, UserPasskey, client_data};

/// What a device and the browser answer when somebody signs in.
#[derive(Clone, Copy, Debug)]
pub struct AssertionAnswer<'a> {
    /// `clientDataJSON`.
    pub client_data: &'a [u8],
    /// `authenticatorData`.
    pub authenticator_data: &'a [u8],
    /// `signature`.
    pub signature: &'a [u8],
    /// `userHandle`: the id of the user, as it was given when the passkey was made.
    pub user_handle: &'a [u8],
}

/// Checks the answer of a device for a passkey of the user with this handle. Returns the new signature counter.
///
/// # Errors
/// The first step that fails.
pub fn check_assertion(
    answer: &AssertionAnswer<'_>,
    passkey: &UserPasskey,
    user_handle: &[u8],
    expected: &RelyingParty<'_>,
) -> Result<u32, PasskeyRefusal> {
    // Step 6.
    if answer.user_handle != user_handle {
        return Err(PasskeyRefusal::WrongUser);
    }
    // Step 7.
    let key = CoseKey::parse(&passkey.public_key)?;
    // An addition: the specification lets all origins of a host use its passkeys.
    if !expected.is_configured && passkey.origin != expected.origin {
        return Err(PasskeyRefusal::WrongOrigin);
    }
    // Steps 8 to 14.
    client_data::check(answer.client_data, "webauthn.get", expected)?;
    let data = AuthenticatorData::parse(answer.authenticator_data)?;
    // Steps 15 to 17. Step 18: no extension was asked for, and those that a device adds are ignored.
    data.check(expected)?;
    // Steps 19 and 20.
    let hash = Sha256::digest(answer.client_data);
    let message = [answer.authenticator_data, hash.as_slice()].concat();
    if !key.verifies(&message, answer.signature) {
        return Err(PasskeyRefusal::WrongSignature);
    }
    // Step 21. A device that does not count says 0 each time.
    let counts = data.sign_count != 0 || passkey.sign_count != 0;
    if counts && data.sign_count <= passkey.sign_count {
        return Err(PasskeyRefusal::StaleCounter);
    }
    Ok(data.sign_count)
}
