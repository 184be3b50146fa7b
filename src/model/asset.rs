//! The files of a status page (contract 4.16): two logos and an icon.

use crate::model::word_enum::words;

words! {
    /// The kind of a status page's file.
    pub enum AssetKind {
        /// On light ground.
        Logo,
        /// On dark ground.
        #[strum(serialize = "logo-dark")]
        LogoDark,
        /// In the browser's tab.
        Favicon,
    }
}
