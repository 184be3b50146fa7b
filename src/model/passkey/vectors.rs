//! Tests with recorded answers, one for each algorithm, made by another library (Python's `cryptography`): for the host
//! `wk.example`, the challenges `registration` and `assertion`, and the counters 1 and 7.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rstest::rstest;
use serde::Deserialize;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::passkey::assertion::{AssertionAnswer, check_assertion};
use crate::model::passkey::registration::{NewCredential, RegistrationAnswer, check_registration};
use crate::model::passkey::{PasskeyRefusal, RelyingParty, UserPasskey};

const RECORDED: &str = include_str!("vectors.json");
const ORIGIN: &str = "https://wk.example";
const HANDLE: &[u8] = b"user";
const REGISTRATION: RelyingParty<'static> =
    RelyingParty { origin: ORIGIN, is_configured: false, host: "wk.example", challenge: b"registration" };
const ASSERTION: RelyingParty<'static> =
    RelyingParty { origin: ORIGIN, is_configured: false, host: "wk.example", challenge: b"assertion" };

#[derive(Deserialize)]
struct RecordedAnswers {
    client_data_of_registration: String,
    attestation: String,
    client_data: String,
    authenticator_data: String,
    signature: String,
}

/// Recorded answers as bytes, which a test may change.
#[derive(Clone)]
struct DeviceAnswers {
    registration: Vec<u8>,
    attestation: Vec<u8>,
    client_data: Vec<u8>,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
    user_handle: Vec<u8>,
}

impl DeviceAnswers {
    fn of(algorithm: &str) -> Self {
        let mut all: std::collections::HashMap<String, RecordedAnswers> =
            serde_json::from_str(RECORDED).unwrap();
        let recorded = all.remove(algorithm).unwrap();
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        Self {
            registration: bytes(&recorded.client_data_of_registration),
            attestation: bytes(&recorded.attestation),
            client_data: bytes(&recorded.client_data),
            authenticator_data: bytes(&recorded.authenticator_data),
            signature: bytes(&recorded.signature),
            user_handle: HANDLE.to_vec(),
        }
    }

    fn register(&self) -> Result<NewCredential, PasskeyRefusal> {
        let answer = RegistrationAnswer { client_data: &self.registration, attestation: &self.attestation };
        check_registration(&answer, &REGISTRATION)
    }

    /// Signs in with a passkey that was used before with this counter.
    fn sign_in(&self, passkey: &UserPasskey) -> Result<u32, PasskeyRefusal> {
        self.sign_in_at(passkey, &ASSERTION)
    }

    fn sign_in_at(&self, passkey: &UserPasskey, party: &RelyingParty<'_>) -> Result<u32, PasskeyRefusal> {
        let answer = AssertionAnswer {
            client_data: &self.client_data,
            authenticator_data: &self.authenticator_data,
            signature: &self.signature,
            user_handle: &self.user_handle,
        };
        check_assertion(&answer, passkey, HANDLE, party)
    }
}

fn passkey(made: NewCredential) -> UserPasskey {
    UserPasskey {
        key: 1,
        id: Id::random(),
        user: 1,
        name: "Phone".into(),
        credential: made.id,
        public_key: made.public_key,
        sign_count: made.sign_count,
        origin: ORIGIN.into(),
        created_at: Timestamp::from_ms(0),
        last_used_at: None,
    }
}

/// The device signs for `https://wk.example`.
#[rstest]
#[case::same("https://wk.example", ORIGIN, false, Ok(7))]
#[case::other_port("https://wk.example:8443", ORIGIN, false, Err(PasskeyRefusal::WrongOrigin))]
#[case::other_scheme("http://wk.example", ORIGIN, false, Err(PasskeyRefusal::WrongOrigin))]
#[case::configured_meanwhile("https://wk.example:8443", ORIGIN, true, Ok(7))]
#[case::other_challenge(ORIGIN, "https://wk.example:8443", false, Err(PasskeyRefusal::WrongOrigin))]
#[case::other_configured(ORIGIN, "https://wk.example:8443", true, Err(PasskeyRefusal::WrongOrigin))]
fn a_passkey_is_used_where_it_was_registered(
    #[case] registered: &str,
    #[case] origin: &str,
    #[case] is_configured: bool,
    #[case] expected: Result<u32, PasskeyRefusal>,
) {
    let answers = DeviceAnswers::of("es256");
    let passkey = UserPasskey { origin: registered.into(), ..passkey(answers.register().unwrap()) };
    let party = RelyingParty { origin, is_configured, ..ASSERTION };
    assert_eq!(answers.sign_in_at(&passkey, &party), expected);
}

/// Puts other bytes of the same length in place of some.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    [&bytes[..at], new, &bytes[at + old.len()..]].concat()
}

#[rstest]
#[case("es256")]
#[case("eddsa")]
#[case("rs256")]
fn a_passkey_is_made_and_used(#[case] algorithm: &str) {
    let answers = DeviceAnswers::of(algorithm);
    let made = answers.register().unwrap();
    assert_eq!((made.id.len(), made.sign_count), (16, 1));
    let passkey = passkey(made);
    assert_eq!(answers.sign_in(&passkey), Ok(7));
    for at in 0..answers.signature.len() {
        let mut wrong = answers.clone();
        wrong.signature[at] ^= 1;
        assert_eq!(wrong.sign_in(&passkey), Err(PasskeyRefusal::WrongSignature), "{at}");
    }
    let other = UserPasskey { user: 2, ..passkey };
    let wrong = DeviceAnswers { user_handle: b"other".to_vec(), ..answers };
    assert_eq!(wrong.sign_in(&other), Err(PasskeyRefusal::WrongUser));
}

