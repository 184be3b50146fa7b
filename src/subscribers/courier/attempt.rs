//! One attempt: a delivery becomes a mail or a request, and is sent.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::{MessageSubject, NewsLine, NotificationMessage};
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::delivery::SubscriberDelivery;
use crate::model::subscriber::{PageSubscriber, SubscriberOrigin, SubscriberStatus};
use crate::notify::carrier::SendReport;
use crate::notify::kinds::{MessageEnvelope, OpenSettings, OutgoingMail, definition};
use crate::store::MainError;
use crate::subscribers::address::{SubscriberVault, TelegramAddress};
use crate::subscribers::courier::mail_pool::MailPool;
use crate::subscribers::courier::news_cache::{NewsCache, NewsKey};
use crate::subscribers::courier::subscriber_courier::SubscriberCourier;
use crate::subscribers::message_texts::MessageTexts;
use crate::subscribers::news::PageIdentity;
use crate::subscribers::outgoing_mail::{MailReceiver, MailSender};
use crate::subscribers::page_tokens::{confirmation_token, unsubscribe_token};
use crate::subscribers::rendered_news::{RenderedNews, render_confirmation, test_message};

/// A delivery in the form in which it is sent.
pub(super) enum PreparedMessage {
    /// A mail.
    Mail(OutgoingMail),
    /// A request of a kind of channel.
    Request(ChannelRequest),
    /// Nothing is sent, for this reason.
    GivenUp(&'static str),
}

/// A message for a kind of channel, with the settings of the receiver.
pub(super) struct ChannelRequest {
    kind: ChannelKind,
    settings: OpenSettings,
    message: NotificationMessage,
}

impl SubscriberCourier {
    /// Turns a delivery into a mail or a request.
    pub(super) async fn prepare(
        &self,
        cache: &mut NewsCache,
        mails: Option<&MailSender>,
        delivery: &SubscriberDelivery,
        now: Timestamp,
    ) -> Result<PreparedMessage, MainError> {
        let subscriber = &delivery.subscriber;
        let Some(identity) = cache.page(self, subscriber.page).await? else {
            return Ok(PreparedMessage::GivenUp("The page has been deleted"));
        };
        let waits = subscriber.status == SubscriberStatus::Pending;
        let Some(fact) = delivery.fact else {
            return Ok(if waits {
                self.proof(mails, delivery, &identity, now)
            } else {
                PreparedMessage::GivenUp("The address is proven already, or disabled")
            });
        };
        if subscriber.status != SubscriberStatus::Active {
            return Ok(PreparedMessage::GivenUp("The subscriber is not active"));
        }
        // The list may have changed since the page was read.
        if !subscriber.may_read(&identity.page)
            && !cache
                .page_now(self, subscriber.page)
                .await?
                .is_some_and(|page| subscriber.may_read(&page.page))
        {
            return Ok(PreparedMessage::GivenUp("The address is not on the list of the page"));
        }
        let rendered =
            cache.rendered(self, NewsKey { fact, page: subscriber.page }, &subscriber.language).await?;
        Ok(match rendered {
            Some(rendered) => self.news(mails, delivery, &identity, &rendered, now),
            None => PreparedMessage::GivenUp("The page no longer shows this"),
        })
    }

    /// The message that proves an address: a request for confirmation, or a test message.
    fn proof(
        &self,
        mails: Option<&MailSender>,
        delivery: &SubscriberDelivery,
        identity: &PageIdentity,
        now: Timestamp,
    ) -> PreparedMessage {
        let subscriber = &delivery.subscriber;
        if subscriber.channel != SubscriberChannel::Email {
            return self.request(identity, subscriber, self.test(identity, subscriber, now));
        }
        let asked_at = subscriber.asked_at.unwrap_or(subscriber.created_at);
        let token = confirmation_token(&self.sealer, subscriber.id, asked_at);
        let link = format!("{}/subscriptions/confirm/{token}", identity.url);
        let texts = match render_confirmation(identity, &subscriber.language, &link) {
            Ok(texts) => texts,
            Err(error) => {
                tracing::error!(%error, "cannot render a request for confirmation");
                return PreparedMessage::GivenUp("The message cannot be rendered");
            }
        };
        let address = &subscriber.address.shown;
        let receiver = MailReceiver { delivery: delivery.id, address, unsubscribe: None, at: now };
        as_mail(mails.and_then(|mails| mails.mail(&texts, receiver)))
    }

    /// The test message. It tells a webhook that a visitor entered the secret that signs messages to it: only who receives
    /// them may know it, and a client of the API has got it already.
    fn test(
        &self,
        identity: &PageIdentity,
        subscriber: &PageSubscriber,
        now: Timestamp,
    ) -> NotificationMessage {
        let mut message = test_message(identity, &subscriber.language, now);
        let vault = SubscriberVault {
            sealer: &self.sealer,
            organisation: identity.organisation.id,
            subscriber: subscriber.id,
        };
        let must_send_secret = subscriber.origin == SubscriberOrigin::Visitor;
        let secret =
            vault.open_secret(subscriber).ok().filter(|secret| must_send_secret && !secret.is_empty());
        if let (Some(secret), MessageSubject::News(facts)) = (secret, &mut message.subject) {
            facts.data["secret"] = Value::from(secret);
        }
        message
    }

