//! Keys of walls: by one of them a screen in a room shows the state of all services, without a user and without menus.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of keys of an organisation.
pub const KEYS_MAX: u64 = 100;
/// Prefix of the text of a key, which has the form of a token.
pub const KEY_PREFIX: &str = "wkw_";

/// A key of a wall. Its text is never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallKey {
    /// Database key; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Display name, 1 to 255 characters.
    pub name: String,
    /// Database key of the access scope to which the wall is confined; `None` = the whole organisation.
    pub access_scope: Option<i64>,
    /// Time of creation.
    pub created_at: Timestamp,
}
