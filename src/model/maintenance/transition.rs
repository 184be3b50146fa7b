//! The effect of an operation on a maintenance: its new state, and its new entries on the timeline.
//!
//! Each operation is a plain function from the maintenance before to the maintenance after. It first checks whether the
//! state allows the operation. A transition by the clock is made only when it is due, so it cannot happen twice.

use crate::clock::Timestamp;
use crate::model::maintenance::{
    Maintenance, MaintenanceOperation, MaintenanceStateError, MaintenanceStatus, MaintenanceWindow, texts,
};
use crate::model::subscriber_fact::FactKind;
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;

/// The time of an operation, and the language in which generated texts are stored.
#[derive(Clone, Copy, Debug)]
pub struct OperationContext<'a> {
    /// Time of the operation.
    pub at: Timestamp,
    /// The default language of the organisation.
    pub locale: &'a str,
}

/// The event that a timeline entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintenanceMilestone {
    /// The maintenance was planned.
    Announced,
    /// The window was changed; with the state after the change.
    Moved(MaintenanceStatus),
    /// The work has started.
    Started,
    /// The work has ended.
    Completed,
    /// The work was called off.
    Cancelled,
}

/// A new entry of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTimelineEntry {
    /// The event that the entry records.
    pub happened: MaintenanceMilestone,
    /// The text of the entry.
    pub message: TranslatedText,
    /// True if subscribers are notified.
    pub notify_subscribers: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// A maintenance after an operation, with the timeline entries that the operation adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceTransition {
    /// The new state, to be stored.
    pub after: Maintenance,
    /// New entries, oldest first.
    pub entries: Vec<NewTimelineEntry>,
}

/// Whether a changed window gets an entry on the timeline, and whether subscribers are notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RescheduleOptions {
    /// Write an entry on the timeline; `post_update` in the API.
    pub is_posted: bool,
    /// Notify subscribers of the status pages; `notify_subscribers` in the API.
    pub notifies: bool,
}

/// The arguments of `extend`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceExtension {
    /// The window that replaces the present one.
    pub schedule: MaintenanceWindow,
    /// The text for the timeline; `None` = generated.
    pub message: Option<TranslatedText>,
    /// True if subscribers are notified.
    pub notifies: bool,
}

impl MaintenanceTransition {
    /// Announces a new maintenance. It starts at once if it starts automatically and its start has been reached.
    #[must_use]
    pub fn announce(
        maintenance: Maintenance,
        message: Option<TranslatedText>,
        stamp: OperationContext<'_>,
    ) -> Self {
        let generated = || texts::announced(maintenance.schedule);
        let notifies = maintenance.notices.announcement;
        let entry = stamp.entry(MaintenanceMilestone::Announced, message, generated, notifies);
        Self { after: maintenance, entries: vec![entry] }.begin_if_due(stamp)
    }

    /// Updates a maintenance from `before` to `after`. It starts at once if it starts automatically and its start has been
    /// reached.
    #[must_use]
    pub fn revise(
        before: &Maintenance,
        after: Maintenance,
        announcement: RescheduleOptions,
        stamp: OperationContext<'_>,
    ) -> Self {
        let mut entries = Vec::new();
        if announcement.is_posted && after.schedule != before.schedule {
            let generated = || texts::moved(after.schedule);
            entries.push(stamp.entry(
                MaintenanceMilestone::Moved(after.status),
                None,
                generated,
                announcement.notifies,
            ));
        }
        Self { after, entries }.begin_if_due(stamp)
    }

    /// Starts the work.
    ///
    /// # Errors
    /// [`MaintenanceStateError`] unless the maintenance is scheduled.
    pub fn start(before: &Maintenance, stamp: OperationContext<'_>) -> Result<Self, MaintenanceStateError> {
        before.allow(MaintenanceOperation::Start)?;
        Ok(Self { after: before.clone(), entries: Vec::new() }.begin(stamp))
    }

    /// Ends the work.
    ///
    /// # Errors
    /// [`MaintenanceStateError`] unless the maintenance is in progress.
    pub fn complete(
        before: &Maintenance,
        stamp: OperationContext<'_>,
    ) -> Result<Self, MaintenanceStateError> {
        before.allow(MaintenanceOperation::Complete)?;
        let status = MaintenanceStatus::Completed;
        let after = Maintenance { status, actual_end: Some(stamp.at), ..before.clone() };
        let text = || texts::COMPLETED.into();
        let entry = stamp.entry(MaintenanceMilestone::Completed, None, text, before.notices.complete);
        Ok(Self { after, entries: vec![entry] })
    }

    /// Calls the work off.
    ///
    /// # Errors
    /// [`MaintenanceStateError`] unless the maintenance is scheduled.
    pub fn cancel(before: &Maintenance, stamp: OperationContext<'_>) -> Result<Self, MaintenanceStateError> {
        before.allow(MaintenanceOperation::Cancel)?;
        let status = MaintenanceStatus::Cancelled;
        let after = Maintenance { status, ..before.clone() };
        let text = || texts::CANCELLED.into();
        let entry = stamp.entry(MaintenanceMilestone::Cancelled, None, text, before.notices.announcement);
        Ok(Self { after, entries: vec![entry] })
    }

