//! The forms of a page: to subscribe, to confirm a subscription, and to end one.
//!
//! They work without scripts and cookies. A `GET` never changes anything, because programs follow links in mails; one click
//! on a button, or on "unsubscribe" in a mail program (RFC 8058), sends the `POST`. No answer tells whether an address was
//! known, and no document holds a token.

mod form_texts;
mod form_view;

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpResponse, web};
use askama::Template;
use futures_util::StreamExt as _;
use tokio::time::Instant;

use crate::model::plans::PlanTable;
use crate::model::statuspage::used_locale;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::{COMPONENTS_MAX, ChosenComponent};
use crate::pages::access::access_route::AccessRoute;
use crate::pages::answer::{self, after};
use crate::pages::forms::form_view::{FormMessage, FormPage, SubscribeForm};
use crate::pages::page_server::PageServer;
use crate::pages::sign_up_limiter::{SignUpDecision, SignUpSource};
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;
use crate::store::MainError;
use crate::subscribers::address::EnteredAddress;
use crate::subscribers::page_tokens::read_unsubscribe_token;
use crate::subscribers::sign_up::{self, SignUp};

/// Maximum number of bytes of a form.
const FORM_BYTES: usize = 64 * 1_024;
/// The time within which a form must arrive.
const FORM_TIME: Duration = Duration::from_secs(10);

/// A form of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormRoute<'a> {
    /// To subscribe.
    Subscribe,
    /// To confirm the subscription of a token.
    Confirm(&'a str),
    /// To end the subscription of a token.
    Unsubscribe(&'a str),
}

/// A form as a visitor asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisitorForm<'a> {
    pub(super) locale: &'a str,
    pub(super) form: FormRoute<'a>,
    /// True if the visitor may see the page.
    pub(super) is_admitted: bool,
}

impl<'a> FormRoute<'a> {
    /// Returns the form at a path that names no language.
    pub(super) fn at(path: &'a str) -> Option<Self> {
        let is_token = |text: &&str| !text.is_empty() && !text.contains('/');
        if path == "/subscribe" {
            return Some(Self::Subscribe);
        }
        if let Some(token) = path.strip_prefix("/subscriptions/confirm/").filter(is_token) {
            return Some(Self::Confirm(token));
        }
        path.strip_prefix("/u/").filter(is_token).map(Self::Unsubscribe)
    }
}

/// Takes the body of a request that sends a form; other requests keep theirs, because they may not be for a page.
pub(super) fn take_form(path: &str, method: &Method, payload: &mut Payload) -> Payload {
    let below =
        path.strip_prefix('/').unwrap_or_default().split_once('/').map(|(_, rest)| format!("/{rest}"));
    let is_form = AccessRoute::at(path).is_some()
        || FormRoute::at(path).is_some()
        || below.is_some_and(|rest| rest == "/subscribe");
    if is_form && method == Method::POST { std::mem::replace(payload, Payload::None) } else { Payload::None }
}

/// Reads a form, and returns its fields; `None` if it is too long or does not arrive in time.
async fn read_form(mut payload: Payload) -> Option<Vec<(String, String)>> {
    let read = async {
        let mut body = web::BytesMut::new();
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.ok()?;
            if body.len() + chunk.len() > FORM_BYTES {
                return None;
            }
            body.extend_from_slice(&chunk);
        }
        Some(url::form_urlencoded::parse(&body).into_owned().collect())
    };
    tokio::time::timeout(FORM_TIME, read).await.ok()?
}

impl PageServer {
    /// Asks whether a subscription shall end, and ends it. Needs no page, so that a link works even while the page is offline or
    /// protected, and names none; `None` if the path is another one, or the token is not valid.
    pub(super) async fn unsubscribe(&self, visit: &PageVisit) -> Option<HttpResponse> {
        let Some(FormRoute::Unsubscribe(token)) = FormRoute::at(&visit.path) else { return None };
        read_unsubscribe_token(&self.sealer, token)?;
        let locale = visit.preferred_language();
        if visit.method != Method::POST {
            return Some(shown(
                StatusCode::OK,
                FormMessage::unsubscribe(FormPage::unnamed(&locale)).render(),
            ));
        }
        let ended = sign_up::unsubscribe(&self.databases.main, &self.sealer, token).await;
        match ended {
            Ok(true) => {
                Some(shown(StatusCode::OK, FormMessage::unsubscribed(FormPage::unnamed(&locale)).render()))
            }
            Ok(false) => None,
            Err(error) => Some(failed(&error)),
        }
    }

    /// Answers a request for a form. Only a visitor who may see the page reads its name.
    pub(super) async fn form(
        &self,
        visit: &PageVisit,
        snapshot: &PageSnapshot,
        VisitorForm { locale, form, is_admitted }: VisitorForm<'_>,
    ) -> HttpResponse {
        let is_post = visit.method == Method::POST;
        let page = if is_admitted { FormPage::of(snapshot, locale) } else { FormPage::unnamed(locale) };
        let answered = match form {
            FormRoute::Subscribe if is_post => self.subscribe(visit, snapshot, locale).await,
            FormRoute::Subscribe => {
                let channels = self.offered(snapshot);
                if channels.is_empty() {
                    return answer::not_found();
                }
                let form = SubscribeForm::of(snapshot, locale, &channels, None);
                Ok(shown(StatusCode::OK, form.render()))
            }
            FormRoute::Confirm(token) => self.confirm(snapshot, page, token, is_post).await,
            // A valid token was answered before.
            FormRoute::Unsubscribe(_) => return answer::not_found(),
        };
        answered.unwrap_or_else(|error| failed(&error))
    }

