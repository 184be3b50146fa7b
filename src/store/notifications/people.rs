//! What contacts are told, by their own channels and in their own language: steps of escalations, and the end of what a step
//! told them of.
//!
//! Whoever is on duty is told at any hour; a contact that a step names itself is left alone in its quiet hours.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::notification_delivery::{Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::model::incident::{Severity, WholeIncident};
use crate::model::notification::digest::{HeldBy, Hold};
use crate::model::notification::{Channel, Event};
use crate::store::{MainError, contacts, notification_channels};

/// Somebody whom a step of an escalation reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The contact.
    pub contact: Contact,
    /// True if a schedule puts it on duty; false if the step names it itself.
    pub is_on_duty: bool,
}

/// A message that is to be written for a channel.
pub(super) struct Planned<'a> {
    pub(super) channel: &'a Channel,
    /// For whom it is; `None` = for whoever reads the channel.
    pub(super) contact: Option<&'a Contact>,
    /// What holds it.
    pub(super) hold: Option<Hold>,
}

impl<'a> Planned<'a> {
    /// The message for whoever reads a channel; nothing holds a step of an escalation there.
    pub(super) const fn for_channel(channel: &'a Channel) -> Self {
        Self { channel, contact: None, hold: None }
    }
}

impl Reached {
    /// What is told to somebody through those of its channels that are switched on.
    pub(super) fn planned<'a>(
        &'a self,
        enabled: &'a [Channel],
        (severity, now): (Severity, Timestamp),
    ) -> impl Iterator<Item = Planned<'a>> {
        let hold = if self.is_on_duty { None } else { held(&self.contact, severity, now) };
        let own = |channel: &&Channel| self.contact.channels.iter().any(|own| own.key == channel.key);
        let planned = move |channel| Planned { channel, contact: Some(&self.contact), hold };
        enabled.iter().filter(own).map(planned)
    }
}

/// Each message once: one that leaves now is preferred to one that waits, and where a channel has no mailboxes of its own for
/// contacts, one message is for all. It is for whoever reads the channel then, so that it stays when one of them goes.
pub(super) fn each_once<'a>(planned: impl Iterator<Item = Planned<'a>>) -> Vec<Planned<'a>> {
    let mut planned: Vec<Planned<'a>> = planned.collect();
    planned.sort_by_key(|planned| planned.hold.is_some());
    let key = |planned: &Planned<'_>| planned.contact.map(|contact| contact.key);
    let mut meant: HashMap<i64, HashSet<Option<i64>>> = HashMap::new();
    for planned in planned.iter().filter(|planned| !planned.channel.has_mailboxes()) {
        meant.entry(planned.channel.key).or_default().insert(key(planned));
    }
    for planned in &mut planned {
        if meant.get(&planned.channel.key).is_some_and(|meant| meant.len() > 1) {
            planned.contact = None;
        }
    }
    let mut seen = HashSet::new();
    planned.retain(|planned| {
        let contact = planned.contact.filter(|_| planned.channel.has_mailboxes());
        seen.insert((planned.channel.key, contact.map(|contact| contact.key)))
    });
    planned
}

/// The contacts that were told of an incident by a step and not yet of its end, with the channels by which they were, and what
/// holds the end. What came in quiet hours because the contact was on duty ends in them as well.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub(super) async fn waiting_for_end(
    connection: &impl ConnectionTrait,
    whole: &WholeIncident,
    now: Timestamp,
) -> Result<Vec<(Contact, i64, Option<Hold>)>, MainError> {
    let incident = &whole.incident;
    let by_step = Column::Event.is_in([Event::IncidentEscalated, Event::IncidentResolved].map(Event::as_str));
    let rows = Entity::find()
        .filter(Column::Subject.eq(incident.id.as_str()))
        .filter(Column::OrganisationId.eq(incident.organisation))
        .filter(Condition::any().add(Column::ContactId.is_not_null()).add(by_step))
        .order_by_asc(Column::Id)
        .all(connection)
        .await?;
    let (own, shared): (Vec<Model>, Vec<Model>) = rows.into_iter().partition(|row| row.contact_id.is_some());
    let mut newest: BTreeMap<(i64, i64), Model> = BTreeMap::new();
    for (contact, row) in for_several(connection, incident.organisation, shared).await? {
        newest.insert((contact, row.channel_id), row);
    }
    for row in own {
        let Some(key) = row.contact_id.map(|contact| (contact, row.channel_id)) else { continue };
        if newest.get(&key).is_none_or(|known| known.id < row.id) {
            newest.insert(key, row);
        }
    }
    let keys: Vec<i64> = newest.keys().map(|(contact, _)| *contact).collect();
    let contacts = contacts::with_keys(connection, &keys).await?;
    let mut waiting = Vec::new();
    for ((key, channel), row) in newest {
        let Some(contact) = contacts.iter().find(|contact| contact.key == key) else { continue };
        if row.event == Event::IncidentResolved.as_str() {
            continue;
        }
        let told_at = Timestamp::from_ms(row.created_at);
        let was_woken = row.held_until.is_none() && held(contact, incident.severity, told_at).is_some();
        let hold = if was_woken { None } else { held(contact, incident.severity, now) };
        waiting.push((contact.clone(), channel, hold));
    }
    Ok(waiting)
}

/// Messages that were for several contacts at once, with each of those who have such a channel still; in their order.
async fn for_several(
    connection: &impl ConnectionTrait,
    organisation: i64,
    shared: Vec<Model>,
) -> Result<Vec<(i64, Model)>, MainError> {
    if shared.is_empty() {
        return Ok(Vec::new());
    }
    let channels = notification_channels::enabled(connection, organisation).await?;
    let channels = channels.iter().filter(|channel| !channel.has_mailboxes()).map(|channel| channel.key);
    let channels: BTreeSet<i64> = channels.collect();
    let contacts = contacts::all(connection, organisation).await?;
    let mut found = Vec::new();
    for row in shared.into_iter().filter(|row| channels.contains(&row.channel_id)) {
        let has_it = |contact: &&Contact| contact.channels.iter().any(|own| own.key == row.channel_id);
        found.extend(contacts.iter().filter(has_it).map(|contact| (contact.key, row.clone())));
    }
    Ok(found)
}

/// What holds a message for a contact that is told now.
fn held(contact: &Contact, severity: Severity, now: Timestamp) -> Option<Hold> {
    let until = contact.quiet.as_ref()?.held_until(severity, now)?;
    Some(Hold { until, by: HeldBy::QuietHours })
}
