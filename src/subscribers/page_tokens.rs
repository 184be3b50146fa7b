//! The tokens in links that are sent by mail: to confirm a subscription, to end it, and to open a page with an access list.
//!
//! A token is an id, that of the subscriber or of the link, and a signature, made with the key of the installation. So no
//! token is stored, and nobody who reads the database can confirm or end a subscription, or open a page. A confirmation is bound to the time of its request: a
//! newer request, or the confirmation itself, ends it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::secret::SecretSealer;
use crate::model::subscriber::{CONFIRMATION_MS, PageSubscriber, SubscriberStatus};

/// Number of characters of an id.
const ID_LENGTH: usize = 21;
const CONFIRM: &str = "subscriber confirmation";
const UNSUBSCRIBE: &str = "subscriber unsubscription";
const ACCESS: &str = "status page link";

/// The token that ends the subscription. It is valid as long as the subscriber exists.
#[must_use]
pub fn unsubscribe_token(sealer: &SecretSealer, subscriber: Id) -> String {
    token(subscriber, &sealer.sign(UNSUBSCRIBE, subscriber.as_str().as_bytes()))
}

/// Returns the id of the subscriber whose subscription the token ends; `None` if the token is not valid.
#[must_use]
pub fn read_unsubscribe_token(sealer: &SecretSealer, text: &str) -> Option<Id> {
    let (subscriber, signature) = parts(text)?;
    sealer.is_signed(UNSUBSCRIBE, subscriber.as_str().as_bytes(), &signature).then_some(subscriber)
}

/// The token of a link that opens a page.
#[must_use]
pub fn access_token(sealer: &SecretSealer, link: Id) -> String {
    token(link, &sealer.sign(ACCESS, link.as_str().as_bytes()))
}

/// Returns the id of the link with this token; `None` if the token is not valid. Whether the link still is, says its row.
#[must_use]
pub fn read_access_token(sealer: &SecretSealer, text: &str) -> Option<Id> {
    let (link, signature) = parts(text)?;
    sealer.is_signed(ACCESS, link.as_str().as_bytes(), &signature).then_some(link)
}

/// The token that confirms the subscription, for a request made at `asked_at`.
#[must_use]
pub fn confirmation_token(sealer: &SecretSealer, subscriber: Id, asked_at: Timestamp) -> String {
    token(subscriber, &sealer.sign(CONFIRM, confirmation(subscriber, asked_at).as_bytes()))
}

/// Returns the id of the subscriber that a token claims to confirm; the claim is not checked.
#[must_use]
pub fn claimed_subscriber(text: &str) -> Option<Id> {
    parts(text).map(|(subscriber, _)| subscriber)
}

/// Returns true if the token confirms this subscriber at `now`.
#[must_use]
pub fn confirms(sealer: &SecretSealer, text: &str, subscriber: &PageSubscriber, now: Timestamp) -> bool {
    let Some((id, signature)) = parts(text) else { return false };
    let Some(asked_at) = subscriber.asked_at else { return false };
    let waits = subscriber.status == SubscriberStatus::Pending && now < asked_at.plus_ms(CONFIRMATION_MS);
    waits
        && id == subscriber.id
        && sealer.is_signed(CONFIRM, confirmation(id, asked_at).as_bytes(), &signature)
}

fn confirmation(subscriber: Id, asked_at: Timestamp) -> String {
    format!("{subscriber} {}", asked_at.ms())
}

fn token(id: Id, signature: &[u8]) -> String {
    format!("{id}{}", URL_SAFE_NO_PAD.encode(signature))
}

fn parts(text: &str) -> Option<(Id, Vec<u8>)> {
    let (id, signature) = text.split_at_checked(ID_LENGTH)?;
    Some((id.parse().ok()?, URL_SAFE_NO_PAD.decode(signature).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::KEY_LENGTH;
    use crate::model::statuspage::word::SubscriberChannel;
    use crate::model::subscriber::{SubscriberAddress, SubscriberOrigin};

    const ASKED: Timestamp = Timestamp::from_ms(1_000_000);

    fn subscriber() -> PageSubscriber {
        PageSubscriber {
            key: 1,
            id: Id::random(),
            page: 1,
            channel: SubscriberChannel::Email,
            address: SubscriberAddress { shown: "a@example.com".into(), sealed: None, hash: [0; 32] },
            components: None,
            language: "en".into(),
            status: SubscriberStatus::Pending,
            disabled_reason: None,
            refusals: 0,
            secret: None,
            origin: SubscriberOrigin::Visitor,
            asked_at: Some(ASKED),
            confirmed_at: None,
            created_at: ASKED,
        }
    }

    #[test]
    fn a_confirmation_is_valid_for_a_day_and_one_request() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let one = subscriber();
        let text = confirmation_token(&sealer, one.id, ASKED);
        assert_eq!(claimed_subscriber(&text), Some(one.id));
        let at = |ms: i64| confirms(&sealer, &text, &one, ASKED.plus_ms(ms));
        assert!(at(0) && at(CONFIRMATION_MS - 1) && !at(CONFIRMATION_MS));
        for other in [
            PageSubscriber { asked_at: Some(ASKED.plus_ms(1)), ..one.clone() },
            PageSubscriber { asked_at: None, ..one.clone() },
            PageSubscriber { status: SubscriberStatus::Active, ..one.clone() },
            subscriber(),
        ] {
            assert!(!confirms(&sealer, &text, &other, ASKED));
        }
        let other_key = SecretSealer::new(&[8; KEY_LENGTH]);
        assert!(!confirms(&other_key, &text, &one, ASKED));
    }

    #[test]
    fn a_token_serves_one_purpose() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let one = subscriber();
        let text = unsubscribe_token(&sealer, one.id);
        assert_eq!(read_unsubscribe_token(&sealer, &text), Some(one.id));
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        assert!(!confirms(&sealer, &text, &one, ASKED));
        let confirmation = confirmation_token(&sealer, one.id, ASKED);
        assert_eq!(read_unsubscribe_token(&sealer, &confirmation), None);
        let access = access_token(&sealer, one.id);
        assert_eq!(read_access_token(&sealer, &access), Some(one.id));
        assert_eq!(
            (read_unsubscribe_token(&sealer, &access), read_access_token(&sealer, &text)),
            (None, None)
        );
        for wrong in ["", "x", "ä", &text[1..], &format!("{text}A"), &text[..text.len() - 1]] {
            assert_eq!(read_unsubscribe_token(&sealer, wrong), None, "{wrong}");
        }
    }
}
