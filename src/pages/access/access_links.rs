//! Links by which readers on the e-mail list of a page open it.
//!
//! No answer tells whether an address is on the list, not even by its time: the link is made after the answer. A link can
//! be used once, for 15 minutes. Opening it only shows a button, because programs follow links in mails.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use tokio::time::sleep;

use crate::id::Id;
use crate::model::email::is_address;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::access_link::AccessLink;
use crate::pages::access::access_form::{ADDRESS_FIELD, AccessForm};
use crate::pages::access::form_body::has_foreign_origin;
use crate::pages::access::page_access::{PageAccess, form, refusal, texts};
use crate::pages::access::page_pass::AccessProof;
use crate::pages::answer;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;
use crate::store::{MainError, access_links, organisations};
use crate::subscribers::page_tokens::read_access_token;

/// Number of tries to make a link, and the wait between them.
const TRIES: u32 = 12;
const TRY_AGAIN: Duration = Duration::from_secs(5);

impl PageAccess {
    /// Answers a request for a link.
    pub(super) async fn ask_link(&self, snapshot: &PageSnapshot, visit: &PageVisit) -> HttpResponse {
        let texts = texts(snapshot, visit);
        let (given, counted) =
            match self.take_field(snapshot, visit, ADDRESS_FIELD, &self.attempts.links).await {
                Ok(taken) => taken,
                Err(refusal) => return refusal,
            };
        let address = given.trim().to_lowercase();
        if !self.mailer.is_ready() {
            self.attempts.links.give_back(counted);
            tracing::warn!(page = %snapshot.page.id, "a reader cannot be sent a link: `mail.*` is not set");
            return refusal(snapshot, &texts, StatusCode::SERVICE_UNAVAILABLE, "access-no-mail");
        }
        if !is_address(&address) {
            self.attempts.links.give_back(counted);
            return refusal(snapshot, &texts, StatusCode::UNPROCESSABLE_ENTITY, "access-wrong");
        }
        let is_admitted = self.attempts.admits_mail(snapshot.page.key, &address);
        if is_admitted && snapshot.page.lists_address(&address) {
            let (access, page, locale) = (self.clone(), snapshot.page.clone(), texts.locale().to_owned());
            actix_web::rt::spawn(async move {
                access.send_link(&page, &address, &locale).await;
            });
        }
        AccessForm::sent(&texts).answer(StatusCode::OK)
    }

    /// Makes a link and sends it. Tries again while the database is away.
    async fn send_link(&self, page: &Statuspage, address: &str, locale: &str) {
        for _ in 0..TRIES {
            match self.link_for(page, address).await {
                Ok(link) => return self.mailer.send(&link, locale).await,
                Err(error) => tracing::warn!(page = %page.id, %error, "cannot make a link to a status page"),
            }
            sleep(TRY_AGAIN).await;
        }
    }

    /// Returns the link for an address: the last one while it is young, or else a new one, which is stored.
    async fn link_for(&self, page: &Statuspage, address: &str) -> Result<AccessLink, MainError> {
        let now = self.clock.now();
        let transaction = self.databases.main.begin().await?;
        organisations::lock(&transaction, page.organisation).await?;
        let known = access_links::of_address(&transaction, page.key, address).await?;
        if let Some(known) = known.filter(|known| known.is_sent_again(now)) {
            return Ok(known);
        }
        let link =
            AccessLink { page: page.key, address: address.to_owned(), id: Id::random(), asked_at: now };
        access_links::replace(&transaction, &link).await?;
        transaction.commit().await?;
        Ok(link)
    }

    /// Shows the button of a link.
    pub(super) async fn show_link(
        &self,
        snapshot: &PageSnapshot,
        visit: &PageVisit,
        token: &str,
    ) -> HttpResponse {
        let texts = texts(snapshot, visit);
        match self.valid_link(&snapshot.page, token).await {
            Ok(Some(_)) => AccessForm::link(&texts).answer(StatusCode::OK),
            Ok(None) => refusal(snapshot, &texts, StatusCode::GONE, "access-over"),
            Err(error) => failed(&error),
        }
    }

    /// Uses a link: its address gets a cookie.
    pub(super) async fn use_link(
        &self,
        snapshot: &PageSnapshot,
        visit: &PageVisit,
        token: &str,
    ) -> HttpResponse {
        let texts = texts(snapshot, visit);
        if has_foreign_origin(&visit.headers) {
            return form(snapshot, &texts, None).answer(StatusCode::FORBIDDEN);
        }
        match self.take_link(&snapshot.page, token).await {
            Ok(Some(address)) => self.admit(&snapshot.page, visit, &AccessProof::Address(address)),
            Ok(None) => refusal(snapshot, &texts, StatusCode::GONE, "access-over"),
            Err(error) => failed(&error),
        }
    }

    /// Returns the link of a token; `None` if it does not open the page.
    async fn valid_link(&self, page: &Statuspage, token: &str) -> Result<Option<AccessLink>, MainError> {
        let Some(id) = read_access_token(&self.sealer, token) else { return Ok(None) };
        let found = access_links::find(self.databases.main.reader(), id).await?;
        let opens = |link: &AccessLink| {
            link.page == page.key && link.is_valid(self.clock.now()) && page.lists_address(&link.address)
        };
        Ok(found.filter(opens))
    }

    /// Uses up the link of a token, and returns its address; `None` if it does not open the page.
    async fn take_link(&self, page: &Statuspage, token: &str) -> Result<Option<String>, MainError> {
        let Some(link) = self.valid_link(page, token).await? else { return Ok(None) };
        let transaction = self.databases.main.begin().await?;
        let is_first = access_links::take(&transaction, link.id).await?;
        transaction.commit().await?;
        Ok(is_first.then_some(link.address))
    }
}

fn failed(error: &MainError) -> HttpResponse {
    tracing::error!(%error, "cannot read a link to a status page");
    answer::unavailable()
}
