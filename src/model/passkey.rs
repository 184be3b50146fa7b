//! Passkeys: key pairs in devices of users, by which they sign in to the console without a password.
//!
//! This is the relying party of WebAuthn level 2 (<https://www.w3.org/TR/webauthn-2/>), as pure rules: `registration`
//! checks a new passkey, `assertion` a sign-in. Both require that the device has verified the user, because a passkey
//! replaces the password. Attestation is not used: any device may hold a passkey.
//!
//! A device signs the host and the origin of the document that asks it. The host alone is not enough: another program on
//! another port of the same host could pass an answer on. So the origin of a challenge is stored with it, and that of the
//! registration with the passkey; an answer must have both. An origin that the configuration names counts in place of them.

pub mod assertion;
mod authenticator_data;
mod cbor;
mod client_data;
mod cose_key;
pub mod registration;
#[cfg(test)]
mod vectors;

use crate::clock::Timestamp;
use crate::id::Id;

/// Prefix of the secret in a challenge.
pub const CHALLENGE_PREFIX: &str = "wkp_";
/// Milliseconds for which a challenge is valid.
pub const CHALLENGE_MS: i64 = 5 * 60_000;
/// Maximum number of passkeys of a user.
pub const PASSKEYS_MAX: usize = 20;

/// A passkey of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPasskey {
    /// Database key; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the user.
    pub user: i64,
    /// Display name, 1 to 255 characters.
    pub name: String,
    /// Credential id, by which a device names the passkey; at most 1023 bytes, unique in the installation.
    pub credential: Vec<u8>,
    /// Public key as a COSE key (RFC 9052).
    pub public_key: Vec<u8>,
    /// Signature counter of the device after the last sign-in; 0 if the device does not count.
    pub sign_count: u32,
    /// Origin at which the passkey was registered, such as `https://wk.example.com`.
    pub origin: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last sign-in.
    pub last_used_at: Option<Timestamp>,
}

/// What an answer of a device is compared with.
#[derive(Clone, Copy, Debug)]
pub struct RelyingParty<'a> {
    /// Origin of the console for which the challenge was given out, such as `https://wk.example.com`.
    pub origin: &'a str,
    /// True if the configuration names the origin. Then passkeys that were registered at another origin of the host, such as
    /// that of an earlier port, are accepted at this one.
    pub is_configured: bool,
    /// Host of the console without a port, such as `wk.example.com`: the RP id.
    pub host: &'a str,
    /// The challenge that was given out.
    pub challenge: &'a [u8],
}

/// Why an answer of a device is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyRefusal {
    /// The client data is not the JSON of the specification.
    #[error("the client data is malformed")]
    MalformedClientData,
    /// The client data is that of another operation.
    #[error("the client data is of another operation")]
    WrongOperation,
    /// The challenge is another one.
    #[error("the challenge is another one")]
    WrongChallenge,
    /// The document has another origin, or was inside of one with another origin.
    #[error("the origin is another one")]
    WrongOrigin,
    /// The attestation object is malformed.
    #[error("the attestation object is malformed")]
    MalformedAttestation,
    /// The authenticator data is malformed.
    #[error("the authenticator data is malformed")]
    MalformedAuthenticatorData,
    /// The passkey is for another host.
    #[error("the passkey is for another host")]
    WrongHost,
    /// Nobody has confirmed at the device.
    #[error("nobody was present at the device")]
    UserAbsent,
    /// The device has not verified the user, for example by a PIN.
    #[error("the device has not verified the user")]
    UserUnverified,
    /// The key is malformed, or of an algorithm that was not offered.
    #[error("the key cannot be used")]
    UnusableKey,
    /// The passkey belongs to another user than the answer says.
    #[error("the passkey belongs to another user")]
    WrongUser,
    /// The signature is wrong.
    #[error("the signature is wrong")]
    WrongSignature,
    /// The counter has not risen: there may be a copy of the passkey.
    #[error("the signature counter has not risen")]
    StaleCounter,
}