/// A key of one algorithm accepts no signature of another one.
#[test]
fn a_signature_belongs_to_its_key() {
    for (one, other) in [("es256", "eddsa"), ("eddsa", "rs256"), ("rs256", "es256")] {
        let passkey = passkey(DeviceAnswers::of(one).register().unwrap());
        assert_eq!(DeviceAnswers::of(other).sign_in(&passkey), Err(PasskeyRefusal::WrongSignature));
    }
}

#[rstest]
#[case(0, Ok(7))]
#[case(6, Ok(7))]
#[case(7, Err(PasskeyRefusal::StaleCounter))]
#[case(8, Err(PasskeyRefusal::StaleCounter))]
fn a_counter_rises(#[case] stored: u32, #[case] expected: Result<u32, PasskeyRefusal>) {
    let answers = DeviceAnswers::of("es256");
    let passkey = UserPasskey { sign_count: stored, ..passkey(answers.register().unwrap()) };
    assert_eq!(answers.sign_in(&passkey), expected);
}

/// Each is refused before the signature is checked, which the change makes wrong as well.
#[rstest]
#[case::operation(b"webauthn.get", b"webauthn.set", PasskeyRefusal::WrongOperation)]
#[case::challenge(b"YXNzZXJ0aW9u", b"YXNzZXJ0aW9v", PasskeyRefusal::WrongChallenge)]
#[case::origin(b"//wk.example", b"//wk.exampla", PasskeyRefusal::WrongOrigin)]
#[case::inside(b"n\":false", b"n\":true ", PasskeyRefusal::WrongOrigin)]
#[case::json(b"{", b"[", PasskeyRefusal::MalformedClientData)]
fn other_client_data_is_refused(#[case] old: &[u8], #[case] new: &[u8], #[case] refusal: PasskeyRefusal) {
    let answers = DeviceAnswers::of("es256");
    let passkey = passkey(answers.register().unwrap());
    let changed = DeviceAnswers { client_data: replaced(&answers.client_data, old, new), ..answers.clone() };
    assert_eq!(changed.sign_in(&passkey), Err(refusal));
}

/// Byte 0 begins the hash of the host, byte 32 has the flags, byte 33 begins the counter.
#[rstest]
#[case::host(0, 0xff, PasskeyRefusal::WrongHost)]
#[case::absent(32, 0x01, PasskeyRefusal::UserAbsent)]
#[case::unverified(32, 0x04, PasskeyRefusal::UserUnverified)]
#[case::credential(32, 0x40, PasskeyRefusal::MalformedAuthenticatorData)]
#[case::counter(33, 0x80, PasskeyRefusal::WrongSignature)]
fn other_authenticator_data_is_refused(#[case] at: usize, #[case] bits: u8, #[case] refusal: PasskeyRefusal) {
    let mut answers = DeviceAnswers::of("eddsa");
    let passkey = passkey(answers.register().unwrap());
    answers.authenticator_data[at] ^= bits;
    assert_eq!(answers.sign_in(&passkey), Err(refusal));
}

#[rstest]
#[case::name(b"authData", b"authDate", PasskeyRefusal::MalformedAttestation)]
#[case::statement(b"attStmt\xa0", b"attStmt\x80", PasskeyRefusal::MalformedAttestation)]
#[case::flags(b"\x45\0\0\0\x01", b"\x44\0\0\0\x01", PasskeyRefusal::UserAbsent)]
#[case::unverified(b"\x45\0\0\0\x01", b"\x41\0\0\0\x01", PasskeyRefusal::UserUnverified)]
#[case::no_credential(b"\x45\0\0\0\x01", b"\x05\0\0\0\x01", PasskeyRefusal::MalformedAuthenticatorData)]
// The map of the key begins: type 2, algorithm -7 (here -8), curve 1.
#[case::algorithm(b"\x01\x02\x03\x26\x20\x01", b"\x01\x02\x03\x27\x20\x01", PasskeyRefusal::UnusableKey)]
#[case::curve(b"\x01\x02\x03\x26\x20\x01", b"\x01\x02\x03\x26\x20\x02", PasskeyRefusal::UnusableKey)]
#[case::x(b"\x21\x58\x20", b"\x21\x58\x1f", PasskeyRefusal::MalformedAuthenticatorData)]
fn other_attestations_are_refused(#[case] old: &[u8], #[case] new: &[u8], #[case] refusal: PasskeyRefusal) {
    let answers = DeviceAnswers::of("es256");
    let changed = DeviceAnswers { attestation: replaced(&answers.attestation, old, new), ..answers.clone() };
    assert_eq!(changed.register(), Err(refusal));
}

/// A point that is not on the curve is no key.
#[test]
fn a_point_lies_on_its_curve() {
    let mut answers = DeviceAnswers::of("es256");
    let last = answers.attestation.len() - 1;
    answers.attestation[last] ^= 1;
    assert_eq!(answers.register(), Err(PasskeyRefusal::UnusableKey));
}

/// Statements of other formats are ignored.
#[test]
fn an_attestation_says_nothing_that_is_needed() {
    let answers = DeviceAnswers::of("es256");
    let attestation = replaced(&answers.attestation, b"dnone", b"dtext");
    assert!(DeviceAnswers { attestation, ..answers }.register().is_ok());
}

#[test]
fn a_registration_has_its_own_client_data() {
    let answers = DeviceAnswers::of("es256");
    let other = DeviceAnswers { registration: answers.client_data.clone(), ..answers.clone() };
    assert_eq!(other.register(), Err(PasskeyRefusal::WrongOperation));
    let changed = replaced(&answers.registration, b"cmVnaXN0", b"cmVnaXN1");
    let other = DeviceAnswers { registration: changed, ..answers };
    assert_eq!(other.register(), Err(PasskeyRefusal::WrongChallenge));
}
