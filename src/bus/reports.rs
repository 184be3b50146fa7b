//! Short messages without an answer: reports of locations about themselves, and requests to them.

use std::collections::BTreeMap;

use async_nats::Subscriber;
use async_nats::jetstream::kv::Operation;
use bytes::Bytes;
use futures_util::StreamExt as _;

use crate::bus::connection::{BusConnection, nats};
use crate::bus::messages::check_request::RemoteCheckRequest;
use crate::bus::messages::presence::LocationPresence;
use crate::bus::subjects::{self, BusSubject, PRESENCE};
use crate::clock::Timestamp;
use crate::model::location::LocationCode;

/// A report of a location.
#[derive(Clone, Debug)]
pub struct PresenceReport {
    /// The location, from the subject.
    pub location: LocationCode,
    /// The report; `None` if it cannot be read.
    pub presence: Option<LocationPresence>,
}

/// The stream of reports of all locations.
#[derive(Debug)]
pub struct PresenceSubscription(Subscriber);

impl PresenceSubscription {
    /// Subscribes to the reports of all locations.
    pub async fn listen(engine: &BusConnection) -> Result<Self, String> {
        let subscribed = engine.client().subscribe(subjects::keys_of(PRESENCE)).await;
        subscribed.map(Self).map_err(|error| error.to_string())
    }

    /// The next report; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<PresenceReport> {
        loop {
            let message = self.0.next().await?;
            if let Ok(BusSubject::Presence(location)) = message.subject.parse() {
                return Some(PresenceReport { location, presence: LocationPresence::read(&message.payload) });
            }
        }
    }
}

/// Returns the newest report of every location, and the time at which the bus received it.
pub async fn newest(
    engine: &BusConnection,
) -> Result<BTreeMap<LocationCode, (LocationPresence, Timestamp)>, String> {
    let bucket = engine.jetstream().get_key_value(PRESENCE).await.map_err(|error| error.to_string())?;
    let mut keys = bucket.keys().await.map_err(|error| error.to_string())?;
    let mut found = BTreeMap::new();
    while let Some(key) = keys.next().await {
        let key = key.map_err(|error| error.to_string())?;
        let entry = bucket.entry(key.as_str()).await.map_err(|error| error.to_string())?;
        let Some(entry) = entry.filter(|entry| entry.operation == Operation::Put) else { continue };
        let at_ms = i64::try_from(entry.created.unix_timestamp_nanos().div_euclid(1_000_000)).unwrap_or(0);
        if let (Ok(location), Some(presence)) =
            (subjects::location(&key), LocationPresence::read(&entry.value))
        {
            found.insert(location, (presence, Timestamp::from_ms(at_ms)));
        }
    }
    Ok(found)
}

/// Reports the state of this location. A lost report is followed by the next one.
pub async fn report(
    location: &BusConnection,
    code: &LocationCode,
    presence: &LocationPresence,
) -> Result<(), String> {
    let text = serde_json::to_vec(presence).map_err(|error| error.to_string())?;
    let sent = location.client().publish(nats(&BusSubject::Presence(code.clone())), text.into()).await;
    sent.map_err(|error| error.to_string())
}

/// Asks a location to check a service. The request is not answered.
pub async fn send_check_request(
    engine: &BusConnection,
    code: &LocationCode,
    request: RemoteCheckRequest,
) -> Result<(), String> {
    let text = serde_json::to_vec(&request).map_err(|error| error.to_string())?;
    let sent = engine.client().publish(nats(&BusSubject::CheckRequest(code.clone())), text.into()).await;
    sent.map_err(|error| error.to_string())
}

/// The stream of requests for checks at a location.
#[derive(Debug)]
pub struct CheckRequestSubscription(Subscriber);

impl CheckRequestSubscription {
    /// Subscribes to the requests to this location.
    pub async fn listen(location: &BusConnection, code: &LocationCode) -> Result<Self, String> {
        let subscribed = location.client().subscribe(nats(&BusSubject::CheckRequest(code.clone()))).await;
        subscribed.map(Self).map_err(|error| error.to_string())
    }

    /// Returns the next valid request; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<RemoteCheckRequest> {
        loop {
            let message: Bytes = self.0.next().await?.payload;
            if let Ok(request) = serde_json::from_slice(&message) {
                return Some(request);
            }
        }
    }
}