    /// The channels that the page offers and this server can send through.
    fn offered(&self, snapshot: &PageSnapshot) -> Vec<SubscriberChannel> {
        snapshot.page.visitor_channels(self.config.mail.is_complete())
    }

    async fn subscribe(
        &self,
        visit: &PageVisit,
        snapshot: &PageSnapshot,
        locale: &str,
    ) -> Result<HttpResponse, MainError> {
        let channels = self.offered(snapshot);
        if channels.is_empty() {
            return Ok(answer::not_found());
        }
        let payload = visit.form.take();
        let Some(fields) = read_form(payload).await else { return Ok(answer::bad_form()) };
        let wrong = || {
            let form = SubscribeForm::of(snapshot, locale, &channels, Some("subscribe-wrong"));
            Ok(shown(StatusCode::UNPROCESSABLE_ENTITY, form.render()))
        };
        let Some(sign_up) = self.read_sign_up(snapshot, &channels, &fields) else { return wrong() };
        let source =
            SignUpSource { page: snapshot.page.key, client: visit.client, address: sign_up.address.hash };
        match self.cache.sign_ups.count(source, Instant::now()) {
            SignUpDecision::Taken => {
                sign_up.accept(&self.databases.main, &self.sealer, self.clock.now()).await?;
            }
            SignUpDecision::Ignored => {}
            SignUpDecision::Refused(wait) => {
                let busy = FormMessage::busy(FormPage::of(snapshot, locale)).render();
                return Ok(after(shown(StatusCode::TOO_MANY_REQUESTS, busy), wait));
            }
        }
        Ok(shown(StatusCode::OK, FormMessage::sent(FormPage::of(snapshot, &sign_up.language)).render()))
    }

    /// Reads what a visitor has entered; `None` if it cannot be used.
    fn read_sign_up<'a>(
        &self,
        snapshot: &'a PageSnapshot,
        channels: &[SubscriberChannel],
        fields: &[(String, String)],
    ) -> Option<SignUp<'a>> {
        let field =
            |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let channel: SubscriberChannel = field("channel")?.parse().ok()?;
        let channel = channels.contains(&channel).then_some(channel)?;
        let address = EnteredAddress::read(channel, field("address")?).ok()?;
        let wanted: Vec<&str> =
            fields.iter().filter(|(name, _)| name == "component").map(|(_, id)| id.as_str()).collect();
        if wanted.len() > COMPONENTS_MAX {
            return None;
        }
        let chosen: Vec<ChosenComponent> = snapshot
            .visible()
            .filter(|component| wanted.contains(&component.id.as_str()))
            .map(|component| ChosenComponent { key: component.key, id: component.id })
            .collect();
        // A component that is not shown any more must not become all of them.
        if wanted.iter().any(|id| chosen.iter().all(|component| component.id.as_str() != *id)) {
            return None;
        }
        let languages = snapshot.languages();
        let language = field("language").and_then(|text| used_locale(text, &languages.supported));
        // The plans of the settings were valid at the start.
        let plans = PlanTable::new(&self.config.plans).ok()?;
        Some(SignUp {
            page: &snapshot.page,
            organisation: &snapshot.organisation,
            limit: plans.limits(&snapshot.organisation).subscribers,
            channel,
            address,
            components: (!chosen.is_empty()).then_some(chosen),
            language: language.cloned().unwrap_or(languages.default),
        })
    }

    async fn confirm(
        &self,
        snapshot: &PageSnapshot,
        page: FormPage<'_>,
        token: &str,
        is_post: bool,
    ) -> Result<HttpResponse, MainError> {
        let (main, key, now) = (&self.databases.main, snapshot.page.key, self.clock.now());
        let (is_valid, message): (bool, fn(FormPage<'_>) -> FormMessage) = if is_post {
            (sign_up::confirm(main, &self.sealer, key, token, now).await?, FormMessage::confirmed)
        } else {
            (sign_up::can_confirm(main, &self.sealer, key, token, now).await?, FormMessage::confirm)
        };
        if is_valid {
            return Ok(shown(StatusCode::OK, message(page).render()));
        }
        Ok(shown(StatusCode::GONE, FormMessage::confirm_over(page).render()))
    }
}

fn shown(status: StatusCode, rendered: Result<String, askama::Error>) -> HttpResponse {
    match rendered {
        Ok(html) => answer::form(status, html),
        Err(error) => {
            tracing::error!(%error, "cannot render a form of a status page");
            answer::unavailable()
        }
    }
}

fn failed(error: &MainError) -> HttpResponse {
    tracing::error!(%error, "cannot answer a form of a status page");
    answer::unavailable()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/subscribe", Some(FormRoute::Subscribe))]
    #[case("/subscriptions/confirm/abc", Some(FormRoute::Confirm("abc")))]
    #[case("/u/abc", Some(FormRoute::Unsubscribe("abc")))]
    #[case("/u/", None)]
    #[case("/u/a/b", None)]
    #[case("/subscribe/", None)]
    #[case("/", None)]
    fn a_path_names_a_form(#[case] path: &str, #[case] form: Option<FormRoute<'_>>) {
        assert_eq!(FormRoute::at(path), form);
    }
}
