//! News in one language: the texts of a mail, and the message for the other channels. They are made once for all
//! subscribers of a page who read the same language.

use askama::Template;
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::model::incident::Severity;
use crate::model::notification::NotificationEvent;
use crate::model::notification::message::{MessageSubject, NewsFacts, NewsLine, NotificationMessage};
use crate::subscribers::message_texts::MessageTexts;
use crate::subscribers::news::{PageIdentity, PageNews, ShownName};
use crate::texts::markdown;
use crate::texts::writing_direction::writing_direction;

/// Maximum number of affected services that a message names.
const NAMES_MAX: usize = 20;
/// Stands in a mail for the address that ends the subscription, which each subscriber has for themselves.
pub(super) const UNSUBSCRIBE_LINK: &str = "https://unsubscribe.invalid/";

/// The texts of a mail without those that differ for each receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MailTexts {
    /// Name of the page, which stands for the sender.
    pub(super) sender: String,
    pub(super) subject: String,
    /// Id of the incident or maintenance; mails with the same one are one conversation.
    pub(super) thread: Option<String>,
    pub(super) text: String,
    pub(super) html: String,
}

/// News in one language.
#[derive(Clone, Debug)]
pub(super) struct RenderedNews {
    pub(super) mail: MailTexts,
    pub(super) message: NotificationMessage,
}

/// A mail as HTML. All texts are escaped, except the body, which is rendered Markdown.
#[derive(Template)]
#[template(path = "subscriber_mail.html")]
struct MailPage<'a> {
    locale: &'a str,
    is_right_to_left: bool,
    headline: &'a str,
    body: String,
    lines: &'a [NewsLine],
    link: &'a str,
    link_text: &'a str,
    is_button: bool,
    foot: String,
    unsubscribe: Option<String>,
    unsubscribe_link: &'static str,
    colour: &'static str,
}

/// Renders news in one language.
///
/// # Errors
/// A defect of the template.
pub(super) fn render_news(news: &PageNews, locale: &str) -> Result<RenderedNews, askama::Error> {
    let (texts, identity) = (MessageTexts::of(locale), &news.identity);
    let page = identity.text(&identity.page.name, locale);
    let headline = texts.headline(news.state, identity.text(&news.title, locale));
    // The text of a reminder and of an announced maintenance is its title; it would be there twice.
    let has_text = news.fact.message != news.fact.title && news.fact.message != news.title;
    let markdown = if has_text { identity.text(&news.fact.message, locale) } else { "" };
    let lines = lines(news, &texts, locale);
    let foot = texts.of_page("why", page);
    let mut text = vec![headline.clone(), markdown::to_text(markdown)];
    text.push(lines.iter().map(|line| format!("{}: {}\n", line.label, line.text)).collect());
    let document = document_url(news);
    text.push(format!("{}: {document}", texts.text("see-page")));
    text.push(format!("-- \n{foot}\n{}: {UNSUBSCRIBE_LINK}", texts.text("unsubscribe")));
    let html = MailPage {
        locale,
        is_right_to_left: writing_direction(locale) == "rtl",
        headline: &headline,
        body: markdown::to_html(markdown),
        lines: &lines,
        link: &document,
        link_text: &texts.text("see-page"),
        is_button: false,
        foot,
        unsubscribe: Some(texts.text("unsubscribe")),
        unsubscribe_link: UNSUBSCRIBE_LINK,
        colour: colour(news),
    };
    let html = html.render()?;
    Ok(RenderedNews {
        mail: MailTexts {
            sender: page.to_owned(),
            subject: headline.clone(),
            thread: Some(news.subject.to_string()),
            text: joined(&text),
            html,
        },
        message: message(news, &texts, locale, headline, markdown, lines),
    })
}

/// Renders the request for confirmation of an e-mail address.
///
/// # Errors
/// A defect of the template.
pub(super) fn render_confirmation(
    identity: &PageIdentity,
    locale: &str,
    link: &str,
) -> Result<MailTexts, askama::Error> {
    render_link(identity, locale, link, "confirm")
}

/// Renders the mail with a link that opens a page with an access list.
///
/// # Errors
/// A defect of the template.
pub(super) fn render_access(
    identity: &PageIdentity,
    locale: &str,
    link: &str,
) -> Result<MailTexts, askama::Error> {
    render_link(identity, locale, link, "access")
}

/// Renders a mail whose purpose is a link. The names of its texts begin with `purpose`.
fn render_link(
    identity: &PageIdentity,
    locale: &str,
    link: &str,
    purpose: &str,
) -> Result<MailTexts, askama::Error> {
    let texts = MessageTexts::of(locale);
    let page = identity.text(&identity.page.name, locale);
    let named = |part: &str| texts.of_page(&format!("{purpose}-{part}"), page);
    let (subject, question, ignore) = (named("subject"), named("text"), named("ignore"));
    let html = MailPage {
        locale,
        is_right_to_left: writing_direction(locale) == "rtl",
        headline: &subject,
        body: format!("<p>{}</p>", escape(&question)),
        lines: &[],
        link,
        link_text: &named("button"),
        is_button: true,
        foot: ignore.clone(),
        unsubscribe: None,
        unsubscribe_link: UNSUBSCRIBE_LINK,
        colour: "#1a56b8",
    };
    let html = html.render()?;
    let text = [subject.clone(), question, link.to_owned(), ignore];
    Ok(MailTexts { sender: page.to_owned(), subject, thread: None, text: joined(&text), html })
}

