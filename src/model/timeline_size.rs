//! Limits for the size of the timeline of an incident or a maintenance (contract 7 no. 45).
//!
//! Each response contains a whole timeline, and each entry is written while other requests wait. Without a limit, one token
//! could make both very expensive. A full timeline still takes entries about the end, so that an incident can always be
//! resolved and a maintenance completed.

use crate::model::announcement::TimelineEntry;
use crate::model::translated_text::TranslatedText;

/// Maximum number of entries of a timeline.
pub const ENTRIES_MAX: usize = 1_000;
/// Maximum number of characters of all entries of a timeline together, in all languages.
pub const CHARACTERS_MAX: usize = 1_000_000;
/// Number of entries about the end that a timeline takes beyond both limits.
const ENTRIES_OF_END: usize = 2;

/// The size of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelineSize {
    /// Number of entries.
    pub entries: usize,
    /// Number of characters of all messages, in all languages.
    pub characters: usize,
}

impl TimelineSize {
    /// Returns the size of these entries together.
    #[must_use]
    pub fn of<S>(entries: &[TimelineEntry<S>]) -> Self {
        entries.iter().fold(Self::default(), |size, entry| size.with(&entry.message))
    }

    /// Returns the size with an additional entry.
    #[must_use]
    pub fn with(self, message: &TranslatedText) -> Self {
        Self { entries: self.entries + 1, characters: self.characters + characters(message) }
    }

    /// Returns the size of two timelines together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { entries: self.entries + other.entries, characters: self.characters + other.characters }
    }

    /// Returns true if the timeline takes another entry with this message.
    #[must_use]
    pub fn has_room_for(self, message: &TranslatedText) -> bool {
        let size = self.with(message);
        size.entries <= ENTRIES_MAX && size.characters <= CHARACTERS_MAX
    }

    /// Returns true if the timeline takes another entry about the end of its incident or maintenance.
    #[must_use]
    pub const fn has_room_for_end(self) -> bool {
        self.entries < ENTRIES_MAX + ENTRIES_OF_END
    }
}

fn characters(message: &TranslatedText) -> usize {
    message.iter().map(|(_, text)| text.chars().count()).sum()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, 0, 10_000, true)]
    #[case(999, 999, 1, true)]
    #[case(1_000, 1_000, 1, false)]
    #[case(100, 990_000, 10_000, true)]
    #[case(100, 990_001, 10_000, false)]
    fn a_timeline_has_at_most_a_thousand_entries_and_a_million_characters(
        #[case] entries: usize,
        #[case] characters: usize,
        #[case] length: usize,
        #[case] has_room: bool,
    ) {
        let message = TranslatedText::single("en", "ä".repeat(length));
        assert_eq!(TimelineSize { entries, characters }.has_room_for(&message), has_room);
    }

    #[rstest]
    #[case(1_001, true)]
    #[case(1_002, false)]
    fn a_full_timeline_accepts_the_end(#[case] entries: usize, #[case] has_room: bool) {
        assert_eq!(TimelineSize { entries, characters: 2_000_000 }.has_room_for_end(), has_room);
    }

    #[test]
    fn characters_of_all_languages_count() {
        let message = TranslatedText::from_stored(r#"{"de":"Größe","en":"Size"}"#).unwrap();
        assert_eq!(TimelineSize::default().with(&message), TimelineSize { entries: 1, characters: 9 });
    }
}
