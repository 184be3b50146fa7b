//! Announcements are incidents and maintenances: their author, the entries of their timelines, and the status pages that
//! show them (contract 4.10.2, 4.11.2): those that were chosen, or else every page with a visible component of a service
//! that the announcement names.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::translated_text::TranslatedText;

/// Maximum number of services that an announcement names.
pub const SERVICES_MAX: usize = 500;
/// Maximum number of pages that are chosen for an announcement.
pub const STATUSPAGES_MAX: usize = 100;

/// The author of an announcement: a token, under its name at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementAuthor {
    /// Public id of the token.
    pub id: Id,
    /// Its name at that time.
    pub name: String,
}

/// An entry of a timeline. `S` is the status of the incident or maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry<S> {
    /// The id that clients see.
    pub id: Id,
    /// The status that it states.
    pub status: S,
    /// 1..10000 characters per language.
    pub message: TranslatedText,
    /// True if subscribers are notified.
    pub notify_subscribers: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// The pages that were chosen for an announcement, as one page sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenPages {
    /// None was chosen: every page with a visible component of a named service shows it.
    None,
    /// This page is one of them.
    This,
    /// Pages were chosen, but not this one.
    Others,
}

impl ChosenPages {
    /// Returns the meaning of these chosen pages for `page`.
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

    /// Returns true when the page announces it.
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
