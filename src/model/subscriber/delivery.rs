//! Messages to subscribers: what follows from an attempt, for the message and for its subscriber.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::delivery::{DeliveryOutcome, FaultOwner};
use crate::model::subscriber::{PageSubscriber, SubscriberStatus};

/// Number of consecutive messages that an address refuses for good before it is disabled.
pub const REFUSALS_MAX: u32 = 3;

/// A message to a subscriber that waits to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberDelivery {
    /// Key of the row.
    pub key: i64,
    /// The id that the receiver sees, the same in every attempt.
    pub id: Id,
    /// Database key of the fact; `None` for the message that proves the address.
    pub fact: Option<i64>,
    /// Number of attempts so far.
    pub tries: u32,
    /// The time at which the message is given up.
    pub expires_at: Timestamp,
    /// The receiver.
    pub subscriber: PageSubscriber,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberAttempt {
    /// The outcome for the message.
    pub outcome: DeliveryOutcome,
    /// What a failure is blamed on.
    pub owner: FaultOwner,
    /// True if the receiver has answered.
    pub has_answer: bool,
    /// The answer of the receiver, or the error.
    pub detail: String,
}

/// What an attempt changes for the subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriberChange {
    /// Nothing.
    None,
    /// The address is proven and gets news from now on.
    Activate,
    /// The address has accepted a message: earlier refusals no longer count.
    ForgetRefusals,
    /// The address has refused a message; holds the number of refusals in a row.
    CountRefusal(u32),
    /// The address gets nothing more, for this reason.
    Disable(String),
}

/// Returns what an attempt changes for the subscriber.
///
/// A test message that is accepted proves a channel; a mail does not, because its reader has to confirm. A test message
/// that is refused for good disables the subscriber at once, other messages do so at the third refusal in a row. Refusals
/// of a mail for another reason than its recipient, and failures that may pass, count for nothing.
#[must_use]
pub fn change_after(
    delivery: &SubscriberDelivery,
    is_mail: bool,
    attempt: &SubscriberAttempt,
) -> SubscriberChange {
    let subscriber = &delivery.subscriber;
    let is_proof = delivery.fact.is_none();
    let is_blamed = match attempt.owner {
        FaultOwner::Recipient => true,
        FaultOwner::Channel => !is_mail,
        // A message that was given up here had no answer.
        FaultOwner::Message => !is_mail && attempt.has_answer,
        FaultOwner::Sender => false,
    };
    match attempt.outcome {
        DeliveryOutcome::Delivered
            if is_proof && !is_mail && subscriber.status == SubscriberStatus::Pending =>
        {
            SubscriberChange::Activate
        }
        DeliveryOutcome::Delivered if subscriber.refusals > 0 => SubscriberChange::ForgetRefusals,
        DeliveryOutcome::Refused if is_blamed => {
            let refusals = subscriber.refusals.saturating_add(1);
            if refusals >= REFUSALS_MAX || (is_proof && !is_mail) {
                SubscriberChange::Disable(attempt.detail.clone())
            } else {
                SubscriberChange::CountRefusal(refusals)
            }
        }
        _ => SubscriberChange::None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::statuspage::word::SubscriberChannel;
    use crate::model::subscriber::{SubscriberAddress, SubscriberOrigin};

    fn delivery(status: SubscriberStatus, is_proof: bool, refusals: u32) -> SubscriberDelivery {
        let now = Timestamp::from_ms(0);
        let subscriber = PageSubscriber {
            key: 1,
            id: Id::random(),
            page: 1,
            channel: SubscriberChannel::Email,
            address: SubscriberAddress { shown: "a@example.com".into(), sealed: None, hash: [0; 32] },
            components: None,
            language: "en".into(),
            status,
            disabled_reason: None,
            refusals,
            secret: None,
            origin: SubscriberOrigin::Client,
            asked_at: None,
            confirmed_at: None,
            created_at: now,
        };
        let fact = (!is_proof).then_some(7);
        SubscriberDelivery { key: 1, id: Id::random(), fact, tries: 0, expires_at: now, subscriber }
    }

    const DELIVERED: (DeliveryOutcome, FaultOwner) = (DeliveryOutcome::Delivered, FaultOwner::Message);
    const GONE: (DeliveryOutcome, FaultOwner) = (DeliveryOutcome::Refused, FaultOwner::Recipient);
    const SPAM: (DeliveryOutcome, FaultOwner) = (DeliveryOutcome::Refused, FaultOwner::Message);
    const LATER: (DeliveryOutcome, FaultOwner) = (DeliveryOutcome::Failed, FaultOwner::Recipient);

    #[rstest]
    #[case::news_arrive((true, false, 0), DELIVERED, SubscriberChange::None)]
    #[case::news_arrive_again((true, false, 2), DELIVERED, SubscriberChange::ForgetRefusals)]
    #[case::first_refusal((true, false, 0), GONE, SubscriberChange::CountRefusal(1))]
    #[case::second_refusal((true, false, 1), GONE, SubscriberChange::CountRefusal(2))]
    #[case::third_refusal((true, false, 2), GONE, SubscriberChange::Disable("550".into()))]
    #[case::refused_content((true, false, 2), SPAM, SubscriberChange::None)]
    #[case::greylisted((true, false, 2), LATER, SubscriberChange::None)]
    #[case::a_mail_proves_nothing((true, true, 0), DELIVERED, SubscriberChange::None)]
    #[case::a_test_message_proves_a_chat((false, true, 0), DELIVERED, SubscriberChange::Activate)]
    #[case::a_refused_test_message((false, true, 0), SPAM, SubscriberChange::Disable("550".into()))]
    #[case::refused_news((false, false, 0), SPAM, SubscriberChange::CountRefusal(1))]
    #[case::a_failing_chat((false, true, 0), LATER, SubscriberChange::None)]
    fn an_attempt_changes_the_subscriber(
        #[case] (is_mail, is_proof, refusals): (bool, bool, u32),
        #[case] (outcome, owner): (DeliveryOutcome, FaultOwner),
        #[case] expected: SubscriberChange,
    ) {
        let status = if is_proof { SubscriberStatus::Pending } else { SubscriberStatus::Active };
        let attempt = SubscriberAttempt { outcome, owner, has_answer: true, detail: "550".into() };
        assert_eq!(change_after(&delivery(status, is_proof, refusals), is_mail, &attempt), expected);
    }

    /// A message that was given up here says nothing about its receiver.
    #[test]
    fn a_message_without_an_answer_changes_nothing() {
        let attempt = SubscriberAttempt {
            outcome: DeliveryOutcome::Refused,
            owner: FaultOwner::Message,
            has_answer: false,
            detail: "It is proven already".into(),
        };
        for is_proof in [true, false] {
            let delivery = delivery(SubscriberStatus::Active, is_proof, 2);
            assert_eq!(change_after(&delivery, false, &attempt), SubscriberChange::None);
        }
    }
}
