//! What contacts are told, by their own channels and in their own language: steps of escalations, and the end of what a step
//! told them of.
//!
//! Whoever is on duty is told at any hour; a contact that a step names itself is left alone in its quiet hours.

use std::collections::{BTreeMap, HashSet};

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::model::incident::{Severity, WholeIncident};
use crate::model::notification::digest::{HeldBy, Hold};
use crate::model::notification::{Channel, Event};
use crate::store::{MainError, contacts};

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
/// contacts, one message is for all.
pub(super) fn each_once<'a>(planned: impl Iterator<Item = Planned<'a>>) -> Vec<Planned<'a>> {
    let mut planned: Vec<Planned<'a>> = planned.collect();
    planned.sort_by_key(|planned| planned.hold.is_some());
    let mut seen = HashSet::new();
    planned.retain(|planned| {
        let contact = planned.contact.filter(|_| planned.channel.has_mailboxes());
        seen.insert((planned.channel.key, contact.map(|contact| contact.key)))
    });
    planned
}

/// The contacts that were told of an incident by a step, with the channels by which they were: they are told its end, unless
/// the channel itself has been `told` just now. What came in quiet hours because the contact was on duty ends in them as well.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub(super) async fn waiting_for_end(
    connection: &impl ConnectionTrait,
    whole: &WholeIncident,
    now: Timestamp,
) -> Result<Vec<(Contact, i64, Option<Hold>)>, MainError> {
    let incident = &whole.incident;
    let rows = Entity::find()
        .filter(Column::Subject.eq(incident.id.as_str()))
        .filter(Column::ContactId.is_not_null())
        .order_by_asc(Column::Id)
        .all(connection)
        .await?;
    let newest: BTreeMap<(i64, i64), _> = rows
        .into_iter()
        .filter_map(|row| Some(((row.contact_id?, row.channel_id), row)))
        .filter(|(_, row)| row.organisation_id == incident.organisation)
        .collect();
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

/// What holds a message for a contact that is told now.
fn held(contact: &Contact, severity: Severity, now: Timestamp) -> Option<Hold> {
    let until = contact.quiet.as_ref()?.held_until(severity, now)?;
    Some(Hold { until, by: HeldBy::QuietHours })
}
