//! Which messages of a channel are sent one after the other.

/// The scope within which messages about the same subject are sent one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderingScope {
    /// All messages of the channel: they arrive at the same place.
    Whole,
    /// The messages for the contact with this key, or those for no contact: each of these arrives in a mailbox of its own.
    Own(Option<i64>),
}
