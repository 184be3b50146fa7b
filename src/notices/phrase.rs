//! The texts of a notice: a title and a text, in the language of an organisation.

use crate::model::access::Organisation;
use crate::model::notice::Words;
use crate::texts::Text;

/// The two texts of a notice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phrase<'a> {
    /// The title, one line.
    pub(super) title: Text<'a>,
    /// The text, one or two sentences.
    pub(super) text: Text<'a>,
}

impl Phrase<'_> {
    /// Returns the texts in the default language of an organisation.
    pub(super) fn words(&self, organisation: &Organisation) -> Words {
        Words { title: self.title.in_default(organisation), text: self.text.in_default(organisation) }
    }
}
