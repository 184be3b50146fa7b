//! Addresses of subscribers: the form that each channel takes, the part that is shown, and the sealing of secret ones.
//!
//! Anyone with the address of a chat can post to it, so it is stored sealed and shown without its secret part. The
//! address for Telegram is the token of a bot and a chat, separated by a slash; perhaps after the address of a server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};

use crate::id::Id;
use crate::model::email::is_address;
use crate::model::notification::ChannelKind;
use crate::model::secret::{SecretSealer, UnsealError};
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::{ADDRESS_LENGTH, PageSubscriber, SubscriberAddress, secret_place};
use crate::notify::kinds::{FieldShape, definition, is_url};

/// The field that holds the sealed address.
const ADDRESS: &str = "address";
/// The field that holds the sealed secret of a webhook.
const SECRET: &str = "secret";
/// Number of random bytes in the secret of a webhook.
const SECRET_BYTES: usize = 32;

/// The reason why a text is no address of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFlaw {
    /// It is no e-mail address.
    Email,
    /// It is no absolute http or https URL.
    Url,
    /// It is not the token of a bot and a chat.
    Telegram,
}

/// An address as someone entered it.
#[derive(Clone, PartialEq, Eq)]
pub struct EnteredAddress {
    /// The whole address.
    pub whole: String,
    /// The address without its secret part.
    pub shown: String,
    /// Hash of channel and address; addresses of mails that differ in case only have the same.
    pub hash: [u8; 32],
}

impl EnteredAddress {
    /// Reads the address of a channel.
    ///
    /// # Errors
    /// The form that the channel needs.
    pub fn read(channel: SubscriberChannel, text: &str) -> Result<Self, AddressFlaw> {
        let text = text.trim();
        let shown = match channel {
            SubscriberChannel::Email if is_address(text) && text.is_ascii() => text.to_owned(),
            SubscriberChannel::Email => return Err(AddressFlaw::Email),
            SubscriberChannel::Telegram => shown_chat(text).ok_or(AddressFlaw::Telegram)?,
            SubscriberChannel::Webhook
            | SubscriberChannel::Slack
            | SubscriberChannel::Teams
            | SubscriberChannel::Discord => {
                let is_whole = ADDRESS_LENGTH.contains(&text.chars().count()) && is_url(text);
                let url = url::Url::parse(text).ok().filter(|_| is_whole).ok_or(AddressFlaw::Url)?;
                if channel == SubscriberChannel::Webhook {
                    text.to_owned()
                } else {
                    format!("{}/…", url.origin().ascii_serialization())
                }
            }
        };
        let same = if channel == SubscriberChannel::Email { text.to_lowercase() } else { text.to_owned() };
        let hash = Sha256::digest(format!("{channel}\0{same}")).into();
        Ok(Self { whole: text.to_owned(), shown, hash })
    }
}

/// The parts of an address for Telegram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelegramAddress<'a> {
    /// Address of the Bot API server; empty for that of Telegram.
    pub server: &'a str,
    /// Token of the bot.
    pub token: &'a str,
    /// The chat.
    pub chat: &'a str,
}

impl<'a> TelegramAddress<'a> {
    /// Splits an address: `TOKEN/CHAT`, or `SERVER/botTOKEN/CHAT` for a Bot API server of one's own.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (bot, chat) = text.rsplit_once('/')?;
        let Some((server, bot)) = bot.rsplit_once('/') else {
            return Some(Self { server: "", token: bot, chat });
        };
        let token = bot.strip_prefix("bot").filter(|_| is_url(server))?;
        Some(Self { server, token, chat })
    }
}

/// Returns the chat without the token of the bot; `None` if the text is not both.
fn shown_chat(text: &str) -> Option<String> {
    let TelegramAddress { token, chat, .. } = TelegramAddress::parse(text)?;
    let telegram = definition(ChannelKind::Telegram);
    let fits = |name: &str, text: &str| match telegram.field(name).map(|field| field.shape) {
        Some(FieldShape::Text { max_length, passes, .. }) => text.len() <= max_length && passes(text),
        _ => false,
    };
    let (bot, _) = token.split_once(':')?;
    (fits("bot_token", token) && fits("chat_id", chat)).then(|| format!("{bot}:…/{chat}"))
}

/// Seals and opens the secrets of one subscriber.
#[derive(Clone, Copy, Debug)]
pub struct SubscriberVault<'a> {
    /// Holds the installation's key.
    pub sealer: &'a SecretSealer,
    /// Public id of the organisation.
    pub organisation: Id,
    /// Public id of the subscriber.
    pub subscriber: Id,
}

