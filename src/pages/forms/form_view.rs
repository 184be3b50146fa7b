//! The documents of the forms. They carry no style sheet of the owner, which could read what is entered, and no token.

use askama::Template;

use crate::model::component::Component;
use crate::model::statuspage::word::SubscriberChannel;
use crate::pages::forms::form_texts::FormTexts;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::stylesheets;

/// The form to subscribe.
#[derive(Template)]
#[template(path = "subscribe.html")]
pub(super) struct SubscribeForm {
    texts: FormTexts,
    style: String,
    locale: String,
    name: String,
    home: String,
    /// The channels, the first of which is chosen.
    channels: Vec<FormChoice>,
    /// What the address is, for each kind of channel.
    hints: Vec<String>,
    /// The visible components.
    components: Vec<FormChoice>,
    /// The languages of the page.
    locales: Vec<String>,
    /// The text about a wrong entry.
    problem: Option<String>,
}

/// Something that can be chosen in a form.
struct FormChoice {
    value: String,
    label: String,
}

impl SubscribeForm {
    /// The form of a page in a language. `problem` is the name of the text about a wrong entry.
    pub(super) fn of(
        snapshot: &PageSnapshot,
        locale: &str,
        channels: &[SubscriberChannel],
        problem: Option<&str>,
    ) -> Self {
        let languages = snapshot.languages();
        let texts = FormTexts::of(locale);
        let mut hints: Vec<&'static str> = Vec::new();
        for hint in channels.iter().map(|channel| hint(*channel)) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        let component = |component: &Component| FormChoice {
            value: component.id.to_string(),
            label: component.name.text(locale, &languages.default).to_owned(),
        };
        let channel = |channel: &SubscriberChannel| FormChoice {
            value: channel.to_string(),
            label: texts.text(&format!("channel-{channel}")),
        };
        Self {
            style: stylesheets::shared_address(),
            locale: locale.to_owned(),
            name: snapshot.page.name.text(locale, &languages.default).to_owned(),
            home: home(snapshot, locale),
            channels: channels.iter().map(channel).collect(),
            hints: hints.into_iter().map(|hint| texts.text(hint)).collect(),
            components: snapshot.visible().map(component).collect(),
            problem: problem.map(|problem| texts.text(problem)),
            locales: languages.supported,
            texts,
        }
    }
}

const fn hint(channel: SubscriberChannel) -> &'static str {
    match channel {
        SubscriberChannel::Email => "address-hint-email",
        SubscriberChannel::Telegram => "address-hint-telegram",
        SubscriberChannel::Webhook
        | SubscriberChannel::Slack
        | SubscriberChannel::Teams
        | SubscriberChannel::Discord => "address-hint-url",
    }
}

/// A document with a sentence, and perhaps a button.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormMessage {
    texts: FormTexts,
    style: String,
    locale: String,
    name: String,
    home: String,
    title: &'static str,
    text: &'static str,
    button: Option<&'static str>,
}

impl FormMessage {
    fn of(page: FormPage<'_>, title: &'static str, text: &'static str, button: Option<&'static str>) -> Self {
        Self {
            texts: FormTexts::of(page.locale),
            style: stylesheets::shared_address(),
            locale: page.locale.to_owned(),
            name: page.name,
            home: page.home,
            title,
            text,
            button,
        }
    }

    /// The answer to a subscription, whether or not the address was known.
    pub(super) fn sent(page: FormPage<'_>) -> Self {
        Self::of(page, "subscribe-sent", "subscribe-sent-text", None)
    }

    pub(super) fn busy(page: FormPage<'_>) -> Self {
        Self::of(page, "subscribe", "subscribe-busy", None)
    }

    pub(super) fn confirm(page: FormPage<'_>) -> Self {
        Self::of(page, "confirm", "confirm-text", Some("confirm-button"))
    }

    pub(super) fn confirmed(page: FormPage<'_>) -> Self {
        Self::of(page, "confirmed", "confirmed-text", None)
    }

    pub(super) fn confirm_over(page: FormPage<'_>) -> Self {
        Self::of(page, "confirm-over", "confirm-over-text", None)
    }

    pub(super) fn unsubscribe(page: FormPage<'_>) -> Self {
        Self::of(page, "unsubscribe", "unsubscribe-text", Some("unsubscribe-button"))
    }

    pub(super) fn unsubscribed(page: FormPage<'_>) -> Self {
        Self::of(page, "unsubscribed", "unsubscribed-text", None)
    }
}

/// The page that a document belongs to.
#[derive(Clone, Debug)]
pub(super) struct FormPage<'a> {
    pub(super) locale: &'a str,
    /// Name of the page.
    pub(super) name: String,
    /// Path of the page in the language.
    pub(super) home: String,
}

impl<'a> FormPage<'a> {
    /// A document that does not tell which page it belongs to.
    pub(super) fn unnamed(locale: &'a str) -> Self {
        Self { locale, name: String::new(), home: "/".to_owned() }
    }

    pub(super) fn of(snapshot: &PageSnapshot, locale: &'a str) -> Self {
        let default = snapshot.languages().default;
        let name = snapshot.page.name.text(locale, &default).to_owned();
        Self { locale, name, home: home(snapshot, locale) }
    }
}

fn home(snapshot: &PageSnapshot, locale: &str) -> String {
    if snapshot.languages().supported.len() > 1 { format!("/{locale}/") } else { "/".to_owned() }
}
