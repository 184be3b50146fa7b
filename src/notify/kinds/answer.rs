//! The answer of the receiver, and its meaning for the message.

use std::time::Duration;

use serde_json::Value;

/// The receiver's answer to a request.
#[derive(Clone, Copy, Debug)]
pub struct ChannelReply<'a> {
    /// Status code of the response.
    pub status: u16,
    /// The start of the body.
    pub body: &'a str,
}

/// The meaning of an answer for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMeaning {
    /// The receiver has accepted the message.
    Taken,
    /// The message may be accepted later.
    Later,
    /// The message may be accepted after this time.
    After(Duration),
    /// The message will never be accepted: the address, the secret or the message is wrong.
    Never,
}

/// Returns the meaning of a status code without further details. 2xx is accepted; 408, 409, 423, 425, 429 and 5xx are
/// temporary. Missing resources and permissions (401, 403, 404) are tried again as well, because the receiver may be
/// reconfigured. All others, including redirects, are final.
#[must_use]
pub const fn meaning_of_status(reply: &ChannelReply<'_>) -> ReplyMeaning {
    match reply.status {
        200..=299 => ReplyMeaning::Taken,
        401 | 403 | 404 | 408 | 409 | 423 | 425 | 429 | 500..=599 => ReplyMeaning::Later,
        _ => ReplyMeaning::Never,
    }
}

/// Returns a member of a JSON answer, by its JSON pointer.
pub(super) fn member(body: &str, pointer: &str) -> Option<Value> {
    serde_json::from_str::<Value>(body).ok()?.pointer(pointer).cloned()
}

/// Returns the meaning of an answer that contains the time to wait at this JSON pointer, as a number in units of
/// `unit_seconds`.
pub(super) fn asked_to_wait(body: &str, pointer: &str, unit_seconds: f64) -> ReplyMeaning {
    let wait = member(body, pointer).and_then(|number| number.as_f64());
    let wait = wait.and_then(|number| Duration::try_from_secs_f64(number * unit_seconds).ok());
    wait.map_or(ReplyMeaning::Later, ReplyMeaning::After)
}