    /// Replaces the window. The work continues, or is scheduled again if the new window starts in the future. An open end
    /// switches automatic completion off.
    ///
    /// # Errors
    /// [`MaintenanceStateError`] unless the maintenance is in progress or completed.
    pub fn extend(
        before: &Maintenance,
        extension: MaintenanceExtension,
        stamp: OperationContext<'_>,
    ) -> Result<Self, MaintenanceStateError> {
        before.allow(MaintenanceOperation::Extend)?;
        let MaintenanceExtension { schedule, message, notifies } = extension;
        let waits = schedule.start > stamp.at;
        let status = if waits { MaintenanceStatus::Scheduled } else { MaintenanceStatus::InProgress };
        let after = Maintenance {
            status,
            schedule,
            actual_start: if waits { None } else { before.actual_start.or(Some(stamp.at)) },
            actual_end: None,
            auto_complete: before.auto_complete && schedule.end.is_some(),
            ..before.clone()
        };
        let generated = || if waits { texts::moved(schedule) } else { texts::extended(schedule) };
        let entry = stamp.entry(MaintenanceMilestone::Moved(status), message, generated, notifies);
        Ok(Self { entries: vec![entry], after })
    }

    /// Returns the automatic start or completion that is due at this moment, if any. Never both at once.
    #[must_use]
    pub fn when_due(before: &Maintenance, stamp: OperationContext<'_>) -> Option<Self> {
        if starts_by_itself(before, stamp.at) {
            return Self::start(before, stamp).ok();
        }
        let is_over = before.schedule.end.is_some_and(|end| end <= stamp.at);
        if before.auto_complete && is_over { Self::complete(before, stamp).ok() } else { None }
    }

    /// Drops entries for which the timeline has no room. An entry about the end or the cancellation of the work may exceed
    /// the limits a little.
    #[must_use]
    pub fn fitted(mut self, mut size: TimelineSize) -> Self {
        self.entries.retain(|entry| {
            let tells_end =
                matches!(entry.happened, MaintenanceMilestone::Completed | MaintenanceMilestone::Cancelled);
            let has_room = size.has_room_for(&entry.message) || (tells_end && size.has_room_for_end());
            if has_room {
                size = size.with(&entry.message);
            }
            has_room
        });
        self
    }

    fn begin_if_due(self, stamp: OperationContext<'_>) -> Self {
        if starts_by_itself(&self.after, stamp.at) { self.begin(stamp) } else { self }
    }

    fn begin(mut self, stamp: OperationContext<'_>) -> Self {
        let status = MaintenanceStatus::InProgress;
        let notifies = self.after.notices.start;
        self.entries.push(stamp.entry(
            MaintenanceMilestone::Started,
            None,
            || texts::STARTED.into(),
            notifies,
        ));
        let after = Maintenance { status, actual_start: Some(stamp.at), ..self.after };
        Self { after, entries: self.entries }
    }
}

/// Returns true if the automatic start is due. A maintenance that was started or ended by hand is no longer scheduled.
fn starts_by_itself(maintenance: &Maintenance, now: Timestamp) -> bool {
    let waits = maintenance.status == MaintenanceStatus::Scheduled;
    waits && maintenance.auto_start && maintenance.schedule.start <= now
}

impl MaintenanceMilestone {
    /// The state that the entry shows.
    #[must_use]
    pub const fn status(self) -> MaintenanceStatus {
        match self {
            Self::Announced => MaintenanceStatus::Scheduled,
            Self::Moved(status) => status,
            Self::Started => MaintenanceStatus::InProgress,
            Self::Completed => MaintenanceStatus::Completed,
            Self::Cancelled => MaintenanceStatus::Cancelled,
        }
    }

    /// The kind of the fact that subscribers get.
    #[must_use]
    pub const fn fact(self) -> FactKind {
        match self {
            Self::Announced => FactKind::MaintenanceAnnounced,
            Self::Moved(_) => FactKind::MaintenanceMoved,
            Self::Started => FactKind::MaintenanceStarted,
            Self::Completed => FactKind::MaintenanceCompleted,
            Self::Cancelled => FactKind::MaintenanceCancelled,
        }
    }
}

impl OperationContext<'_> {
    fn entry(
        self,
        happened: MaintenanceMilestone,
        message: Option<TranslatedText>,
        generated: impl FnOnce() -> String,
        notify_subscribers: bool,
    ) -> NewTimelineEntry {
        let message = message.unwrap_or_else(|| TranslatedText::single(self.locale, generated()));
        NewTimelineEntry { happened, message, notify_subscribers, created_at: self.at }
    }
}

#[cfg(test)]
mod tests;
