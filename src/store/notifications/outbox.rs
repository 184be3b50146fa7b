//! What is written when something happens: one message for each channel that is to be told.
//!
//! It runs in the transaction of the fact, so that nobody is told what did not happen, and nothing that happened is told to
//! nobody. Whoever writes incidents holds the organisation, so the messages have the order of the facts.

use std::collections::HashSet;

use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use watchkeeper_entities::notification_delivery::{Column, Entity};
use watchkeeper_entities::service_tag;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::contact::Contact;
use crate::model::incident::WholeIncident;
use crate::model::notice::{Notice, Trouble};
use crate::model::notification::delivery::{Delivery, DeliveryStatus, GIVEN_UP_AFTER_MS};
use crate::model::notification::message::{Message, Sender};
use crate::model::notification::routing::{Concerned, Occasion, event_of};
use crate::model::notification::{Channel, Event};
use crate::model::service::ServiceKey;
use crate::store::notifications::lines::in_line;
use crate::store::notifications::people::{self, Planned, Reached};
use crate::store::notifications::{holds, to_row};
use crate::store::{MainError, contacts, notification_channels, organisations};

/// Services in one statement: far below what a statement may bind.
const SERVICES_PER_STATEMENT: usize = 1_000;

/// Writes the messages about a change of an incident at `at`, if it is worth any. `before` is `None` for a new incident.
///
/// # Errors
/// When the database fails.
pub(in crate::store) async fn tell_of_incident(
    connection: &impl ConnectionTrait,
    before: Option<&WholeIncident>,
    after: &WholeIncident,
    at: Timestamp,
) -> Result<(), MainError> {
    let Some(event) = event_of(before, after) else { return Ok(()) };
    let incident = &after.incident;
    if matches!(event, Event::IncidentAcknowledged | Event::IncidentResolved) {
        holds::drop_steps(connection, incident.id, at).await?;
    }
    if before.is_some_and(|before| before.incident.severity < incident.severity) {
        wake(connection, after, at).await?;
    }
    let channels = notification_channels::enabled(connection, incident.organisation).await?;
    if channels.is_empty() {
        return Ok(());
    }
    let Some(organisation) = organisations::get(connection, incident.organisation).await? else {
        return Ok(());
    };
    let keys: Vec<i64> = channels.iter().map(|channel| channel.key).collect();
    let told = told_of(connection, &keys, incident.id).await?;
    let concerned = concerned(connection, after).await?;
    let occasion = Occasion { event, severity: incident.severity, concerned };
    let mut told_now = HashSet::new();
    for channel in &channels {
        let Some(event) = channel.routing.told(&occasion, told.contains(&channel.key)) else { continue };
        let message = Message::of_incident(event, after, sender(&organisation, None), at.ms());
        let hold = holds::hold(connection, channel, &message, at).await?;
        insert(connection, &Planned { hold, ..Planned::for_channel(channel) }, message, at).await?;
        told_now.insert(channel.key);
    }
    if event == Event::IncidentResolved {
        tell_of_end(connection, (after, &organisation), (&channels, &told_now), at).await?;
    }
    Ok(())
}

/// Writes the end of an incident for the contacts that a step told of it, by those of these channels that have not been told
/// it just now.
async fn tell_of_end(
    connection: &impl ConnectionTrait,
    (whole, organisation): (&WholeIncident, &Organisation),
    (channels, told_now): (&[Channel], &HashSet<i64>),
    at: Timestamp,
) -> Result<(), MainError> {
    let waiting = people::waiting_for_end(connection, whole, at).await?;
    let planned = waiting.iter().filter_map(|(contact, key, hold)| {
        let channel = channels.iter().find(|channel| channel.key == *key)?;
        let knows = !channel.has_mailboxes() && told_now.contains(key);
        (!knows).then_some(Planned { channel, contact: Some(contact), hold: *hold })
    });
    for planned in people::each_once(planned) {
        let sender = sender(organisation, planned.contact);
        let message = Message::of_incident(Event::IncidentResolved, whole, sender, at.ms());
        insert(connection, &planned, message, at).await?;
    }
    Ok(())
}

