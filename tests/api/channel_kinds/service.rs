//! An external service, simulated by a test server: what it accepts, and how it refuses the rest.

use serde_json::Value;

use super::shape::Shape;
use crate::support::sink::Received;

/// A status and a body.
pub(super) type Answer = (u16, String);

/// A kind of channel, and the service behind it.
pub(super) struct Service {
    /// The word of the kind.
    pub(super) kind: &'static str,
    /// Settings that the service takes, given the address at which it answers.
    pub(super) settings: fn(&str) -> Value,
    /// The same with a secret that it does not know.
    pub(super) wrong: fn(&str) -> Value,
    /// Response of the service.
    pub(super) judge: fn(&Received) -> Answer,
    /// One word for each message that it got, as it takes them.
    pub(super) read: fn(&Received) -> String,
}

/// The body, if it is JSON, says so, and is what the service takes.
pub(super) fn body_of(received: &Received, shape: &Shape) -> Result<Value, String> {
    if !received.header("content-type").starts_with("application/json") {
        return Err("Content-Type must be application/json".into());
    }
    let body: Value = serde_json::from_str(&received.body).map_err(|error| error.to_string())?;
    shape.check(&body, "body")?;
    Ok(body)
}

/// A text of the body of a message that was taken.
pub(super) fn text_at(received: &Received, pointer: &str) -> String {
    let body = received.json();
    body.pointer(pointer)
        .map_or(String::new(), |value| value.as_str().map_or(value.to_string(), str::to_owned))
}
