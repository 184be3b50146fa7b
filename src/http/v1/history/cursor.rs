//! The cursor of a list of measurements (contract 4.8): a position, signed and bound to list, organisation and service.
//!
//! A cursor holds only the position; filters come from the query. A cursor that was altered, or belongs to another service,
//! is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::secret::{SIGNATURE_LENGTH, SecretSealer};
use crate::store::history::checks::CheckPosition;

/// Purpose of cursors of checks.
pub(super) const CHECKS: &str = "check history cursor";
/// Purpose of cursors of status changes, whose positions have no location.
pub(super) const CHANGES: &str = "status change cursor";
/// Longest cursor that is accepted, in characters.
const MAX_LENGTH: usize = 256;

/// Creates and reads the cursors of one list of a service.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistoryCursorCodec<'a> {
    pub(super) purpose: &'static str,
    pub(super) sealer: &'a SecretSealer,
    pub(super) organisation: Id,
    pub(super) service: Id,
}

impl HistoryCursorCodec<'_> {
    /// Returns the cursor that continues after this position.
    pub(super) fn write(&self, position: &CheckPosition) -> String {
        let mut bytes = position.checked_at.ms().to_be_bytes().to_vec();
        bytes.extend_from_slice(position.probe.as_bytes());
        let signature = self.sealer.sign(self.purpose, &self.bound(&bytes));
        BASE64.encode([signature.as_slice(), &bytes].concat())
    }

    /// Returns the position in a cursor of this list; `None` for any other text.
    pub(super) fn read(&self, text: &str) -> Option<CheckPosition> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let bytes = BASE64.decode(text).ok()?;
        let (signature, position) = bytes.split_at_checked(SIGNATURE_LENGTH)?;
        if !self.sealer.is_signed(self.purpose, &self.bound(position), signature) {
            return None;
        }
        let (checked_at, probe) = position.split_first_chunk::<8>()?;
        Some(CheckPosition {
            checked_at: Timestamp::from_ms(i64::from_be_bytes(*checked_at)),
            probe: std::str::from_utf8(probe).ok()?.to_owned(),
        })
    }

    fn bound(&self, position: &[u8]) -> Vec<u8> {
        [self.organisation.as_str().as_bytes(), self.service.as_str().as_bytes(), position].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::KEY_LENGTH;

    fn position() -> CheckPosition {
        CheckPosition { checked_at: Timestamp::from_ms(1_795_193_460_000), probe: "fra".into() }
    }

    #[test]
    fn a_cursor_is_bound_to_its_query() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let walk = HistoryCursorCodec {
            purpose: CHECKS,
            sealer: &sealer,
            organisation: Id::random(),
            service: Id::random(),
        };
        let cursor = walk.write(&position());
        assert_eq!(walk.read(&cursor), Some(position()));
        assert_eq!(HistoryCursorCodec { purpose: CHANGES, ..walk }.read(&cursor), None);
        assert_eq!(HistoryCursorCodec { service: Id::random(), ..walk }.read(&cursor), None);
        assert_eq!(HistoryCursorCodec { organisation: Id::random(), ..walk }.read(&cursor), None);
    }

    #[test]
    fn every_altered_character_is_noticed() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let walk = HistoryCursorCodec {
            purpose: CHECKS,
            sealer: &sealer,
            organisation: Id::random(),
            service: Id::random(),
        };
        let cursor = walk.write(&position());
        for index in 0..cursor.len() {
            let mut altered = cursor.clone().into_bytes();
            altered[index] = if altered[index] == b'A' { b'B' } else { b'A' };
            assert_eq!(walk.read(&String::from_utf8(altered).unwrap()), None, "character {index}");
        }
        for text in ["", "AAAA", "not base64!", &"A".repeat(300)] {
            assert_eq!(walk.read(text), None, "{text}");
        }
    }
}