/// Writes the messages of a step of an escalation to those of these channels that are switched on, and to people by their own
/// channels. Returns how many leave now: those that wait for the end of quiet hours reach nobody yet.
///
/// # Errors
/// When the database fails.
pub(in crate::store) async fn tell_of_escalation(
    connection: &impl ConnectionTrait,
    whole: &WholeIncident,
    (channels, people): (&[i64], &[Reached]),
    at: Timestamp,
) -> Result<usize, MainError> {
    let owner = whole.incident.organisation;
    let Some(organisation) = organisations::get(connection, owner).await? else { return Ok(0) };
    let enabled = notification_channels::enabled(connection, owner).await?;
    let named = enabled.iter().filter(|channel| channels.contains(&channel.key)).map(Planned::for_channel);
    let severity = whole.incident.severity;
    let own = people.iter().flat_map(|reached| reached.planned(&enabled, (severity, at)));
    let mut planned = people::each_once(named.chain(own));
    let held = holds::held_steps(connection, whole.incident.id).await?;
    // Who waits for the end of quiet hours is told once then, however often the steps come again.
    planned.retain(|planned| {
        let contact = planned.contact.map(|contact| contact.key);
        planned.hold.is_none() || !held.contains(&(planned.channel.key, contact))
    });
    for planned in &planned {
        let sender = sender(&organisation, planned.contact);
        let message = Message::of_incident(Event::IncidentEscalated, whole, sender, at.ms());
        insert(connection, planned, message, at).await?;
    }
    Ok(planned.iter().filter(|planned| planned.hold.is_none()).count())
}

/// Takes back what was to be told of an incident that is deleted and still waits for the end of quiet hours or a digest.
///
/// # Errors
/// When the database fails.
pub(in crate::store) async fn drop_held(
    connection: &impl ConnectionTrait,
    organisation: i64,
    incident: Id,
) -> Result<(), MainError> {
    let held = Entity::delete_many()
        .filter(Column::OrganisationId.eq(organisation))
        .filter(Column::Subject.eq(incident.as_str()))
        .filter(Column::HeldUntil.is_not_null())
        .filter(Column::EndedAt.is_null())
        .filter(Column::Tries.eq(0));
    held.exec(connection).await?;
    Ok(())
}

/// Lets go the steps that wait for the end of quiet hours of contacts who want to be woken by something so severe.
async fn wake(
    connection: &impl ConnectionTrait,
    whole: &WholeIncident,
    at: Timestamp,
) -> Result<(), MainError> {
    let incident = &whole.incident;
    let held = holds::held_steps(connection, incident.id).await?;
    let keys: Vec<i64> = held.iter().filter_map(|(_, contact)| *contact).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let contacts = contacts::with_keys(connection, &keys).await?;
    let channels: Vec<i64> = held.iter().map(|(channel, _)| *channel).collect();
    let channels = notification_channels::with_keys(connection, &channels).await?;
    for (channel, contact) in held {
        let contact = contacts.iter().find(|known| Some(known.key) == contact);
        let channel = channels.iter().find(|known| known.key == channel);
        let (Some(contact), Some(channel)) = (contact, channel) else { continue };
        let quiet = contact.quiet.as_ref();
        if quiet.and_then(|quiet| quiet.held_until(incident.severity, at)).is_none() {
            let line = channel.line(Some(contact.key));
            holds::let_go(connection, (channel.key, line), Some(incident.id.as_str()), at).await?;
        }
    }
    Ok(())
}

/// The organisation, speaking to a contact, or to whoever reads a channel.
fn sender<'a>(organisation: &'a Organisation, contact: Option<&'a Contact>) -> Sender<'a> {
    let Organisation { name, default_locale, .. } = organisation;
    let language = contact.map_or(default_locale, |contact| &contact.language);
    Sender { name, language, default_language: default_locale }
}

/// Writes the messages about a notice that begins, becomes worse or ends.
///
/// # Errors
/// When the database fails.
pub(in crate::store) async fn tell_of_notice(
    connection: &impl ConnectionTrait,
    notice: &Notice,
    at: Timestamp,
) -> Result<(), MainError> {
    let Trouble { source, severity, service, .. } = &notice.trouble;
    let channels = notification_channels::enabled(connection, source.organisation).await?;
    if channels.is_empty() {
        return Ok(());
    }
    let Some(organisation) = organisations::get(connection, source.organisation).await? else {
        return Ok(());
    };
    let keys: Vec<i64> = channels.iter().map(|channel| channel.key).collect();
    let told = told_of(connection, &keys, notice.id).await?;
    let services: Vec<ServiceKey> = service.iter().copied().collect();
    let concerned = Concerned { tags: tags_of(connection, &services).await?, services };
    let occasion = Occasion { event: source.event, severity: *severity, concerned };
    for channel in channels {
        let was_told = told.contains(&channel.key);
        let is_news = was_told || notice.ended_at.is_none();
        if is_news && channel.routing.is_told(&occasion, was_told) {
            let message = notice.message(organisation.name.clone(), at);
            let hold = holds::hold(connection, &channel, &message, at).await?;
            insert(connection, &Planned { hold, ..Planned::for_channel(&channel) }, message, at).await?;
        }
    }
    Ok(())
}