impl SubscriberVault<'_> {
    /// Returns the address as it is stored.
    #[must_use]
    pub fn seal_address(&self, entered: &EnteredAddress) -> SubscriberAddress {
        let is_secret = entered.shown != entered.whole;
        SubscriberAddress {
            shown: entered.shown.clone(),
            sealed: is_secret.then(|| self.seal(ADDRESS, &entered.whole)),
            hash: entered.hash,
        }
    }

    /// Seals the secret of a webhook.
    #[must_use]
    pub fn seal_secret(&self, secret: &str) -> String {
        self.seal(SECRET, secret)
    }

    /// Returns the whole address of the subscriber.
    ///
    /// # Errors
    /// It was sealed with another key.
    pub fn open_address(&self, subscriber: &PageSubscriber) -> Result<String, UnsealError> {
        let SubscriberAddress { shown, sealed, .. } = &subscriber.address;
        sealed.as_ref().map_or_else(|| Ok(shown.clone()), |sealed| self.open(ADDRESS, sealed))
    }

    /// Returns the secret of a webhook; empty for other channels.
    ///
    /// # Errors
    /// It was sealed with another key.
    pub fn open_secret(&self, subscriber: &PageSubscriber) -> Result<String, UnsealError> {
        subscriber.secret.as_ref().map_or_else(|| Ok(String::new()), |sealed| self.open(SECRET, sealed))
    }

    fn seal(&self, field: &str, clear: &str) -> String {
        self.sealer.seal(secret_place(&self.organisation, &self.subscriber, field), clear)
    }

    fn open(&self, field: &str, sealed: &str) -> Result<String, UnsealError> {
        self.sealer.open(secret_place(&self.organisation, &self.subscriber, field), sealed)
    }
}

/// Draws the secret of a webhook, in the form of Standard Webhooks.
///
/// # Errors
/// The operating system provides no randomness.
pub fn draw_webhook_secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(format!("whsec_{}", BASE64.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::secret::KEY_LENGTH;

    #[rstest]
    #[case(SubscriberChannel::Email, " Anna@Example.com ", Ok("Anna@Example.com"))]
    #[case(SubscriberChannel::Email, "anna", Err(AddressFlaw::Email))]
    #[case(SubscriberChannel::Email, "ünal@example.com", Err(AddressFlaw::Email))]
    #[case(SubscriberChannel::Webhook, "https://a.example/in?x=1", Ok("https://a.example/in?x=1"))]
    #[case(SubscriberChannel::Webhook, "ftp://a.example/in", Err(AddressFlaw::Url))]
    #[case(
        SubscriberChannel::Slack,
        "https://hooks.slack.com/services/T0/B0/key",
        Ok("https://hooks.slack.com/…")
    )]
    #[case(SubscriberChannel::Teams, "https://a.example:8443/x?sig=key", Ok("https://a.example:8443/…"))]
    #[case(SubscriberChannel::Discord, "discord", Err(AddressFlaw::Url))]
    #[case(SubscriberChannel::Telegram, "123:AAbb-_/-100123", Ok("123:…/-100123"))]
    #[case(SubscriberChannel::Telegram, "123:AAbb-_/@status", Ok("123:…/@status"))]
    #[case(SubscriberChannel::Telegram, "http://127.0.0.1:81/bot123:AAbb/@status", Ok("123:…/@status"))]
    #[case(SubscriberChannel::Telegram, "file://x/bot123:AAbb/@status", Err(AddressFlaw::Telegram))]
    #[case(SubscriberChannel::Telegram, "123:AAbb-_", Err(AddressFlaw::Telegram))]
    #[case(SubscriberChannel::Telegram, "AAbb/@status", Err(AddressFlaw::Telegram))]
    fn an_address_has_the_form_of_its_channel(
        #[case] channel: SubscriberChannel,
        #[case] text: &str,
        #[case] shown: Result<&str, AddressFlaw>,
    ) {
        let read = EnteredAddress::read(channel, text).map(|entered| entered.shown);
        assert_eq!(read, shown.map(str::to_owned));
    }

    #[test]
    fn addresses_of_mails_that_differ_in_case_are_the_same() {
        fn hash(channel: SubscriberChannel, text: &str) -> [u8; 32] {
            EnteredAddress::read(channel, text).unwrap().hash
        }
        assert_eq!(
            hash(SubscriberChannel::Email, "Anna@example.com"),
            hash(SubscriberChannel::Email, "anna@EXAMPLE.com")
        );
        let url = "https://a.example/In";
        assert_ne!(
            hash(SubscriberChannel::Webhook, url),
            hash(SubscriberChannel::Webhook, &url.to_lowercase())
        );
        assert_ne!(hash(SubscriberChannel::Webhook, url), hash(SubscriberChannel::Slack, url));
    }

    #[test]
    fn a_secret_address_opens_only_for_its_subscriber() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let vault = SubscriberVault { sealer: &sealer, organisation: Id::random(), subscriber: Id::random() };
        let text = "https://hooks.slack.com/services/T0/B0/key";
        let entered = EnteredAddress::read(SubscriberChannel::Slack, text).unwrap();
        let sealed = vault.seal_address(&entered).sealed.unwrap();
        assert_eq!(vault.open(ADDRESS, &sealed).unwrap(), text);
        assert_eq!(vault.open(SECRET, &sealed), Err(UnsealError));
        let other = SubscriberVault { subscriber: Id::random(), ..vault };
        assert_eq!(other.open(ADDRESS, &sealed), Err(UnsealError));
        let mail = EnteredAddress::read(SubscriberChannel::Email, "anna@example.com").unwrap();
        assert_eq!(vault.seal_address(&mail).sealed, None);
    }
}
