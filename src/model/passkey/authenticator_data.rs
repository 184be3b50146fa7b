//! Authenticator data: what the device says about an operation (WebAuthn level 2, section 6.1).

use sha2::{Digest as _, Sha256};

use crate::model::passkey::cbor::CborValue;
use crate::model::passkey::{PasskeyRefusal, RelyingParty};

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;
/// Maximum length of a credential id, in bytes.
const CREDENTIAL_MAX: usize = 1_023;

/// The parts of authenticator data.
#[derive(Debug)]
pub(super) struct AuthenticatorData<'a> {
    host_hash: &'a [u8],
    flags: u8,
    pub(super) sign_count: u32,
    /// The new credential; only a registration has one.
    pub(super) credential: Option<AttestedCredential<'a>>,
}

/// A new credential.
#[derive(Debug)]
pub(super) struct AttestedCredential<'a> {
    pub(super) id: &'a [u8],
    /// The COSE key.
    pub(super) public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    /// Parses all bytes.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, PasskeyRefusal> {
        Self::read(bytes).ok_or(PasskeyRefusal::MalformedAuthenticatorData)
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (host_hash, rest) = bytes.split_at_checked(32)?;
        let (flags, rest) = rest.split_first()?;
        let (sign_count, rest) = rest.split_first_chunk::<4>()?;
        let (mut credential, mut rest) = (None, rest);
        if flags & HAS_CREDENTIAL != 0 {
            // The first 16 bytes name the model of the device.
            let (_, after) = rest.split_at_checked(16)?;
            let (length, after) = after.split_first_chunk::<2>()?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (id, after) =
                after.split_at_checked(length).filter(|_| (1..=CREDENTIAL_MAX).contains(&length))?;
            let (public_key, after) = after.split_at_checked(CborValue::length_at_start(after)?)?;
            credential = Some(AttestedCredential { id, public_key });
            rest = after;
        }
        if flags & HAS_EXTENSIONS != 0 {
            let CborValue::Map(_) = CborValue::parse(rest)? else { return None };
            rest = &[];
        }
        let sign_count = u32::from_be_bytes(*sign_count);
        rest.is_empty().then_some(Self { host_hash, flags: *flags, sign_count, credential })
    }

    /// Checks host and flags: steps 13 to 15 of a registration, 15 to 17 of an assertion.
    pub(super) fn check(&self, expected: &RelyingParty<'_>) -> Result<(), PasskeyRefusal> {
        if self.host_hash != Sha256::digest(expected.host).as_slice() {
            return Err(PasskeyRefusal::WrongHost);
        }
        if self.flags & USER_PRESENT == 0 {
            return Err(PasskeyRefusal::UserAbsent);
        }
        if self.flags & USER_VERIFIED == 0 {
            return Err(PasskeyRefusal::UserUnverified);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const EXPECTED: RelyingParty<'static> = RelyingParty {
        origin: "https://wk.example",
        is_configured: false,
        host: "wk.example",
        challenge: b"",
    };

    fn data(host: &str, flags: u8, rest: &[u8]) -> Vec<u8> {
        [Sha256::digest(host).as_slice(), &[flags, 0, 0, 1, 2], rest].concat()
    }

    #[rstest]
    #[case("wk.example", 0x05, None)]
    #[case("shop.wk.example", 0x05, Some(PasskeyRefusal::WrongHost))]
    #[case("wk.example", 0x04, Some(PasskeyRefusal::UserAbsent))]
    #[case("wk.example", 0x01, Some(PasskeyRefusal::UserUnverified))]
    fn host_and_flags_are_checked(
        #[case] host: &str,
        #[case] flags: u8,
        #[case] refusal: Option<PasskeyRefusal>,
    ) {
        let bytes = data(host, flags, &[]);
        let read = AuthenticatorData::parse(&bytes).unwrap();
        assert_eq!(read.sign_count, 258);
        assert_eq!(read.check(&EXPECTED).err(), refusal);
    }

    /// A credential is a model of 16 bytes, a length of 2, an id, and a CBOR value; extensions are a map.
    #[rstest]
    #[case::nothing(0x05, &[], true)]
    #[case::more(0x05, &[0], false)]
    #[case::credential(0x45, &[&[0; 16][..], &[0, 2, 7, 8], &[0xa0]].concat(), true)]
    #[case::credential_and_more(0x45, &[&[0; 16][..], &[0, 2, 7, 8], &[0xa0, 0]].concat(), false)]
    #[case::no_id(0x45, &[&[0; 16][..], &[0, 0], &[0xa0]].concat(), false)]
    #[case::short_id(0x45, &[&[0; 16][..], &[0, 9, 7, 8], &[0xa0]].concat(), false)]
    #[case::long_id(0x45, &[&[0; 16][..], &[4, 0], &[7; 1_024], &[0xa0]].concat(), false)]
    #[case::no_key(0x45, &[&[0; 16][..], &[0, 2, 7, 8]].concat(), false)]
    #[case::extensions(0x85, &[0xa0], true)]
    #[case::other_extensions(0x85, &[0x80], false)]
    #[case::no_extensions(0x85, &[], false)]
    #[case::both(0xc5, &[&[0; 16][..], &[0, 1, 7], &[0xa0, 0xa0]].concat(), true)]
    fn the_parts_follow_the_flags(#[case] flags: u8, #[case] rest: &[u8], #[case] is_valid: bool) {
        assert_eq!(AuthenticatorData::parse(&data("wk.example", flags, rest)).is_ok(), is_valid);
    }

    #[test]
    fn short_data_is_refused() {
        let bytes = data("wk.example", 0x05, &[]);
        for length in 0..bytes.len() {
            assert!(AuthenticatorData::parse(&bytes[..length]).is_err(), "{length}");
        }
    }
}
