//! The status pages that announce an incident or a maintenance (contract 4.10.2, 4.11.2): those that were chosen for
//! it, or else every page with a visible component of a service that it names.

/// Most services that an announcement names.
pub const SERVICES_MAX: usize = 500;
/// Most pages that are chosen for an announcement.
pub const STATUSPAGES_MAX: usize = 100;

/// The pages that were chosen for an announcement, as one page sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenPages {
    /// None was chosen: every page with a visible component of a named service shows it.
    None,
    /// This one was.
    This,
    /// Only others were.
    Others,
}

impl ChosenPages {
    /// Returns what these chosen pages mean to `page`.
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
