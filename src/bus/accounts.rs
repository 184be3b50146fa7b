//! The accounts of the NATS server: one of the engine, one of the locations, and the server's own.
//!
//! NATS checks the subjects that a user publishes to, but not the reply subject: JetStream sends its acknowledgement
//! wherever the sender says. Within one account a location could overwrite a lease in this way. Locations therefore use an
//! account of their own without JetStream, and only the subjects in [`CALLS`] and [`FEEDS`] are shared; a reply subject is
//! replaced by one of the server on its way, and restored on the requesting side.

use nkeys::KeyPair;
use serde_json::{Map, Value, json};

use crate::bus::jwt::{self, TokenClaims, TokenError};
use crate::bus::server_config::CONNECTIONS;
use crate::clock::Timestamp;

/// Services of the engine's account that locations may call. Patterns of [`crate::bus::subjects::BusSubject`].
pub const CALLS: [&str; 5] =
    ["wk.results.*.*", "wk.enrol.*", "wk.renew.*", "wk.follow.*", "$KV.wk_presence.*"];

/// Subjects of the engine's account that locations may subscribe to.
pub const FEEDS: [&str; 2] = ["wk.look.*", "wk.delivery.*"];

/// Maximum number of streams and buckets of the engine's account, with room for later versions.
const STREAMS: u32 = 16;
/// Maximum number of connections of locations and enrolments. The server's other connections are reserved for
/// engine nodes, so that locations cannot lock them out.
pub const LOCATION_CONNECTIONS: u32 = CONNECTIONS - 512;
/// Memory for the consumers of watchers, in bytes; everything else is on disk.
const MEMORY_BYTES: u32 = 64 * 1_024 * 1_024;

/// Public keys of the accounts.
#[derive(Clone, Debug)]
pub struct AccountKeys {
    /// The server's own account, which has no users.
    pub system: String,
    /// The account of engine nodes, streams and buckets.
    pub engine: String,
    /// The account of locations and enrolments.
    pub locations: String,
    /// The key with which engine nodes sign users of the locations' account.
    pub location_signer: String,
}

/// Signs the token of the operator.
pub fn operator_token(operator: &KeyPair, keys: &AccountKeys, now: Timestamp) -> Result<String, TokenError> {
    let nats = json!({"type": "operator", "version": 2, "system_account": keys.system});
    sign("Watchkeeper", &operator.public_key(), nats, operator, now)
}

/// Signs the token of the server's own account.
pub fn system_token(operator: &KeyPair, keys: &AccountKeys, now: Timestamp) -> Result<String, TokenError> {
    sign("SYS", &keys.system, account_claims(&without_jetstream()), operator, now)
}

/// Signs the token of the engine nodes' account: all of JetStream, and the shared subjects.
pub fn engine_token(operator: &KeyPair, keys: &AccountKeys, now: Timestamp) -> Result<String, TokenError> {
    let mut limits = without_jetstream();
    let more = json!({"mem_storage": MEMORY_BYTES, "disk_storage": -1, "streams": STREAMS, "consumer": -1, "max_bytes_required": true});
    limits.extend(more.as_object().cloned().unwrap_or_default());
    let mut nats = account_claims(&limits);
    let call = |subject: &str| json!({"name": subject, "subject": subject, "type": "service"});
    let feed = |subject: &str| json!({"name": subject, "subject": subject, "type": "stream"});
    let exports: Vec<Value> = CALLS.into_iter().map(call).chain(FEEDS.into_iter().map(feed)).collect();
    nats["exports"] = json!(exports);
    sign("WATCHKEEPER", &keys.engine, nats, operator, now)
}

/// Signs the token of the account of locations and enrolments: no JetStream, and only the shared subjects.
pub fn locations_token(operator: &KeyPair, keys: &AccountKeys, now: Timestamp) -> Result<String, TokenError> {
    let mut limits = without_jetstream();
    limits.insert("conn".into(), json!(LOCATION_CONNECTIONS));
    let mut nats = account_claims(&limits);
    let import = |subject: &str, kind: &str| json!({"name": subject, "subject": subject, "account": keys.engine, "type": kind});
    let calls = CALLS.into_iter().map(|subject| import(subject, "service"));
    let feeds = FEEDS.into_iter().map(|subject| import(subject, "stream"));
    let imports: Vec<Value> = calls.chain(feeds).collect();
    nats["imports"] = json!(imports);
    nats["signing_keys"] = json!([keys.location_signer]);
    sign("LOCATIONS", &keys.locations, nats, operator, now)
}

fn account_claims(limits: &Map<String, Value>) -> Value {
    json!({"type": "account", "version": 2, "limits": limits, "default_permissions": {"pub": {}, "sub": {}}})
}

/// Limits without JetStream and leaf nodes; connections and messages are limited by the server only.
fn without_jetstream() -> Map<String, Value> {
    let limits = json!({"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "conn": -1,
                        "leaf": 0, "wildcards": true, "mem_storage": 0, "disk_storage": 0});
    limits.as_object().cloned().unwrap_or_default()
}

fn sign(
    name: &str,
    subject: &str,
    nats: Value,
    operator: &KeyPair,
    now: Timestamp,
) -> Result<String, TokenError> {
    let Value::Object(nats) = nats else { return Err(TokenError::Form("it has no claims".into())) };
    let claims = TokenClaims { subject: subject.into(), name: name.into(), issued: now, expires: None, nats };
    jwt::sign(&claims, operator)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;
    use crate::bus::subjects::{BusSubject, LEASES};
    use crate::id::Id;
    use crate::model::location::LocationCode;
    use crate::model::partition::Partition;

    fn passes(subject: &BusSubject) -> bool {
        let text = subject.to_string();
        let matches = |pattern: &&str| {
            let (tokens, patterns) = (text.split('.'), pattern.split('.'));
            tokens.clone().count() == patterns.clone().count()
                && tokens.zip(patterns).all(|(token, pattern)| pattern == "*" || pattern == token)
        };
        CALLS.iter().chain(&FEEDS).any(matches)
    }

    #[test]
    fn only_subjects_of_locations_are_shared_between_the_accounts() {
        let location: LocationCode = "eu.fra".parse().unwrap();
        let service = Id::random();
        for (subject, expected) in [
            (BusSubject::Results { location: location.clone(), partition: Partition::of(3) }, true),
            (BusSubject::Enrol(service), true),
            (BusSubject::Renew(location.clone()), true),
            (BusSubject::Follow(location.clone()), true),
            (BusSubject::CheckRequest(location.clone()), true),
            (BusSubject::Delivery(location.clone()), true),
            (BusSubject::Presence(location.clone()), true),
            (BusSubject::Definition { location, partition: Partition::of(3), service }, false),
            (BusSubject::Node("a".parse().unwrap()), false),
        ] {
            assert_eq!(passes(&subject), expected, "{subject}");
        }
        assert!(!CALLS.iter().chain(&FEEDS).any(|pattern| pattern.contains(LEASES)));
    }

    #[test]
    fn locations_leave_connections_to_engine_nodes() {
        let public = || KeyPair::new_account().public_key();
        let keys = AccountKeys {
            system: public(),
            engine: public(),
            locations: public(),
            location_signer: public(),
        };
        let token = locations_token(&KeyPair::new_operator(), &keys, Timestamp::from_ms(0)).unwrap();
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        let connections = claims["nats"]["limits"]["conn"].as_u64().unwrap();
        assert!((1..u64::from(CONNECTIONS)).contains(&connections), "{connections}");
    }
}
