//! The texts of a notice: a title and a text, in the language of an organisation.

use crate::model::access::Organisation;
use crate::model::notice::NoticeText;
use crate::texts::GeneratedText;

/// The two texts of a notice.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoticePhrase<'a> {
    /// The title, one line.
    pub(super) title: GeneratedText<'a>,
    /// The text, one or two sentences.
    pub(super) text: GeneratedText<'a>,
}

impl NoticePhrase<'_> {
    /// Returns the texts in the default language of an organisation.
    pub(super) fn words(&self, organisation: &Organisation) -> NoticeText {
        NoticeText { title: self.title.in_default(organisation), text: self.text.in_default(organisation) }
    }
}
