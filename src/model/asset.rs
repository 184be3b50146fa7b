//! The files of a status page (contract 4.16): two logos and an icon.

use std::str::FromStr;

use crate::model::service::UnknownWord;

/// Which file of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssetKind {
    /// On light ground.
    Logo,
    /// On dark ground.
    LogoDark,
    /// In the browser's tab.
    Favicon,
}

impl AssetKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Logo, Self::LogoDark, Self::Favicon];

    /// The word in paths and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Logo => "logo",
            Self::LogoDark => "logo-dark",
            Self::Favicon => "favicon",
        }
    }
}

impl FromStr for AssetKind {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(UnknownWord)
    }
}
