//! Orders the certificates that are due, one after the other.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use instant_acme::Account;
use tokio::time::sleep;

use crate::certificates::authority::AcmeAuthority;
use crate::certificates::cache::{ANSWERS_SPREAD, CertificateCache};
use crate::certificates::order::{CertificateOrder, OrderFailure, RefusalCause};
use crate::certificates::vault::CertificateVault;
use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::model::certificate::{CertificateFacts, CertificateValidity, ChallengeMethod, OrderWait};
use crate::service_router::ownership::Ownership;
use crate::store::acme_challenges::ChallengeAnswer;
use crate::store::certificates::DueCertificate;
use crate::store::{Database, MainError, acme_challenges, certificates};

/// The poll interval while no order is due.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// Returns true while this process must not order certificates, because it may be a copy of the installation.
pub type OrderHold = Arc<dyn Fn() -> bool + Send + Sync>;

/// The issuer with its dependencies.
#[derive(Clone)]
pub struct CertificateIssuer {
    /// The main database.
    pub main: Database,
    /// The guard of the wall clock. While the clock is not trusted nothing is ordered: every certificate might seem old.
    pub guard: Arc<ClockGuard>,
    /// The ownership of this node: of several nodes only the leading one orders.
    pub ownership: Ownership,
    /// Seals certificates.
    pub vault: CertificateVault,
    /// The authority.
    pub authority: AcmeAuthority,
    /// True if this installation listens for HTTP, so that HTTP-01 is possible.
    pub has_http_listener: bool,
    /// The certificates that this node serves.
    pub cache: CertificateCache,
    /// Stops the orders.
    pub is_held: OrderHold,
}

impl CertificateIssuer {
    /// Orders until the future is dropped.
    pub async fn run(self) {
        let mut account = None;
        loop {
            match self.order_next(&mut account).await {
                Ok(true) => {}
                Ok(false) => sleep(POLL_EVERY).await,
                Err(error) => {
                    tracing::warn!(%error, "cannot order certificates; retrying");
                    sleep(POLL_EVERY).await;
                }
            }
        }
    }

    /// Places the order that is due first. Returns false if none is, or if another process orders. `account` is opened when
    /// it is needed.
    async fn order_next(&self, account: &mut Option<Account>) -> Result<bool, MainError> {
        if !self.ownership.leads() || (self.is_held)() {
            return Ok(false);
        }
        let Some(now) = self.guard.trusted_now() else { return Ok(false) };
        if self.next_due(now).await?.is_none() {
            return Ok(false);
        }
        let Some(_lock) = certificates::take_order_lock(&self.main).await? else { return Ok(false) };
        // Another process may have ordered before it released the lock.
        let Some(due) = self.next_due(now).await? else { return Ok(false) };
        let failures = due.facts.as_ref().map_or(0, |facts| facts.failures);
        let method = ChallengeMethod::next(self.has_http_listener, failures);
        let begun = CertificateFacts::begin_order(due.facts.clone(), now);
        if !self.store_facts(due.domain, &begun).await? {
            return Ok(true);
        }
        self.authority.transport.take_asked_wait();
        match self.order(account, &due, method).await {
            Ok(validity) => {
                let hostname = due.hostname;
                tracing::info!(hostname, not_after = %validity.not_after, "certificate of a custom domain issued");
            }
            Err(OrderFailure::Store(error)) => return Err(error),
            Err(OrderFailure::Authority { reason, cause, asked_wait }) => {
                if cause == RefusalCause::UnknownAccount {
                    *account = None;
                    self.authority.forget_account(&self.main).await?;
                }
                let failed = begun.failed(&reason, self.wait_after(cause, asked_wait), self.guard.now());
                let (hostname, next_order_at) = (due.hostname, failed.due_at);
                tracing::warn!(hostname, reason, %next_order_at, "no certificate for a custom domain");
                self.store_facts(due.domain, &failed).await?;
            }
        }
        Ok(true)
    }

    fn wait_after(&self, cause: RefusalCause, asked_wait: Option<Duration>) -> OrderWait {
        let of_response = self.authority.transport.take_asked_wait();
        match (cause, asked_wait.or(of_response)) {
            (RefusalCause::RejectedNonces, _) => OrderWait::Short,
            (_, Some(wait)) => OrderWait::Asked(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)),
            (_, None) => OrderWait::Growing,
        }
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<DueCertificate>, MainError> {
        certificates::next_due(self.main.reader(), &self.authority.directory_url, now).await
    }

    async fn order(
        &self,
        account: &mut Option<Account>,
        due: &DueCertificate,
        method: ChallengeMethod,
    ) -> Result<CertificateValidity, OrderFailure> {
        let account = match account {
            Some(account) => account,
            None => account.insert(self.authority.open_account(&self.main, &self.vault).await?),
        };
        let order = CertificateOrder { account, hostname: &due.hostname, method };
        let obtained = order.obtain(async |answer| self.publish(answer).await).await;
        self.withdraw(&due.hostname).await?;
        let bundle = obtained?;
        let validity = bundle.open(self.cache.provider())?.validity;
        let sealed = self.vault.seal_certificate(due.domain, &bundle);
        let facts = CertificateFacts::issued(validity);
        let transaction = self.main.begin().await?;
        let directory_url = &self.authority.directory_url;
        certificates::put_issued(&transaction, due.domain, directory_url, &facts, sealed).await?;
        transaction.commit().await?;
        self.cache.read_certificates().await?;
        Ok(validity)
    }

    /// Stores the answer to a challenge, and returns when every node gives it.
    async fn publish(&self, answer: ChallengeAnswer) -> Result<(), MainError> {
        let transaction = self.main.begin().await?;
        acme_challenges::replace(&transaction, &answer, self.guard.now()).await?;
        transaction.commit().await?;
        self.cache.read_answers().await?;
        if self.ownership.member().is_some() {
            sleep(ANSWERS_SPREAD).await;
        }
        Ok(())
    }

    async fn withdraw(&self, hostname: &str) -> Result<(), MainError> {
        let transaction = self.main.begin().await?;
        acme_challenges::delete(&transaction, hostname).await?;
        transaction.commit().await
    }

    async fn store_facts(&self, domain: i64, facts: &CertificateFacts) -> Result<bool, MainError> {
        let transaction = self.main.begin().await?;
        let directory_url = &self.authority.directory_url;
        let is_stored = certificates::put_facts(&transaction, domain, directory_url, facts).await?;
        transaction.commit().await?;
        Ok(is_stored)
    }
}

impl fmt::Debug for CertificateIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateIssuer").field("authority", &self.authority).finish_non_exhaustive()
    }
}
