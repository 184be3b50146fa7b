//! The documents of the forms. They carry no style sheet of the owner, which could read what is entered, and no token.

use std::collections::HashMap;

use askama::Template;

use crate::model::component::Component;
use crate::model::statuspage::word::{AccessType, SubscriberChannel};
use crate::pages::forms::form_texts::FormTexts;
use crate::pages::page_texts::PageTexts;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::stylesheets;

/// The form to subscribe.
#[derive(Template)]
#[template(path = "subscribe.html")]
pub(super) struct SubscribeForm {
    texts: FormTexts,
    style: String,
    locale: String,
    direction: &'static str,
    name: String,
    home: String,
    /// The channels, the first of which is chosen.
    channels: Vec<ChannelChoice>,
    /// The visible components, each after the group that contains it.
    components: Vec<ComponentChoice>,
    /// The languages of the page.
    locales: Vec<String>,
    /// True if only addresses on the list of the page get news.
    is_for_list: bool,
    /// The text about a wrong entry.
    problem: Option<String>,
}

/// A channel that can be chosen.
struct ChannelChoice {
    value: String,
    label: String,
    /// What its address is.
    hint: String,
}

/// A component that can be chosen.
struct ComponentChoice {
    value: String,
    label: String,
    /// Number of groups around it.
    depth: usize,
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
        let mut depths: HashMap<i64, usize> = HashMap::new();
        let component = |component: &Component| {
            let depth = component.parent.and_then(|parent| depths.get(&parent)).map_or(0, |above| above + 1);
            depths.insert(component.key, depth);
            ComponentChoice {
                value: component.id.to_string(),
                label: component.name.text(locale, &languages.default).to_owned(),
                depth,
            }
        };
        let channel = |channel: &SubscriberChannel| ChannelChoice {
            value: channel.to_string(),
            label: texts.text(&format!("channel-{channel}")),
            hint: texts.text(hint(*channel)),
        };
        Self {
            style: stylesheets::shared_address(),
            locale: locale.to_owned(),
            direction: PageTexts::of(locale).direction(),
            name: snapshot.page.name.text(locale, &languages.default).to_owned(),
            home: home(snapshot, locale),
            channels: channels.iter().map(channel).collect(),
            components: snapshot.visible().map(component).collect(),
            is_for_list: snapshot.page.access_type == AccessType::EmailWhitelist,
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
    style: String,
    locale: String,
    direction: &'static str,
    /// Name of the page; empty in a document that does not tell it.
    name: String,
    home: String,
    title: String,
    text: String,
    button: Option<String>,
    /// Text of the link to the page.
    back: String,
}

impl FormMessage {
    /// The document with the texts of these names.
    fn of(page: FormPage<'_>, title: &str, text: &str, button: Option<&str>) -> Self {
        let texts = FormTexts::of(page.locale);
        Self {
            style: stylesheets::shared_address(),
            locale: page.locale.to_owned(),
            direction: PageTexts::of(page.locale).direction(),
            title: texts.text(title),
            text: texts.of_page(text, &page.name),
            button: button.map(|button| texts.text(button)),
            back: texts.text("back"),
            name: page.name,
            home: page.home,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every document of a form, in a language of the program, about a page or about none.
    #[test]
    fn documents_show_texts() {
        let messages: [fn(FormPage<'_>) -> FormMessage; 7] = [
            FormMessage::sent,
            FormMessage::busy,
            FormMessage::confirm,
            FormMessage::confirmed,
            FormMessage::confirm_over,
            FormMessage::unsubscribe,
            FormMessage::unsubscribed,
        ];
        for locale in ["en", "de", "fr", "es"] {
            for message in messages {
                let named = FormPage { locale, name: "Shop <b>".into(), home: "/".into() };
                for page in [named, FormPage::unnamed(locale)] {
                    let message = message(page);
                    for text in [&message.title, &message.text, &message.back] {
                        let is_sentence = text.chars().next().is_some_and(char::is_uppercase);
                        assert!(is_sentence && !text.contains("{ $"), "{locale}: {text}");
                        assert!(!text.ends_with(" .") && !text.contains("  "), "{locale}: {text}");
                    }
                    let html = message.render().unwrap();
                    assert!(html.contains(&format!("<h1>{}</h1>", message.title)), "{html}");
                    assert!(!html.contains("></a>") && !html.contains("<b>"), "{html}");
                }
            }
        }
    }
}
