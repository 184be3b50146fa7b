//! Effects of a change of a maintenance: facts for subscribers, and a published event.

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::event::{EventAction, EventSubjectKind};
use crate::model::lifecycle_effect::{LifecycleEffect, PublishedAction};
use crate::model::maintenance::reminder::ReminderKind;
use crate::model::maintenance::transition::{MaintenanceTransition, NewTimelineEntry};
use crate::model::maintenance::{Maintenance, MaintenanceKey, texts};
use crate::model::service::ServiceKey;
use crate::model::subscriber_fact::{FactKind, FactSubject, SubscriberFact};
use crate::model::translated_text::TranslatedText;

/// Effects of an operation on a maintenance. `entries` are the ids of its new timeline entries, `pages` the keys of the
/// status pages that show the maintenance.
#[must_use]
pub fn maintenance_effects(
    step: &MaintenanceTransition,
    entries: &[Id],
    pages: &[i64],
) -> Vec<LifecycleEffect> {
    let entry_effect = |(entry, id): (&NewTimelineEntry, &Id)| {
        let subject = FactSubject::Maintenance { maintenance: step.after.key, entry: *id };
        let fact = fact(&step.after, entry.happened.fact(), subject, pages);
        let fact = SubscriberFact { message: entry.message.clone(), at: entry.created_at, ..fact };
        LifecycleEffect::SubscriberFact(Box::new(fact))
    };
    let entries = step.entries.iter().zip(entries).filter(|(entry, _)| entry.notify_subscribers);
    let published = published(step.after.key, EventAction::Updated, Vec::new());
    [published].into_iter().chain(entries.map(entry_effect)).collect()
}

/// The fact for subscribers when a reminder is due. `locale` is the language of its generated text.
#[must_use]
pub fn reminder_effect(
    maintenance: &Maintenance,
    reminder: ReminderKind,
    at: Timestamp,
    locale: &str,
    pages: &[i64],
) -> LifecycleEffect {
    let subject = FactSubject::Reminder { maintenance: maintenance.key, start: maintenance.schedule.start };
    let message = TranslatedText::single(locale, texts::reminded(maintenance.schedule));
    let fact = fact(maintenance, reminder.fact(), subject, pages);
    LifecycleEffect::SubscriberFact(Box::new(SubscriberFact { message, at, ..fact }))
}

/// The effect that publishes an operation on a maintenance.
const fn published(key: MaintenanceKey, act: EventAction, former: Vec<ServiceKey>) -> LifecycleEffect {
    LifecycleEffect::Publish(PublishedAction { kind: EventSubjectKind::Maintenance, key, act, former })
}

fn fact(maintenance: &Maintenance, kind: FactKind, subject: FactSubject, pages: &[i64]) -> SubscriberFact {
    SubscriberFact {
        key: 0,
        id: Id::random(),
        organisation: maintenance.organisation,
        kind,
        subject,
        title: maintenance.title.clone(),
        message: maintenance.title.clone(),
        at: maintenance.updated_at,
        pages: pages.to_vec(),
    }
}
