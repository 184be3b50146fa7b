//! The users of the bus: the permissions of a node, a location and an enrolment, as data.
//!
//! A location publishes its results and its presence, requests its definitions and new credentials, and receives requests for
//! checks, its definitions and the answers to its own requests. The server refuses everything else.
//!
//! Remaining possibilities of a compromised location, shown by `tests/cluster`:
//! - It can name a foreign subject as reply subject. The answer (an acknowledgement of JetStream, which is a short JSON, or an
//!   engine's answer to its own request) is then sent there, but never outside of the locations' account (`accounts`): no
//!   lease, definition, command, result or request can be forged in this way. Another location may receive an invalid `look`
//!   or `delivery`. Receivers parse these strictly, and drop and count malformed ones.
//! - It can flood: limited by the size of a message, by messages per subject and by the size of the stream (`streams`). It may
//!   fill the stream, so that others spool until the engine has caught up.
//! - It can open many connections: limited by the connections of the locations' account, which are fewer than the server's, so
//!   that engine nodes can always connect (`accounts`). Other locations may have to wait, and spool.
//! - `Nats-Msg-Id` applies to the whole stream: if an id of another location can be guessed, its message becomes a duplicate.
//!   The id therefore has 128 unpredictable bits.

use std::path::Path;

use nkeys::{KeyPair, KeyPairType};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bus::credentials::{BusCredentials, CredentialsError};
use crate::bus::jwt::{self, TokenClaims, TokenError};
use crate::bus::subjects::{BusSubject, token};
use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::node::NodeName;

/// The time that an enrolment is valid, in milliseconds.
pub const ENROLMENT_MS: i64 = 3_600_000;
/// The time that a location's token is valid, in milliseconds. It is renewed every day; a location that was
/// disconnected for longer needs another enrolment. A location that is taken out of use can connect until its
/// token expires, but its messages are ignored.
pub const LOCATION_TOKEN_MS: i64 = 30 * 86_400_000;
/// Largest message of a location, in bytes; a batch of results stays below it.
pub const LOCATION_PAYLOAD_BYTES: i64 = 256 * 1_024;
/// Largest message of an enrolment, in bytes: a public key and a description of the machine.
const ENROLMENT_PAYLOAD_BYTES: i64 = 8 * 1_024;
/// The time in which a node may answer a request, in nanoseconds.
const ANSWER_WITHIN_NS: i64 = 60_000_000_000;

/// A user of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusUser {
    /// An engine node, in the engine's account.
    Node(NodeName),
    /// A location, in the locations' account.
    Location(LocationCode),
    /// A machine that may request to become a location, in the locations' account.
    Enrolment(Id),
}

/// The permissions of a user. Subjects may contain wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusPermissions {
    /// Subjects that the user may publish to.
    pub publish: Vec<String>,
    /// Subjects that the user may subscribe to.
    pub subscribe: Vec<String>,
    /// True if the user may answer the requests that it receives.
    pub answers: bool,
    /// Largest message in bytes; -1 = the server's limit.
    pub payload_bytes: i64,
    /// Maximum number of subscriptions; -1 = any number.
    pub subscriptions: i64,
}

impl BusUser {
    /// Returns the user's name on the server and in credentials: `node.a`, `location.fra`, `enrol.…`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Node(name) => format!("node.{name}"),
            Self::Location(code) => format!("location.{}", token(code)),
            Self::Enrolment(id) => format!("enrol.{id}"),
        }
    }

    /// Returns the prefix of the subjects on which only this user receives answers.
    #[must_use]
    pub fn inbox_prefix(&self) -> String {
        inbox_prefix(&self.name())
    }

    /// Returns the user's permissions on the bus.
    #[must_use]
    pub fn permissions(&self) -> BusPermissions {
        let inbox = format!("{}.>", self.inbox_prefix());
        let texts = |subjects: &[BusSubject]| subjects.iter().map(ToString::to_string).collect::<Vec<_>>();
        match self {
            Self::Node(_) => BusPermissions {
                publish: ["wk.>", "$JS.API.>", "$KV.>", "$JS.ACK.>", "$JS.FC.>"].map(str::to_owned).to_vec(),
                subscribe: vec!["wk.>".into(), "$KV.>".into(), inbox],
                answers: true,
                payload_bytes: -1,
                subscriptions: -1,
            },
            Self::Location(code) => {
                let requests = [BusSubject::Renew, BusSubject::Follow, BusSubject::Presence];
                let mut publish = texts(&requests.map(|subject| subject(code.clone())));
                publish.push(format!("wk.results.{}.*", token(code)));
                let mut subscribe = texts(
                    &[BusSubject::CheckRequest, BusSubject::Delivery].map(|subject| subject(code.clone())),
                );
                subscribe.push(inbox);
                BusPermissions {
                    publish,
                    subscribe,
                    answers: false,
                    payload_bytes: LOCATION_PAYLOAD_BYTES,
                    subscriptions: 64,
                }
            }
            Self::Enrolment(id) => BusPermissions {
                publish: texts(&[BusSubject::Enrol(*id)]),
                subscribe: vec![inbox],
                answers: false,
                payload_bytes: ENROLMENT_PAYLOAD_BYTES,
                subscriptions: 4,
            },
        }
    }
}

/// Returns the inbox prefix of the user with this name.
#[must_use]
pub fn inbox_prefix(name: &str) -> String {
    format!("_INBOX.{name}")
}

/// Returns the engine node whose user has this name.
#[must_use]
pub fn node_of(name: &str) -> Option<NodeName> {
    name.strip_prefix("node.")?.parse().ok()
}

