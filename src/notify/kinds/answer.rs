//! What came back from the other side, and what it means for the message.

use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// The status of the answer.
    pub status: u16,
    /// The begin of the answer's body.
    pub body: &'a str,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The other side has taken the message.
    Taken,
    /// It may take it later.
    Later,
    /// It may take it later, and not before this time has passed.
    After(Duration),
    /// It never will: the address, the secret or the message is wrong.
    Never,
}

/// What a status means where the other side says no more: 2xx is taken; 408, 425, 429 and 5xx may pass; the rest, redirects among
/// them, will not, but what is merely not there or not allowed at the moment (401, 403, 404) is tried again, because people mend
/// it on the other side.
#[must_use]
pub const fn meaning_of_status(reply: &Reply<'_>) -> Meaning {
    match reply.status {
        200..=299 => Meaning::Taken,
        401 | 403 | 404 | 408 | 409 | 423 | 425 | 429 | 500..=599 => Meaning::Later,
        _ => Meaning::Never,
    }
}

/// A member of an answer in JSON, by its JSON pointer.
pub(super) fn member(body: &str, pointer: &str) -> Option<Value> {
    serde_json::from_str::<Value>(body).ok()?.pointer(pointer).cloned()
}

/// What an answer means that says how long to wait, as a number in units of so many seconds.
pub(super) fn asked_to_wait(body: &str, pointer: &str, unit_seconds: f64) -> Meaning {
    let wait = member(body, pointer).and_then(|number| number.as_f64());
    let wait = wait.and_then(|number| Duration::try_from_secs_f64(number * unit_seconds).ok());
    wait.map_or(Meaning::Later, Meaning::After)
}
