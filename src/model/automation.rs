//! Automatic changes of an incident that was opened by an incident policy: the policy, and the fields that members have
//! edited and that are therefore no longer changed automatically.

/// The data for automatic changes of an incident: the policy that opened it, and the fields edited by members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutomationState {
    /// Database key of the incident policy; `None` after the policy was deleted.
    pub policy: Option<i64>,
    /// The fields that members have edited.
    pub edited: EditedFields,
}

/// The fields of an incident that members have edited; automatic changes leave them alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditedFields {
    /// True once the title was edited.
    pub title: bool,
    /// True once the severity was edited.
    pub severity: bool,
    /// True once the status was edited: from then on only members resolve the incident.
    pub status: bool,
}

impl EditedFields {
    /// The names of the edited fields, separated by commas, as the database stores them.
    #[must_use]
    pub fn to_words(self) -> String {
        let parts = [("title", self.title), ("severity", self.severity), ("status", self.status)];
        let words: Vec<&str> = parts.into_iter().filter(|(_, is)| *is).map(|(word, _)| word).collect();
        words.join(",")
    }

    /// The edited fields that the comma-separated `words` name; unknown words are ignored.
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
