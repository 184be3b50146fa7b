//! A visitor subscribes, confirms and unsubscribes. The answer never tells whether an address was known.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::{
    ASKED_AGAIN_AFTER_MS, ChosenComponent, PageSubscriber, SUBSCRIBERS_MAX, SubscriberOrigin,
    SubscriberStatus,
};
use crate::store::{Database, MainError, Transaction, organisations, subscriber_deliveries, subscribers};
use crate::subscribers::address::{EnteredAddress, SubscriberVault, draw_webhook_secret};
use crate::subscribers::page_tokens::{claimed_subscriber, confirms, read_unsubscribe_token};

/// A visitor's request to subscribe to a page.
#[derive(Clone)]
pub struct SignUp<'a> {
    /// The page.
    pub page: &'a Statuspage,
    /// Its organisation.
    pub organisation: &'a Organisation,
    /// Maximum number of subscribers of the page.
    pub limit: Option<u32>,
    /// The channel, one of those that the page offers.
    pub channel: SubscriberChannel,
    /// The address.
    pub address: EnteredAddress,
    /// The chosen components; `None` = all.
    pub components: Option<Vec<ChosenComponent>>,
    /// A language of the page.
    pub language: String,
}

impl SignUp<'_> {
    /// Stores the wish, and queues the message that proves the address. An address that is subscribed gets no message; one that
    /// was asked less than an hour ago is not asked again. A page that is full takes nobody.
    pub async fn accept(
        &self,
        main: &Database,
        sealer: &SecretSealer,
        now: Timestamp,
    ) -> Result<(), MainError> {
        let transaction = main.begin().await?;
        organisations::lock(&transaction, self.organisation.key).await?;
        let known = subscribers::find_address(&transaction, self.page.key, &self.address.hash).await?;
        let asked = match known {
            None => self.add(&transaction, sealer, now).await?,
            Some(known) => self.ask_again(&transaction, known, now).await?,
        };
        if let Some(subscriber) = asked {
            subscriber_deliveries::queue_proof(&transaction, &subscriber, now).await?;
        }
        transaction.commit().await
    }

    async fn add(
        &self,
        transaction: &Transaction,
        sealer: &SecretSealer,
        now: Timestamp,
    ) -> Result<Option<PageSubscriber>, MainError> {
        let count = subscribers::count(transaction, self.page.key).await?;
        let most = self.limit.map_or(SUBSCRIBERS_MAX, |limit| u64::from(limit).min(SUBSCRIBERS_MAX));
        if count >= most {
            tracing::warn!(page = %self.page.id, subscribers = count, "no room for another subscriber");
            return Ok(None);
        }
        let id = Id::random();
        let vault = SubscriberVault { sealer, organisation: self.organisation.id, subscriber: id };
        let secret = match self.channel {
            // Without randomness nobody can sign up; the visitor may try again.
            SubscriberChannel::Webhook => match draw_webhook_secret() {
                Ok(secret) => Some(secret),
                Err(_) => return Ok(None),
            },
            _ => None,
        };
        let subscriber = PageSubscriber {
            key: 0,
            id,
            page: self.page.key,
            channel: self.channel,
            address: vault.seal_address(&self.address),
            components: self.components.clone(),
            language: self.language.clone(),
            status: SubscriberStatus::Pending,
            disabled_reason: None,
            refusals: 0,
            secret: secret.map(|secret| vault.seal_secret(&secret)),
            origin: SubscriberOrigin::Visitor,
            asked_at: Some(now),
            confirmed_at: None,
            created_at: now,
        };
        subscribers::insert(transaction, subscriber).await.map(Some)
    }

    /// Asks a known address again, unless it is subscribed or was asked less than an hour ago.
    async fn ask_again(
        &self,
        transaction: &Transaction,
        known: PageSubscriber,
        now: Timestamp,
    ) -> Result<Option<PageSubscriber>, MainError> {
        let is_early = known.asked_at.is_some_and(|asked| now.ms_since(asked) < ASKED_AGAIN_AFTER_MS);
        if known.status == SubscriberStatus::Active || is_early {
            return Ok(None);
        }
        subscribers::ask_again(transaction, known.key, now).await?;
        Ok(Some(PageSubscriber { status: SubscriberStatus::Pending, asked_at: Some(now), ..known }))
    }
}

/// Returns true if the token confirms a subscriber of the page now; nothing is changed.
pub async fn can_confirm(
    main: &Database,
    sealer: &SecretSealer,
    page: i64,
    token: &str,
    now: Timestamp,
) -> Result<bool, MainError> {
    let Some(id) = claimed_subscriber(token) else { return Ok(false) };
    let found = subscribers::find(main.reader(), page, id).await?;
    Ok(found.is_some_and(|subscriber| confirms(sealer, token, &subscriber, now)))
}

/// Confirms the subscriber of a token; returns false if the token is not valid, or no longer.
pub async fn confirm(
    main: &Database,
    sealer: &SecretSealer,
    page: i64,
    token: &str,
    now: Timestamp,
) -> Result<bool, MainError> {
    let Some(id) = claimed_subscriber(token) else { return Ok(false) };
    // An invented token starts no write transaction.
    if !can_confirm(main, sealer, page, token, now).await? {
        return Ok(false);
    }
    let transaction = main.begin().await?;
    let found = subscribers::find_for_update(&transaction, id).await?;
    let found = found.filter(|subscriber| subscriber.page == page);
    let Some(subscriber) = found.filter(|subscriber| confirms(sealer, token, subscriber, now)) else {
        return Ok(false);
    };
    subscribers::activate(&transaction, subscriber.key, now).await?;
    transaction.commit().await?;
    Ok(true)
}

/// Ends the subscription of a token; returns false if the token is not valid. A subscription that has ended already counts as
/// ended now.
pub async fn unsubscribe(main: &Database, sealer: &SecretSealer, token: &str) -> Result<bool, MainError> {
    let Some(id) = read_unsubscribe_token(sealer, token) else { return Ok(false) };
    let transaction = main.begin().await?;
    if let Some(subscriber) = subscribers::find_for_update(&transaction, id).await? {
        subscribers::delete(&transaction, subscriber.key).await?;
    }
    transaction.commit().await?;
    Ok(true)
}
