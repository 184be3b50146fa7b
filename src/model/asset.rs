//! The files of a status page (contract 4.16): two logos and an icon.

use crate::model::word_enum::words;

words! {
    /// The kind of a status page's file.
    pub enum AssetKind {
        /// The logo for a light background.
        Logo,
        /// The logo for a dark background.
        #[strum(serialize = "logo-dark")]
        LogoDark,
        /// The icon in the browser's tab.
        Favicon,
    }
}
