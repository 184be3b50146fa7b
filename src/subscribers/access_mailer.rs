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
use crate::model::notification::delivery::DeliveryOutcome;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::access_link::AccessLink;
use crate::notify::carrier::{MessageSender, SendReport};
use crate::notify::kinds::OutgoingMail;
use crate::store::{Databases, MainError};
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

    /// Sends a link in this language. Tries again while the link is valid.
    ///
    /// # Errors
    /// When the page cannot be read.
    pub async fn send(&self, link: &AccessLink, locale: &str) -> Result<(), MainError> {
        let main = self.databases.main.reader();
        let Some(identity) = PageIdentity::read(main, &self.config, link.page).await? else { return Ok(()) };
        let Some(mail) = self.mail(&identity, link, locale) else {
            tracing::warn!(page = %identity.page.id, "cannot write the mail with the link to a status page");
            return Ok(());
        };
        for wait in WAITS.map(Some).into_iter().chain([None]) {
            let report = self.try_once(&mail).await;
            let wait = match report.outcome {
                DeliveryOutcome::Delivered | DeliveryOutcome::Unconfirmed => return Ok(()),
                DeliveryOutcome::Failed => wait,
                DeliveryOutcome::Refused => None,
            };
            tracing::warn!(
                page = %identity.page.id,
                error = report.detail,
                is_last_try = wait.is_none(),
                "cannot send the link to a status page"
            );
            let Some(wait) = wait else { return Ok(()) };
            sleep(wait).await;
            if !link.is_valid(self.clock.now()) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn mail(&self, identity: &PageIdentity, link: &AccessLink, locale: &str) -> Option<OutgoingMail> {
        let address = format!("{}/access/{}", identity.url, access_token(&self.sealer, link.id));
        let texts = render_access(identity, locale, &address).ok()?;
        let receiver = MailReceiver {
            delivery: link.id,
            address: &link.address,
            unsubscribe: None,
            at: self.clock.now(),
        };
        MailSender::of(&self.config.mail)?.mail(&texts, receiver)
    }

    async fn try_once(&self, mail: &OutgoingMail) -> SendReport {
        // The semaphore is never closed.
        let _room = self.room.acquire().await;
        self.sender.mail(mail).await
    }
}
