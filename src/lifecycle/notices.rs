//! Starts, escalations and ends of notices, each with its messages.
//!
//! The organisation is locked first, so that the same trouble does not start two notices.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::lifecycle::{audience, effects};
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notice_effects::{NoticeAudience, notice_effects};
use crate::store::notices::{find_lasting, row_changes};
use crate::store::{MainError, Transaction, organisations};

/// Starts a notice about this trouble, or makes the open notice more severe. Returns true if a notice was started or
/// became more severe.
pub async fn raise(
    transaction: &Transaction,
    trouble: &NoticeCondition,
    now: Timestamp,
) -> Result<bool, MainError> {
    organisations::lock(transaction, trouble.subject.organisation).await?;
    let lasting = find_lasting(transaction, &trouble.subject).await?;
    let notice = match lasting {
        Some(lasting) if lasting.trouble.severity >= trouble.severity => return Ok(false),
        Some(lasting) => {
            let worse = Notice { trouble: trouble.clone(), ..lasting };
            row_changes::update(transaction, &worse).await?;
            worse
        }
        None => {
            let new =
                Notice { key: 0, id: Id::random(), trouble: trouble.clone(), began_at: now, ended_at: None };
            row_changes::insert(transaction, &new).await?;
            new
        }
    };
    enqueue_notifications(transaction, &notice, now).await?;
    Ok(true)
}

/// Makes the open notice about this trouble less severe, if it is more severe than the trouble. No notifications are sent.
pub async fn lower(transaction: &Transaction, trouble: &NoticeCondition) -> Result<(), MainError> {
    organisations::lock(transaction, trouble.subject.organisation).await?;
    let lasting = find_lasting(transaction, &trouble.subject).await?;
    if let Some(lasting) = lasting.filter(|lasting| lasting.trouble.severity > trouble.severity) {
        row_changes::update(transaction, &Notice { trouble: trouble.clone(), ..lasting }).await?;
    }
    Ok(())
}

/// Ends the open notice of a subject with this text. Returns false if there was no open notice.
pub async fn settle(
    transaction: &Transaction,
    subject: &NoticeSubject,
    words: NoticeText,
    now: Timestamp,
) -> Result<bool, MainError> {
    organisations::lock(transaction, subject.organisation).await?;
    let Some(lasting) = find_lasting(transaction, subject).await? else { return Ok(false) };
    let over =
        Notice { trouble: NoticeCondition { words, ..lasting.trouble }, ended_at: Some(now), ..lasting };
    row_changes::update(transaction, &over).await?;
    enqueue_notifications(transaction, &over, now).await?;
    Ok(true)
}

async fn enqueue_notifications(
    transaction: &Transaction,
    notice: &Notice,
    now: Timestamp,
) -> Result<(), MainError> {
    let owner = notice.trouble.subject.organisation;
    let Some(organisation) = organisations::get(transaction, owner).await? else { return Ok(()) };
    let channels = audience::channels(transaction, owner, notice.id, now).await?;
    if channels.is_empty() {
        return Ok(());
    }
    let services = notice.trouble.service.into_iter().collect();
    let concerned = audience::concerned_services(transaction, services).await?;
    let audience = NoticeAudience { organisation: organisation.name, channels, concerned };
    effects::carry_out(transaction, notice_effects(notice, &audience, now), now).await
}
