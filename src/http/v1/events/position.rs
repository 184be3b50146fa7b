//! Event ids: each is the position up to which its reader has received events.
//!
//! Positions count events of all organisations, so they are encrypted deterministically: a signature of the position is also
//! the key that masks it. An id that was altered, or that belongs to another organisation, is refused.

use actix_web::http::header::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::events::fact::EventCursor;
use crate::http::kit::bad_request::BadRequest;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::secret::{SIGNATURE_LENGTH, SecretSealer};

const PURPOSE: &str = "event id";
const MASKS: [&str; 2] = ["event id mask 1", "event id mask 2"];
const LAST_EVENT_ID: &str = "last-event-id";
/// Number of bytes of a position, which consists of three numbers.
const LENGTH: usize = 24;

/// Creates and reads the event ids of an organisation.
#[derive(Clone, Debug)]
pub(super) struct EventIdCodec {
    pub(super) sealer: SecretSealer,
    pub(super) organisation: Id,
}

impl EventIdCodec {
    /// Returns the id of an event whose reader has received everything up to this cursor.
    pub(super) fn id(&self, cursor: EventCursor) -> String {
        let numbers = [cursor.change, cursor.event, cursor.at_ms].map(i64::to_be_bytes).concat();
        let signature = self.sealer.sign(PURPOSE, &self.bound(&numbers));
        BASE64.encode([signature.as_slice(), &self.masked(&signature, &numbers)].concat())
    }

    /// Returns the position in an id; `None` if the id does not belong to this organisation.
    pub(super) fn read(&self, id: &str) -> Option<EventCursor> {
        let bytes = BASE64.decode(id).ok()?;
        let (signature, masked) = bytes.split_at_checked(SIGNATURE_LENGTH)?;
        if masked.len() != LENGTH {
            return None;
        }
        let numbers = self.masked(signature, masked);
        if !self.sealer.is_signed(PURPOSE, &self.bound(&numbers), signature) {
            return None;
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let [change, event, at_ms] = numbers else { return None };
        let [change, event, at_ms] = [change, event, at_ms].map(|number| i64::from_be_bytes(*number));
        Some(EventCursor { change, event, at_ms })
    }

    /// Returns the position in `Last-Event-ID`; `None` if the client did not send one.
    ///
    /// # Errors
    /// 400 for an invalid id.
    pub(super) fn last_event(&self, headers: &HeaderMap) -> Result<Option<EventCursor>, ApiError> {
        let mut values = headers.get_all(LAST_EVENT_ID);
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(only), None) if only.is_empty() => Ok(None),
            (Some(only), None) => {
                let position = only.to_str().ok().and_then(|id| self.read(id.trim()));
                position.map(Some).ok_or_else(|| BadRequest::LastEventId.into())
            }
            (Some(_), Some(_)) => Err(BadRequest::LastEventId.into()),
        }
    }

    fn masked(&self, signature: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mask = MASKS.map(|purpose| self.sealer.sign(purpose, signature)).concat();
        bytes.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
    }

    fn bound(&self, numbers: &[u8]) -> Vec<u8> {
        [self.organisation.as_str().as_bytes(), numbers].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::KEY_LENGTH;

    #[test]
    fn an_event_id_is_opaque_and_bound_to_its_organisation() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let positions = EventIdCodec { sealer, organisation: Id::random() };
        let cursor = EventCursor { change: 17, event: 4, at_ms: 1_795_193_460_000 };
        let id = positions.id(cursor);
        assert_eq!(positions.id(cursor), id, "it is the same every time");
        assert_eq!(positions.read(&id), Some(cursor));
        assert_eq!(EventIdCodec { organisation: Id::random(), ..positions.clone() }.read(&id), None);
        let next = positions.id(EventCursor { change: 18, ..cursor });
        let same = id.bytes().zip(next.bytes()).filter(|(one, other)| one == other).count();
        assert!(same < id.len() / 3, "{id} {next}");
        for index in 0..id.len() {
            let mut altered = id.clone().into_bytes();
            altered[index] = if altered[index] == b'A' { b'B' } else { b'A' };
            let read = positions.read(&String::from_utf8(altered).unwrap());
            assert!(read.is_none(), "character {index}");
        }
        assert_eq!(positions.read(""), None);
    }
}
