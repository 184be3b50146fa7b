//! Reads the possible recipients of a change and their state: no more than the change can concern, and nothing for a
//! change that notifies nobody.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::contact::Contact;
use crate::model::incident::{Incident, WholeIncident};
use crate::model::incident_effects::audience::{
    ChannelAudience, FollowedPolicy, HeldBatch, IncidentAudience, WrittenMessage,
};
use crate::model::incident_effects::transition::{IncidentTransition, waits_for_acknowledgement};
use crate::model::notification::digest::RecentMessages;
use crate::model::notification::routing::RoutingKeys;
use crate::model::notification::{NotificationChannel, NotificationEvent};
use crate::model::service::ServiceKey;
use crate::store::incidents::excerpt;
use crate::store::notifications::{holds, outbox};
use crate::store::subscriber_facts::pages;
use crate::store::{
    MainError, Transaction, contacts, escalation_policies, escalations, notification_channels, organisations,
    tags,
};

/// Returns the possible recipients of a change of an incident; `None` when the organisation no longer exists.
pub(super) async fn of_incident_change(
    transaction: &Transaction,
    change: &IncidentTransition<'_>,
) -> Result<Option<IncidentAudience>, MainError> {
    let Some(mut audience) = nobody(transaction, &change.after.incident).await? else { return Ok(None) };
    let incident = &change.after.incident;
    if change.event().is_some() {
        audience.channels = channels(transaction, incident.organisation, incident.id, change.at).await?;
        audience.contacts = notified_contacts(transaction, incident.organisation, &audience.channels).await?;
        read_messages(transaction, change, &mut audience.channels).await?;
    }
    if waits_for_acknowledgement(change.after) {
        audience.policies = escalation_policies::list(transaction, incident.organisation).await?;
    }
    if !audience.policies.is_empty() {
        let followed = escalations::policy_of(transaction, incident.key).await?;
        audience.followed = followed.map(|policy| FollowedPolicy { policy });
    }
    if !audience.channels.is_empty() || !audience.policies.is_empty() {
        audience.concerned = concerned(transaction, change).await?;
    }
    if !change.entries_for_subscribers().is_empty() {
        let chosen: Vec<i64> = change.after.statuspages.iter().map(|page| page.key).collect();
        let services = match change.after.others {
            0 => services_of(change.after),
            _ => pages::services_on_pages(transaction, incident.key).await?,
        };
        audience.pages = pages::pages_showing(transaction, &chosen, &services).await?;
    }
    Ok(Some(audience))
}

/// Returns the possible recipients of a message that services have recovered from an incident while others have not.
pub(super) async fn of_recovery(
    transaction: &Transaction,
    change: &IncidentTransition<'_>,
) -> Result<Option<IncidentAudience>, MainError> {
    let incident = &change.after.incident;
    let Some(mut audience) = nobody(transaction, incident).await? else { return Ok(None) };
    audience.channels = channels(transaction, incident.organisation, incident.id, change.at).await?;
    read_messages(transaction, change, &mut audience.channels).await?;
    Ok(Some(audience))
}

/// Returns the possible recipients of a step of the escalation of an incident; `None` when the organisation no longer
/// exists.
pub(super) async fn of_step(
    transaction: &Transaction,
    incident: &Incident,
    now: Timestamp,
) -> Result<Option<IncidentAudience>, MainError> {
    let Some(audience) = nobody(transaction, incident).await? else { return Ok(None) };
    let channels = channels(transaction, incident.organisation, incident.id, now).await?;
    Ok(Some(IncidentAudience { channels, ..audience }))
}

async fn nobody(
    transaction: &Transaction,
    incident: &Incident,
) -> Result<Option<IncidentAudience>, MainError> {
    let organisation = organisations::get(transaction, incident.organisation).await?;
    Ok(organisation.map(|organisation| IncidentAudience {
        organisation,
        channels: Vec::new(),
        contacts: Vec::new(),
        policies: Vec::new(),
        followed: None,
        concerned: RoutingKeys::default(),
        pages: Vec::new(),
    }))
}

/// Returns the enabled channels of an organisation, and the channels to which messages about a subject were written,
/// sorted by key.
pub(super) async fn channels(
    transaction: &Transaction,
    organisation: i64,
    subject: Id,
    now: Timestamp,
) -> Result<Vec<ChannelAudience>, MainError> {
    let mut channels = notification_channels::enabled(transaction, organisation).await?;
    let mut written = outbox::newest_about(transaction, organisation, subject).await?;
    let enabled: BTreeSet<i64> = channels.iter().map(|channel| channel.key).collect();
    let others: Vec<i64> = written.keys().filter(|key| !enabled.contains(key)).copied().collect();
    if !others.is_empty() {
        channels.extend(notification_channels::with_keys(transaction, &others).await?);
        channels.sort_by_key(|channel| channel.key);
    }
    let mut found = Vec::with_capacity(channels.len());
    for channel in channels {
        let written = written.remove(&channel.key).unwrap_or_default();
        let recent = recent_messages(transaction, &channel, now).await?;
        found.push(ChannelAudience {
            channel,
            written,
            recent,
            severities: BTreeMap::new(),
            batches: Vec::new(),
        });
    }
    Ok(found)
}

