//! The enums of a status page: access types, logo sizes, subscriber channels, colour schemes of pages and of preview
//! images.
//!
//! The API and the database use the same words.

use crate::model::word_enum::words;

words! {
    /// Who may see a page.
    pub enum AccessType {
        /// All visitors.
        Public,
        /// Visitors who know the password.
        Password,
        /// Visitors who can read mail at an address on the access list.
        EmailWhitelist,
    }
}

words! {
    /// Display size of the logo.
    pub enum LogoSize {
        /// Small.
        Small,
        /// Medium.
        Medium,
        /// Large.
        Large,
    }
}

words! {
    /// The channels through which visitors may subscribe.
    pub enum SubscriberChannel {
        /// E-mail.
        Email,
        /// A webhook of the visitor.
        Webhook,
        /// Slack.
        Slack,
        /// Microsoft Teams.
        Teams,
        /// Discord.
        Discord,
        /// Telegram.
        Telegram,
    }
}

words! {
    /// Colour scheme of a page.
    pub enum PageColorScheme {
        /// The colour scheme of the visitor's system.
        System,
        /// Light.
        Light,
        /// Dark.
        Dark,
    }
}

words! {
    /// Colours of the preview image.
    pub enum ImageAppearance {
        /// Colours that are chosen automatically.
        Auto,
        /// Light.
        Light,
        /// Dark.
        Dark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_back() {
        for word in AccessType::WORDS {
            assert_eq!(word.parse::<AccessType>().unwrap().as_str(), *word);
        }
        for word in SubscriberChannel::WORDS {
            assert_eq!(word.parse::<SubscriberChannel>().unwrap().as_str(), *word);
        }
        assert_eq!("Small".parse::<LogoSize>(), Err(strum::ParseError::VariantNotFound));
        assert_eq!(ImageAppearance::WORDS, ["auto", "light", "dark"]);
    }
}
