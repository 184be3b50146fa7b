//! The engine's part in an incident: the policy that it follows, and the parts edited by members, which the engine
//! leaves alone.

/// An incident that follows outages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutomationState {
    /// Key of the policy that it follows; `None` when that is deleted.
    pub policy: Option<i64>,
    /// The parts that members have edited.
    pub edited: EditedFields,
}

/// The parts of an incident that members have edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditedFields {
    /// True once the title was edited.
    pub title: bool,
    /// True once the severity was edited.
    pub severity: bool,
    /// Its status: from then on members resolve it.
    pub status: bool,
}

impl EditedFields {
    /// The words of the parts, separated by commas.
    #[must_use]
    pub fn to_words(self) -> String {
        let parts = [("title", self.title), ("severity", self.severity), ("status", self.status)];
        let words: Vec<&str> = parts.into_iter().filter(|(_, is)| *is).map(|(word, _)| word).collect();
        words.join(",")
    }

    /// The parts named by these words; other words are ignored.
    #[must_use]
    pub fn from_words(words: &str) -> Self {
        let has = |word: &str| words.split(',').any(|one| one == word);
        Self { title: has("title"), severity: has("severity"), status: has("status") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_fields_survive_the_database() {
        for (title, severity, status) in [(false, false, false), (true, false, true), (false, true, false)] {
            let edited = EditedFields { title, severity, status };
            assert_eq!(EditedFields::from_words(&edited.to_words()), edited);
        }
    }
}
