//! The cursor of the list of messages: the key of the last shown message, signed and bound to the organisation.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::id::Id;
use crate::model::secret::{SIGNATURE_LENGTH, SecretSealer};

const PURPOSE: &str = "notification cursor";
/// Longest cursor that is accepted, in characters.
const MAX_LENGTH: usize = 64;

/// Creates and reads the cursors of the list of messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotificationCursorCodec<'a> {
    pub(super) sealer: &'a SecretSealer,
    pub(super) organisation: Id,
}

impl NotificationCursorCodec<'_> {
    /// Returns the cursor that continues after this key.
    pub(super) fn write(&self, key: i64) -> String {
        let bytes = key.to_be_bytes();
        let signature = self.sealer.sign(PURPOSE, &self.bound(&bytes));
        BASE64.encode([signature.as_slice(), &bytes].concat())
    }

    /// Returns the key in a cursor of this list; `None` for any other text.
    pub(super) fn read(&self, text: &str) -> Option<i64> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let bytes = BASE64.decode(text).ok()?;
        let (signature, key) = bytes.split_at_checked(SIGNATURE_LENGTH)?;
        let is_own = self.sealer.is_signed(PURPOSE, &self.bound(key), signature);
        key.try_into().ok().filter(|_| is_own).map(i64::from_be_bytes)
    }

    fn bound(&self, key: &[u8]) -> Vec<u8> {
        [self.organisation.as_str().as_bytes(), key].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::KEY_LENGTH;

    #[test]
    fn a_cursor_is_bound_to_its_organisation() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let walk = NotificationCursorCodec { sealer: &sealer, organisation: Id::random() };
        let cursor = walk.write(42);
        assert_eq!(walk.read(&cursor), Some(42));
        assert_eq!(NotificationCursorCodec { organisation: Id::random(), ..walk }.read(&cursor), None);
        assert_eq!(walk.read(&cursor[1..]), None);
        assert_eq!(walk.read(&"A".repeat(1_000)), None);
    }
}
