//! Announcements, that is incidents and maintenances: author, timeline entries, and the status pages that show them
//! (contract 4.10.2, 4.11.2).
//!
//! The chosen pages show an announcement. If no page was chosen, every page shows it that has a visible component of a
//! service named in the announcement.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::translated_text::TranslatedText;

/// Maximum number of services that an announcement names.
pub const SERVICES_MAX: usize = 500;
/// Maximum number of pages that are chosen for an announcement.
pub const STATUSPAGES_MAX: usize = 100;

/// The author of an announcement or of an acknowledgement: a token, with the name that it had at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementAuthor {
    /// Public id of the token.
    pub id: Id,
    /// The name that the token had at that time.
    pub name: String,
}

/// An entry of the timeline of an incident or a maintenance. `S` is the type of its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry<S> {
    /// The id that clients see.
    pub id: Id,
    /// Status of the incident or maintenance after this entry.
    pub status: S,
    /// Text of the entry, 1 to 10,000 characters per language.
    pub message: TranslatedText,
    /// True if subscribers are notified of the entry.
    pub notify_subscribers: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// The chosen pages of an announcement, from the point of view of one status page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenPages {
    /// No page was chosen: every page with a visible component of a named service shows the announcement.
    None,
    /// This page was chosen.
    This,
    /// Pages were chosen, but not this one.
    Others,
}

impl ChosenPages {
    /// Returns the meaning of the chosen pages for `page`; all are given by database key.
    #[must_use]
    pub fn of(chosen: impl IntoIterator<Item = i64>, page: i64) -> Self {
        let mut found = Self::None;
        for one in chosen {
            if one == page {
                return Self::This;
            }
            found = Self::Others;
        }
        found
    }

    /// Returns true if the page shows the announcement. `names_a_visible_service` is true if the page has a visible
    /// component of a service that the announcement names.
    #[must_use]
    pub const fn shows(self, names_a_visible_service: bool) -> bool {
        match self {
            Self::This => true,
            Self::Others => false,
            Self::None => names_a_visible_service,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[], true, true)]
    #[case(&[], false, false)]
    #[case(&[7], false, true)]
    #[case(&[8, 7], false, true)]
    #[case(&[8], true, false)]
    fn chosen_pages_count_before_services(#[case] chosen: &[i64], #[case] names: bool, #[case] shown: bool) {
        assert_eq!(ChosenPages::of(chosen.iter().copied(), 7).shows(names), shown);
    }
}
