//! Links by which readers on the e-mail list of a page open it.
//!
//! No answer tells whether an address is on the list, not even by its time: the link is made after the answer. A link can
//! be used once, for 15 minutes. Opening it only shows a button, because programs follow links in mails.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

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

impl PageAccess {
    /// Answers a request for a link.
    pub(super) async fn ask_link(&self, snapshot: &PageSnapshot, visit: &PageVisit) -> HttpResponse {
        let texts = texts(snapshot, visit);
        let (given, counted) = match self.take_field(snapshot, visit, ADDRESS_FIELD).await {
            Ok(taken) => taken,
            Err(refusal) => return refusal,
        };
        let address = given.trim().to_lowercase();
        if !self.mailer.is_ready() {
            self.attempts.give_back(counted);
            tracing::warn!(page = %snapshot.page.id, "a reader cannot be sent a link: `mail.*` is not set");
            return refusal(snapshot, &texts, StatusCode::SERVICE_UNAVAILABLE, "access-no-mail");
        }
        if !is_address(&address) {
            self.attempts.give_back(counted);
            return refusal(snapshot, &texts, StatusCode::UNPROCESSABLE_ENTITY, "access-wrong");
        }
        if snapshot.page.lists_address(&address) {
            let (access, page, locale) = (self.clone(), snapshot.page.clone(), texts.locale().to_owned());
            actix_web::rt::spawn(async move {
                if let Err(error) = access.send_link(&page, &address, &locale).await {
                    tracing::warn!(page = %page.id, %error, "cannot make a link to a status page");
                }
            });
        }
        AccessForm::sent(&texts).answer(StatusCode::OK)
    }

    /// Stores a link and sends it, unless the address was sent one a moment ago.
    async fn send_link(&self, page: &Statuspage, address: &str, locale: &str) -> Result<(), MainError> {
        let now = self.clock.now();
        let transaction = self.databases.main.begin().await?;
        organisations::lock(&transaction, page.organisation).await?;
        let earlier = access_links::of_address(&transaction, page.key, address).await?;
        if earlier.is_some_and(|earlier| earlier.is_recent(now)) {
            return Ok(());
        }
        let link =
            AccessLink { page: page.key, address: address.to_owned(), id: Id::random(), asked_at: now };
        access_links::replace(&transaction, &link).await?;
        transaction.commit().await?;
        self.mailer.send(&link, locale).await
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
