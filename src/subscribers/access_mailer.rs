//! Sends the links by which readers on the e-mail list of a page open it.
//!
//! A reader waits for the mail, so it is not queued in the database: it is tried again while the link is valid, and a reader
//! whose mail was lost with the process asks for another one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::notification::delivery::DeliveryOutcome;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::access_link::AccessLink;
use crate::notify::carrier::MessageSender;
use crate::notify::kinds::OutgoingMail;
use crate::store::{Databases, MainError, access_links};
use crate::subscribers::news::PageIdentity;
use crate::subscribers::outgoing_mail::{MailReceiver, MailSender};
use crate::subscribers::page_tokens::access_token;
use crate::subscribers::rendered_news::render_access;

/// Maximum number of mails that are sent at the same time.
const MAILS: usize = 8;
/// The waits before further tries.
const WAITS: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(300)];

/// Sends mails with links that open a page. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AccessMailer {
    databases: Databases,
    sender: MessageSender,
    sealer: SecretSealer,
    config: Arc<Config>,
    clock: Clock,
    room: Arc<Semaphore>,
}

impl AccessMailer {
    /// A mailer that sends through the mail server of the settings.
    #[must_use]
    pub fn new(
        databases: Databases,
        sender: MessageSender,
        sealer: SecretSealer,
        config: Arc<Config>,
        clock: Clock,
    ) -> Self {
        Self { databases, sender, sealer, config, clock, room: Arc::new(Semaphore::new(MAILS)) }
    }

    /// Returns true if the settings name a mail server.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.config.mail.is_complete()
    }

    /// Sends a link in this language. Tries again while the link is valid and was not used.
    pub async fn send(&self, link: &AccessLink, locale: &str) {
        // Mail servers drop a mail whose id they know, so that only the tries of one request have the same one.
        let delivery = Id::random();
        for wait in WAITS.map(Some).into_iter().chain([None]) {
            let is_over = match self.try_once(link, delivery, locale).await {
                Ok(is_over) => is_over,
                Err(error) => {
                    tracing::warn!(%error, "cannot read what a mail with the link to a status page needs");
                    false
                }
            };
            match wait {
                Some(wait) if !is_over => sleep(wait).await,
                _ => return,
            }
        }
    }

    /// Sends the mail; returns true if there is nothing more to do.
    async fn try_once(&self, link: &AccessLink, delivery: Id, locale: &str) -> Result<bool, MainError> {
        // The semaphore is never closed.
        let _room = self.room.acquire().await;
        let main = self.databases.main.reader();
        let stored = access_links::find(main, link.id).await?;
        if !stored.is_some_and(|stored| stored.is_valid(self.clock.now())) {
            return Ok(true);
        }
        let Some(identity) = PageIdentity::read(main, &self.config, link.page).await? else {
            return Ok(true);
        };
        let Some(mail) = self.mail(&identity, link, delivery, locale) else {
            tracing::warn!(page = %identity.page.id, "cannot write the mail with the link to a status page");
            return Ok(true);
        };
        let report = self.sender.mail(&mail).await;
        if matches!(report.outcome, DeliveryOutcome::Failed | DeliveryOutcome::Refused) {
            // The answer of a mail server often names the receiver.
            tracing::warn!(
                page = %identity.page.id,
                status_code = report.status_code,
                "the mail server did not take a mail with the link to a status page"
            );
        }
        Ok(report.outcome != DeliveryOutcome::Failed)
    }

    fn mail(
        &self,
        identity: &PageIdentity,
        link: &AccessLink,
        delivery: Id,
        locale: &str,
    ) -> Option<OutgoingMail> {
        let address = format!("{}/access/{}", identity.url, access_token(&self.sealer, link.id));
        let texts = render_access(identity, locale, &address).ok()?;
        let receiver =
            MailReceiver { delivery, address: &link.address, unsubscribe: None, at: self.clock.now() };
        MailSender::of(&self.config.mail)?.mail(&texts, receiver)
    }
}
