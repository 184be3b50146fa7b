//! The words of a status page: access types, logo sizes, subscriber channels, colour schemes of pages and of preview images.
//!
//! One spelling for the API and the database.

use crate::model::word_enum::words;

words! {
    /// The visitors who may see a page.
    pub enum AccessType {
        /// Visible to all.
        Public,
        /// Visitors with the password.
        Password,
        /// Visitors who read mail at one of the listed addresses.
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
    /// The channel through which visitors may subscribe.
    pub enum SubscriberChannel {
        /// E-mail.
        Email,
        /// A webhook of their own.
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
        /// That of the visitor's system.
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
        /// Those of the reader's system.
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
