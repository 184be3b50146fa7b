//! The lines of the messages of a channel.

/// The messages of a channel that go one after the other, of those about one subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderingScope {
    /// All of them: they arrive at one place.
    Whole,
    /// Those for a contact, by its key, or those for no contact: each arrive in a mailbox of their own.
    Own(Option<i64>),
}
