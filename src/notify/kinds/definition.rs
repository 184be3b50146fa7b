//! What the catalogue says about a kind of channel: its settings, how a message is composed for it, what answers mean.

use std::fmt;

use super::answer::{Meaning, Reply};
use super::field::Field;
use super::outgoing::{Envelope, Outgoing, Unsendable};
use crate::model::notification::ChannelKind;

/// Everything the catalogue says about one kind.
pub struct Definition {
    /// The kind it describes.
    pub kind: ChannelKind,
    /// Short name for people.
    pub label: &'static str,
    /// One or two sentences for people: what it does, and where its settings come from.
    pub description: &'static str,
    /// Whether several messages may come as one.
    pub digests: Digests,
    /// Its settings, in the order of a form.
    pub fields: &'static [Field],
    /// The request that carries a message.
    pub compose: fn(&Envelope<'_>) -> Result<Outgoing, Unsendable>,
    /// What an answer means; most kinds leave it to `meaning_of_status`.
    pub judge: fn(&Reply<'_>) -> Meaning,
}

/// Whether several messages may come as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digests {
    /// When too many come, unless people want each: they are read by people.
    Usual,
    /// If it is wanted: a program takes them.
    IfWanted,
    /// Never: each message changes an alert of its own.
    Never,
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Definition {
    /// The setting with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}