/// The services that an incident affects, with their tags.
///
/// # Errors
/// When the database fails.
pub(in crate::store) async fn concerned(
    connection: &impl ConnectionTrait,
    whole: &WholeIncident,
) -> Result<Concerned, MainError> {
    let services: Vec<ServiceKey> = whole.services.iter().map(|affected| affected.service).collect();
    Ok(Concerned { tags: tags_of(connection, &services).await?, services })
}

pub(super) fn new(channel: i64, organisation: i64, message: Message, now: Timestamp) -> Delivery {
    Delivery {
        key: 0,
        id: Id::random(),
        organisation,
        channel,
        contact: None,
        message,
        status: DeliveryStatus::Waiting,
        tries: 0,
        created_at: now,
        expires_at: now.plus_ms(GIVEN_UP_AFTER_MS),
        due_at: Some(now),
        ended_at: None,
        hold: None,
        digest: None,
    }
}

/// Stores a message. It is not due while something holds it, or an earlier one waits: about the same
/// subject, or a digest.
async fn insert(
    connection: &impl ConnectionTrait,
    planned: &Planned<'_>,
    message: Message,
    now: Timestamp,
) -> Result<(), MainError> {
    let Planned { channel, contact, hold } = *planned;
    let contact = contact.map(|contact| contact.key);
    let line = channel.line(contact);
    if hold.is_none() {
        holds::let_go(connection, (channel.key, line), Some(message.subject_id()), now).await?;
    }
    let begin = hold.map_or(now, |hold| hold.until);
    let delivery = Delivery {
        due_at: Some(begin),
        expires_at: begin.plus_ms(GIVEN_UP_AFTER_MS),
        hold,
        contact,
        ..new(channel.key, channel.organisation, message, now)
    };
    let same = Column::Subject.eq(delivery.message.subject_id());
    // Two looks, each by an index of its own.
    let waits = one_waits(connection, channel.key, in_line(line).add(same)).await?
        || a_digest_waits(connection, channel.key).await?;
    let due_at = delivery.due_at.filter(|_| !waits);
    let row = to_row(&Delivery { due_at, ..delivery })?;
    Entity::insert(row).exec(connection).await?;
    Ok(())
}

/// Returns true if a digest of a channel has not ended.
///
/// # Errors
/// When the database fails.
pub(super) async fn a_digest_waits(
    connection: &impl ConnectionTrait,
    channel: i64,
) -> Result<bool, MainError> {
    let digests = Condition::all().add(Column::Event.eq(Event::Digest.as_str()));
    one_waits(connection, channel, digests).await
}

async fn one_waits(
    connection: &impl ConnectionTrait,
    channel: i64,
    chosen: Condition,
) -> Result<bool, MainError> {
    let waiting: Option<i64> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::EndedAt.is_null())
        .filter(chosen)
        .limit(1)
        .into_tuple()
        .one(connection)
        .await?;
    Ok(waiting.is_some())
}

/// Those of these channels that have been told of a subject, not only a contact by them.
async fn told_of(
    connection: &impl ConnectionTrait,
    channels: &[i64],
    subject: Id,
) -> Result<HashSet<i64>, MainError> {
    let told: Vec<i64> = Entity::find()
        .select_only()
        .column(Column::ChannelId)
        .distinct()
        .filter(Column::ChannelId.is_in(channels.iter().copied()))
        .filter(Column::Subject.eq(subject.as_str()))
        .filter(Column::ContactId.is_null())
        .into_tuple()
        .all(connection)
        .await?;
    Ok(told.into_iter().collect())
}

/// The keys of the tags that these services carry.
async fn tags_of(connection: &impl ConnectionTrait, services: &[ServiceKey]) -> Result<Vec<i64>, MainError> {
    let mut tags = Vec::new();
    for some in services.chunks(SERVICES_PER_STATEMENT) {
        let carried: Vec<i64> = service_tag::Entity::find()
            .select_only()
            .column(service_tag::Column::TagId)
            .distinct()
            .filter(service_tag::Column::ServiceId.is_in(some.iter().copied()))
            .into_tuple()
            .all(connection)
            .await?;
        tags.extend(carried);
    }
    Ok(tags)
}