/// Reads the messages on which the decision depends: if the severity rises, the last message to each channel and contact;
/// and held messages to which more services are added.
async fn read_messages(
    transaction: &Transaction,
    change: &IncidentTransition<'_>,
    channels: &mut [ChannelAudience],
) -> Result<(), MainError> {
    let keys: BTreeSet<i64> = channels
        .iter()
        .flat_map(|channel_audience| [newest(channel_audience, change), batches(channel_audience, change)])
        .flatten()
        .collect();
    let keys: Vec<i64> = keys.into_iter().collect();
    let messages = outbox::messages_of(transaction, &keys).await?;
    for channel_audience in channels {
        let severity = |key| Some((key, messages.get(&key)?.severity()?));
        channel_audience.severities =
            newest(channel_audience, change).into_iter().filter_map(severity).collect();
        let batch = |key| Some(HeldBatch { key, message: messages.get(&key)?.clone() });
        channel_audience.batches = batches(channel_audience, change).into_iter().filter_map(batch).collect();
    }
    Ok(())
}

/// Returns the newest message of each recipient of a channel, by its key; empty unless the severity rises.
fn newest(channel_audience: &ChannelAudience, change: &IncidentTransition<'_>) -> BTreeSet<i64> {
    let recipients = channel_audience.recipients().into_iter().filter(|_| change.is_rise());
    recipients.filter_map(|contact| channel_audience.newest(contact)).map(|written| written.key).collect()
}

/// Returns the held messages of a channel to which more services can be added, by their keys.
fn batches(channel_audience: &ChannelAudience, change: &IncidentTransition<'_>) -> BTreeSet<i64> {
    let events = [NotificationEvent::IncidentServiceJoined, NotificationEvent::IncidentServiceRecovered];
    let open = |contact| events.map(|event| channel_audience.open_batch(event, contact, change.at));
    channel_audience.recipients().into_iter().flat_map(open).flatten().collect()
}

async fn recent_messages(
    transaction: &Transaction,
    channel: &NotificationChannel,
    now: Timestamp,
) -> Result<RecentMessages, MainError> {
    match channel.routing.digest_above.filter(|_| channel.is_enabled) {
        Some(most) => holds::recent(transaction, channel.key, most, now).await,
        None => Ok(RecentMessages::default()),
    }
}

/// Returns the contacts that escalation steps have notified of the incident: the contacts that messages name, and all
/// contacts of the organisation if one message was for several of them.
async fn notified_contacts(
    transaction: &Transaction,
    organisation: i64,
    channels: &[ChannelAudience],
) -> Result<Vec<Contact>, MainError> {
    let steps = |channel_audience: &ChannelAudience| -> Vec<WrittenMessage> {
        channel_audience.written.iter().filter(|written| written.is_step_or_end()).copied().collect()
    };
    let is_for_several = |channel_audience: &ChannelAudience| {
        !channel_audience.channel.has_mailboxes()
            && steps(channel_audience).iter().any(|step| step.contact.is_none())
    };
    let mut contacts = if channels.iter().any(is_for_several) {
        contacts::all(transaction, organisation).await?
    } else {
        let named = channels.iter().flat_map(steps).filter_map(|step| step.contact);
        let named: BTreeSet<i64> = named.collect();
        contacts::with_keys(transaction, &named.into_iter().collect::<Vec<i64>>()).await?
    };
    contacts.sort_by_key(|contact| contact.key);
    Ok(contacts)
}

/// Returns the services of an incident and their tags. Of a partly read incident, only the services that were read are
/// returned, unless the incident became more severe: subscribers of the other services were notified when those joined.
async fn concerned(
    transaction: &Transaction,
    change: &IncidentTransition<'_>,
) -> Result<RoutingKeys, MainError> {
    let services = if change.after.others > 0 && change.is_rise() {
        excerpt::services_of(transaction, change.after.incident.key).await?
    } else {
        services_of(change.after)
    };
    concerned_services(transaction, services).await
}

/// Returns these services and their tags.
pub(super) async fn concerned_services(
    transaction: &Transaction,
    services: Vec<ServiceKey>,
) -> Result<RoutingKeys, MainError> {
    Ok(RoutingKeys { tags: tags::keys_of_services(transaction, &services).await?, services })
}

fn services_of(whole: &WholeIncident) -> Vec<ServiceKey> {
    whole.services.iter().map(|affected| affected.service).collect()
}