    fn news(
        &self,
        mails: Option<&MailSender>,
        delivery: &SubscriberDelivery,
        identity: &PageIdentity,
        rendered: &RenderedNews,
        now: Timestamp,
    ) -> PreparedMessage {
        let subscriber = &delivery.subscriber;
        let link = format!("{}/u/{}", identity.url, unsubscribe_token(&self.sealer, subscriber.id));
        if subscriber.channel != SubscriberChannel::Email {
            return self.request(
                identity,
                subscriber,
                with_link(rendered.message.clone(), subscriber, &link),
            );
        }
        let address = &subscriber.address.shown;
        let receiver = MailReceiver { delivery: delivery.id, address, unsubscribe: Some(&link), at: now };
        as_mail(mails.and_then(|mails| mails.mail(&rendered.mail, receiver)))
    }

    fn request(
        &self,
        identity: &PageIdentity,
        subscriber: &PageSubscriber,
        message: NotificationMessage,
    ) -> PreparedMessage {
        let organisation = identity.organisation.id;
        let vault = SubscriberVault { sealer: &self.sealer, organisation, subscriber: subscriber.id };
        let opened = vault.open_address(subscriber).and_then(|address| {
            let secret = vault.open_secret(subscriber)?;
            Ok(settings(subscriber.channel, &address, &secret))
        });
        match (opened, kind(subscriber.channel)) {
            (Ok(settings), Some(kind)) => {
                PreparedMessage::Request(ChannelRequest { kind, settings, message })
            }
            _ => PreparedMessage::GivenUp("The address cannot be opened with the present key"),
        }
    }

    /// Sends a prepared message, and returns the result.
    pub(super) async fn send(
        &self,
        pool: Rc<MailPool>,
        prepared: PreparedMessage,
        delivery: Id,
        origin: SubscriberOrigin,
        now: Timestamp,
    ) -> SendReport {
        match prepared {
            PreparedMessage::Mail(mail) => {
                let sent = pool.send(&self.sender.outbound, &mail, &self.sender.mail).await;
                SendReport::of_mail(sent)
            }
            PreparedMessage::Request(request) => {
                let envelope = MessageEnvelope {
                    id: &delivery,
                    at_seconds: now.ms() / 1_000,
                    message: &request.message,
                    settings: &request.settings,
                    recipient: None,
                };
                let sender = match origin {
                    SubscriberOrigin::Client => &self.sender,
                    SubscriberOrigin::Visitor => &self.visitors_sender,
                };
                sender.carry(definition(request.kind), &envelope).await
            }
            PreparedMessage::GivenUp(reason) => SendReport::given_up(reason),
        }
    }
}

/// Adds the address that ends the subscription to a message: for people as the last line, for programs as a member.
fn with_link(
    mut message: NotificationMessage,
    subscriber: &PageSubscriber,
    link: &str,
) -> NotificationMessage {
    if let MessageSubject::News(facts) = &mut message.subject {
        facts.data["unsubscribe_url"] = Value::from(link);
        if subscriber.channel != SubscriberChannel::Webhook {
            let label = MessageTexts::of(&subscriber.language).text("unsubscribe");
            facts.lines.push(NewsLine { label, text: link.to_owned() });
        }
    }
    message
}

fn as_mail(mail: Option<OutgoingMail>) -> PreparedMessage {
    mail.map_or(PreparedMessage::GivenUp("The address cannot be used in a mail"), PreparedMessage::Mail)
}

/// The kind of channel whose requests are sent; `None` for mails.
const fn kind(channel: SubscriberChannel) -> Option<ChannelKind> {
    match channel {
        SubscriberChannel::Email => None,
        SubscriberChannel::Webhook => Some(ChannelKind::Webhook),
        SubscriberChannel::Slack => Some(ChannelKind::Slack),
        SubscriberChannel::Teams => Some(ChannelKind::Teams),
        SubscriberChannel::Discord => Some(ChannelKind::Discord),
        SubscriberChannel::Telegram => Some(ChannelKind::Telegram),
    }
}

/// The settings of a channel of this kind for an address.
fn settings(channel: SubscriberChannel, address: &str, secret: &str) -> OpenSettings {
    let mut settings = Map::new();
    let mut set = |name: &str, value: &str| settings.insert(name.to_owned(), Value::from(value));
    match (channel, TelegramAddress::parse(address)) {
        (SubscriberChannel::Telegram, Some(TelegramAddress { server, token, chat })) => {
            set("bot_token", token);
            set("chat_id", chat);
            set("base_url", server);
        }
        _ => {
            set("url", address);
            set("secret", secret);
        }
    }
    OpenSettings::new(settings)
}