/// The message that proves a channel other than e-mail.
pub(super) fn test_message(identity: &PageIdentity, locale: &str, at: Timestamp) -> NotificationMessage {
    let texts = MessageTexts::of(locale);
    let page = identity.text(&identity.page.name, locale);
    let news = NewsFacts {
        id: identity.page.id.to_string(),
        kind: "subscriber.test".to_owned(),
        title: texts.of_page("test-title", page),
        text: texts.of_page("test-text", page),
        lines: vec![NewsLine { label: texts.text("status-page"), text: identity.url.clone() }],
        severity: None,
        is_over: true,
        data: json!({"page": page_data(identity, page)}),
    };
    as_message(news, page, at)
}

fn lines(news: &PageNews, texts: &MessageTexts, locale: &str) -> Vec<NewsLine> {
    let mut lines = Vec::new();
    if let Some(window) = news.window {
        let end = window.end.map(minute);
        let text = texts.window(&minute(window.start), end.as_deref());
        lines.push(NewsLine { label: texts.text("time"), text });
    }
    let names = names(news, locale);
    if !names.is_empty() {
        let more = names.len().saturating_sub(NAMES_MAX);
        let named = names.into_iter().take(NAMES_MAX).collect::<Vec<_>>().join(", ");
        let text = if more > 0 { format!("{named} (+{more})") } else { named };
        lines.push(NewsLine { label: texts.text("affected"), text });
    }
    lines
}

fn names(news: &PageNews, locale: &str) -> Vec<String> {
    let name = |name: &ShownName| match name {
        ShownName::Component(name) => news.identity.text(name, locale).to_owned(),
        ShownName::Service(name) => name.clone(),
    };
    news.affected.iter().map(name).collect()
}

fn message(
    news: &PageNews,
    texts: &MessageTexts,
    locale: &str,
    headline: String,
    markdown: &str,
    mut lines: Vec<NewsLine>,
) -> NotificationMessage {
    let identity = &news.identity;
    let page = identity.text(&identity.page.name, locale);
    lines.push(NewsLine { label: texts.text("status-page"), text: document_url(news) });
    let facts = NewsFacts {
        id: news.subject.to_string(),
        kind: news.fact.kind.to_string(),
        title: headline,
        text: markdown::to_text(markdown),
        lines,
        severity: news.severity,
        is_over: news.is_over,
        data: data(news, locale, page, markdown),
    };
    as_message(facts, page, news.fact.at)
}

fn as_message(facts: NewsFacts, page: &str, at: Timestamp) -> NotificationMessage {
    NotificationMessage {
        event: NotificationEvent::PageNews,
        at: at.ms(),
        organisation: page.to_owned(),
        subject: MessageSubject::News(facts),
    }
}

/// The facts for programs.
fn data(news: &PageNews, locale: &str, page: &str, markdown: &str) -> Value {
    let subject = json!({
        "id": news.subject,
        "url": document_url(news),
        "title": news.identity.text(&news.title, locale),
        "state": news.state,
        "severity": news.severity.map(Severity::as_str),
        "is_over": news.is_over,
        "message": markdown,
        "scheduled_start": news.window.map(|window| window.start.to_string()),
        "scheduled_end": news.window.and_then(|window| window.end).map(|end| end.to_string()),
        "affected": names(news, locale),
    });
    let (name, _) = kind_names(news);
    json!({"page": page_data(&news.identity, page), name: subject})
}

/// The name of the member that holds the facts, and the folder of the document on the page.
const fn kind_names(news: &PageNews) -> (&'static str, &'static str) {
    if news.window.is_some() { ("maintenance", "maintenances") } else { ("incident", "incidents") }
}

/// The address of the incident's or maintenance's own document.
fn document_url(news: &PageNews) -> String {
    format!("{}/{}/{}", news.identity.url, kind_names(news).1, news.subject)
}

fn page_data(identity: &PageIdentity, name: &str) -> Value {
    json!({"id": identity.page.id, "name": name, "url": identity.url})
}

const fn colour(news: &PageNews) -> &'static str {
    match news.severity {
        _ if news.is_over => "#2e9e4f",
        None => "#1a56b8",
        Some(Severity::Minor) => "#f2b705",
        Some(Severity::Major) => "#ef6c00",
        Some(Severity::Critical) => "#d32f2f",
    }
}

/// Formats a time for people, in UTC, without the name of the zone.
fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

/// Joins the paragraphs of a text, without empty ones.
fn joined(paragraphs: &[String]) -> String {
    let filled: Vec<&str> =
        paragraphs.iter().map(|text| text.trim_end()).filter(|text| !text.is_empty()).collect();
    format!("{}\n", filled.join("\n\n"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
