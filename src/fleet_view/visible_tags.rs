//! The part of an organisation that a caller may see, as tags.

/// The services that a caller may see: those with one of these tags, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleTags(Option<Vec<i64>>);

impl VisibleTags {
    /// All services of the organisation.
    pub(super) const ALL: Self = Self(None);

    /// The services with one of these tags (database keys).
    pub(super) const fn of(tags: Vec<i64>) -> Self {
        Self(Some(tags))
    }

    /// Database keys of the tags; `None` if all services are visible.
    pub(super) fn tags(&self) -> Option<&[i64]> {
        self.0.as_deref()
    }
}
