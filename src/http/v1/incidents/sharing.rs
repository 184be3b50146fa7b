//! Incidents that concern more than a confined caller sees.
//!
//! Such a caller may read them, post to their timelines, and say which of its own services they affect. Whatever would change
//! them for others as well is refused, and what it does not see stays linked.

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::incidents::prose;
use crate::model::incident::{Affected, ChosenPage, Incident, WholeIncident};
use crate::model::translated::Translated;
use crate::store::{Connection, incidents};

/// An incident as its caller sees it: what an answer may show.
#[derive(Debug)]
pub(super) struct Seen(WholeIncident);

impl Seen {
    /// Reads what the caller sees of an incident.
    ///
    /// # Errors
    /// 503, 500.
    pub(super) async fn read(
        connection: &impl Connection,
        caller: &Caller,
        incident: Incident,
    ) -> Result<Self, ApiError> {
        let mut whole = incidents::whole(connection, caller.sight(), incident).await?;
        if caller.sight().is_confined() {
            name_seen_services(&mut whole, caller);
        }
        Ok(Self(whole))
    }

    /// Returns what may be shown.
    pub(super) const fn whole(&self) -> &WholeIncident {
        &self.0
    }
}

/// The part of an incident that its caller does not see; nothing for whoever sees the whole organisation.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    pub(super) services: Vec<Affected>,
    pub(super) statuspages: Vec<ChosenPage>,
    /// Entries in which the engine names services.
    entries: Vec<Id>,
    /// The title as its caller may read it; `None` = as it is.
    title: Option<Translated>,
}

impl Hidden {
    /// Reads which part of an incident the caller does not see.
    ///
    /// # Errors
    /// 503, 500.
    pub(super) async fn of(
        connection: &impl Connection,
        caller: &Caller,
        whole: &WholeIncident,
    ) -> Result<Self, ApiError> {
        if !caller.sight().is_confined() {
            return Ok(Self::default());
        }
        let Seen(seen) = Seen::read(connection, caller, whole.incident.clone()).await?;
        let services = whole.services.iter();
        let services = services.filter(|one| seen.services.iter().all(|other| other.service != one.service));
        let pages = whole.statuspages.iter();
        let pages = pages.filter(|one| seen.statuspages.iter().all(|other| other.key != one.key));
        let entries = whole.internal_updates.iter().map(|entry| entry.id);
        let entries =
            entries.filter(|id| seen.internal_updates.iter().all(|other| other.id != *id)).collect();
        let title = Some(seen.incident.title.clone());
        let (services, statuspages) = (services.cloned().collect(), pages.cloned().collect());
        Ok(Self { services, statuspages, entries, title })
    }

    /// Returns true if it concerns services that the caller does not see.
    pub(super) const fn is_shared(&self) -> bool {
        !self.services.is_empty()
    }

    /// Passes when the incident concerns nobody else.
    ///
    /// # Errors
    /// 403.
    pub(super) fn refuse_shared(&self) -> Result<(), ApiError> {
        if self.services.is_empty() { Ok(()) } else { Err(ApiError::Shared("incident")) }
    }

    /// Passes when a change of the incident concerns nobody else: it is not shared, or it changes only which services of the
    /// caller are affected.
    ///
    /// # Errors
    /// 403.
    pub(super) fn refuse_change(
        &self,
        before: &WholeIncident,
        after: &WholeIncident,
    ) -> Result<(), ApiError> {
        let services = before.services.clone();
        let otherwise = WholeIncident { services, ..after.clone() };
        if otherwise == *before { Ok(()) } else { self.refuse_shared() }
    }

    /// The incident as the caller sees it.
    pub(super) fn seen(&self, mut whole: WholeIncident) -> Seen {
        whole.services.retain(|one| self.services.iter().all(|hidden| hidden.service != one.service));
        whole.statuspages.retain(|one| self.statuspages.iter().all(|hidden| hidden.key != one.key));
        whole.internal_updates.retain(|entry| !self.entries.contains(&entry.id));
        if let Some(title) = self.title.clone().filter(|_| !self.services.is_empty()) {
            whole.incident.title = title;
        }
        Seen(whole)
    }
}

/// A title that the engine has written names services: for a confined caller only those that it sees.
fn name_seen_services(whole: &mut WholeIncident, caller: &Caller) {
    if whole.automation.is_some_and(|automation| !automation.edited.title) {
        whole.incident.title = seen_title(&whole.services, caller);
    }
}

/// The title of an incident of the engine, as if it affected these services alone.
fn seen_title(services: &[Affected], caller: &Caller) -> Translated {
    prose::title(services, prose::worst_impact(services), &caller.organisation)
}

/// Gives incidents in a list the titles that their caller may read.
///
/// # Errors
/// 503, 500.
pub(super) async fn retitle(
    connection: &impl Connection,
    caller: &Caller,
    rows: &mut [(Incident, Vec<Affected>)],
) -> Result<(), ApiError> {
    if !caller.sight().is_confined() {
        return Ok(());
    }
    let keys: Vec<i64> = rows.iter().map(|(incident, _)| incident.key).collect();
    let generated = incidents::automation::with_own_titles(connection, &keys).await?;
    for (incident, services) in rows.iter_mut().filter(|(incident, _)| generated.contains(&incident.key)) {
        incident.title = seen_title(services, caller);
    }
    Ok(())
}