/// Returns the enrolment whose user has this name.
#[must_use]
pub fn enrolment_of(name: &str) -> Option<Id> {
    name.strip_prefix("enrol.")?.parse().ok()
}

/// Returns true if the text is the public key of a user.
#[must_use]
pub fn is_user_key(text: &str) -> bool {
    KeyPair::from_public_key(text).is_ok_and(|key| key.key_pair_type() == KeyPairType::User)
}

/// Issuer of user tokens: an account's own key, or a key that the account's token names as its signer.
#[derive(Debug)]
pub struct TokenIssuer {
    account: String,
    key: KeyPair,
}

/// The file of the key with which engine nodes sign users of the locations' account.
#[derive(Deserialize, Serialize)]
struct IssuerFile {
    account: String,
    signing_key: String,
}

impl TokenIssuer {
    /// Creates the issuer for an account, given by its public key, that signs with `key`.
    #[must_use]
    pub fn new(account: String, key: KeyPair) -> Self {
        Self { account, key }
    }

    /// Reads the file that [`TokenIssuer::to_text`] wrote.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or contains no key of an account; the message names the file.
    pub fn read(file: &Path) -> Result<Self, String> {
        let bad = |problem: &dyn std::fmt::Display| format!("{}: {problem}", file.display());
        let text: SecretString = std::fs::read_to_string(file).map_err(|error| bad(&error))?.into();
        // The error of the TOML reader would show the invalid line.
        let no_key = || bad(&"it contains no account with a signing_key");
        let read: IssuerFile = toml::from_str(text.expose_secret()).map_err(|_| no_key())?;
        let key = KeyPair::from_seed(&read.signing_key).map_err(|_| no_key())?;
        let is_account = KeyPair::from_public_key(&read.account)
            .is_ok_and(|account| account.key_pair_type() == KeyPairType::Account);
        if key.key_pair_type() != KeyPairType::Account || !is_account {
            return Err(no_key());
        }
        Ok(Self { account: read.account, key })
    }

    /// Public key of the account of the signed users.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Public key of the signing key.
    #[must_use]
    pub fn signer(&self) -> String {
        self.key.public_key()
    }

    /// Returns the text of the issuer's file.
    ///
    /// # Errors
    ///
    /// When only the public key is known.
    pub fn to_text(&self) -> Result<SecretString, TokenError> {
        let signing_key = self.key.seed().map_err(|error| TokenError::Key(error.to_string()))?;
        let file = IssuerFile { account: self.account.clone(), signing_key };
        let text = toml::to_string(&file).map_err(|error| TokenError::Key(error.to_string()))?;
        Ok(text.into())
    }

    /// Signs a token for the user who holds the key of `public_key`.
    pub fn issue(
        &self,
        user: &BusUser,
        public_key: &str,
        now: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<String, TokenError> {
        let mut nats = user_claims(&user.permissions());
        if self.key.public_key() != self.account {
            nats["issuer_account"] = json!(self.account);
        }
        let claims = TokenClaims {
            subject: public_key.into(),
            name: user.name(),
            issued: now,
            expires,
            nats: nats.as_object().cloned().unwrap_or_default(),
        };
        jwt::sign(&claims, &self.key)
    }

    /// Creates a key for the user and signs a token for it.
    pub fn credentials(
        &self,
        user: &BusUser,
        now: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<BusCredentials, CredentialsError> {
        let key = KeyPair::new_user();
        let token = self.issue(user, &key.public_key(), now, expires)?;
        BusCredentials::new(token, key)
    }
}

fn user_claims(permissions: &BusPermissions) -> Value {
    let mut claims = json!({
        "type": "user",
        "version": 2,
        "pub": {"allow": permissions.publish},
        "sub": {"allow": permissions.subscribe},
        "subs": permissions.subscriptions,
        "data": -1,
        "payload": permissions.payload_bytes,
        "allowed_connection_types": ["STANDARD"],
    });
    if permissions.answers {
        claims["resp"] = json!({"max": 1, "ttl": ANSWER_WITHIN_NS});
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_may_use_only_its_own_subjects() {
        let permissions = BusUser::Location("eu.fra".parse().unwrap()).permissions();
        let own = |subject: &String| subject.split('.').any(|part| part == "eu=fra");
        assert!(permissions.publish.iter().chain(&permissions.subscribe).all(own), "{permissions:?}");
        assert!(!permissions.answers);
    }

    #[test]
    fn an_enrolment_may_send_a_request_and_receive_the_reply() {
        let id = Id::random();
        let permissions = BusUser::Enrolment(id).permissions();
        assert_eq!(permissions.publish, [format!("wk.enrol.{id}")]);
        assert_eq!(permissions.subscribe, [format!("_INBOX.enrol.{id}.>")]);
    }

    #[test]
    fn the_file_of_an_issuer_reads_back_and_is_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("locations.key");
        let issuer = TokenIssuer::new(KeyPair::new_account().public_key(), KeyPair::new_account());
        std::fs::write(&file, issuer.to_text().unwrap().expose_secret()).unwrap();
        let read = TokenIssuer::read(&file).unwrap();
        assert_eq!((read.account, read.key.public_key()), (issuer.account, issuer.key.public_key()));
        let seed = KeyPair::new_user().seed().unwrap();
        for text in [String::new(), seed.clone(), format!("account = \"A\"\nsigning_key = \"{seed}\"\n")] {
            std::fs::write(&file, text).unwrap();
            let refused = TokenIssuer::read(&file).unwrap_err();
            assert!(refused.ends_with("it contains no account with a signing_key"), "{refused}");
        }
    }
}
