//! The words of a status page: access types, logo sizes, subscriber channels, colour schemes of pages and of preview images.
//!
//! One spelling for the API and the database.

use std::str::FromStr;

use crate::model::service::UnknownWord;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// Every word, in the order of the contract.
            pub const WORDS: &'static [&'static str] = &[$($word,)*];

            /// The word that the API and the database use.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(UnknownWord),
                }
            }
        }
    };
}

words! {
    /// Who may see a page.
    AccessType {
        /// Everybody.
        Public = "public",
        /// Who knows the password.
        Password = "password",
        /// Who reads mail at one of the listed addresses.
        EmailWhitelist = "email_whitelist",
    }
}

words! {
    /// Size of the logo.
    LogoSize {
        /// Small.
        Small = "small",
        /// Medium.
        Medium = "medium",
        /// Large.
        Large = "large",
    }
}

words! {
    /// How visitors may subscribe.
    SubscriberChannel {
        /// E-mail.
        Email = "email",
        /// A webhook of their own.
        Webhook = "webhook",
        /// Slack.
        Slack = "slack",
        /// Microsoft Teams.
        Teams = "teams",
        /// Discord.
        Discord = "discord",
        /// Telegram.
        Telegram = "telegram",
    }
}

words! {
    /// Colour scheme of a page.
    Appearance {
        /// That of the visitor's system.
        System = "system",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
    }
}

words! {
    /// Colours of the preview image.
    ImageAppearance {
        /// Those of the reader's system.
        Auto = "auto",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
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
        assert_eq!("Small".parse::<LogoSize>(), Err(UnknownWord));
        assert_eq!(ImageAppearance::WORDS, ["auto", "light", "dark"]);
    }
}
