//! An outage: a service is down, degraded or flapping, from the status change that starts this until the service is up
//! again.
//!
//! An outage is computed from the status changes of its service, one after the other in their order. Incident policies play
//! no part in that; they decide later whether and when the outage becomes an incident. While the status is unknown or there
//! is no data, for example in a pause, the outage neither ends nor becomes an incident.

pub mod decision;
pub mod first_edges;

use crate::clock::Timestamp;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::incident_policy::OutageKind;
use crate::model::outage::first_edges::FirstEdges;
use crate::model::service::ServiceKey;

/// The present outage of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Database key of its organisation.
    pub organisation: i64,
    /// The present kind of trouble; without data the last one before.
    pub kind: OutageKind,
    /// The time at which trouble of this kind began.
    pub began_at: Timestamp,
    /// The first status change into each kind of trouble since the service was last up. While the service flaps, a moment
    /// of being up clears all kinds except flapping.
    pub first_edges: FirstEdges,
    /// The time since which a flapping service has been down without a further change. `None` if it is not flapping or not
    /// down, and once it counts as down.
    pub down_since: Option<Timestamp>,
    /// False while there is no data or the status is unknown.
    pub is_measured: bool,
    /// True while the service is flapping: it changes between up and down too often.
    pub is_flapping: bool,
    /// The time at which the outage was reported to its incident; `None` while that is undecided.
    pub reported_at: Option<Timestamp>,
    /// Database key of the incident of the outage, if any.
    pub incident: Option<i64>,
    /// The time at which the service recovered; `None` unless the incident waits whether the recovery lasts.
    pub recovered_at: Option<Timestamp>,
    /// The time at which rechecks were requested: of its dependencies, or, while it is unreachable and its dependencies
    /// work again, of the service itself. `None` if none are under way.
    pub asked_at: Option<Timestamp>,
    /// The time until which the decision waits for the requested rechecks.
    pub held_until: Option<Timestamp>,
    /// The time at which the service began to fail behind a dependency that is down. Set until the service is checked after
    /// the recovery of the dependency; until then the outage gets no incident.
    pub unreachable_since: Option<Timestamp>,
    /// The time at which the outage is evaluated again; `None` = not before the next change.
    pub evaluate_at: Option<Timestamp>,
}

/// The effect of a status change on an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutageTransition {
    /// The outage that continues; `None` if there was none or it has ended.
    pub outage: Option<Outage>,
    /// True if the service was in trouble and is up again: it has recovered from all of its incidents.
    pub has_recovered: bool,
}

impl OutageTransition {
    const fn going_on(outage: Option<Outage>) -> Self {
        Self { outage, has_recovered: false }
    }
}

impl Outage {
    /// An outage that starts at `at`.
    #[must_use]
    pub const fn begun(organisation: i64, service: ServiceKey, kind: OutageKind, at: Timestamp) -> Self {
        Self {
            service,
            organisation,
            kind,
            began_at: at,
            first_edges: FirstEdges::starting(kind, at),
            down_since: None,
            is_measured: true,
            is_flapping: false,
            reported_at: None,
            incident: None,
            recovered_at: None,
            asked_at: None,
            held_until: None,
            unreachable_since: None,
            evaluate_at: Some(at),
        }
    }

    /// Applies a status change of a service of this organisation. Changes must be applied in the order in which they were
    /// recorded, each once.
    #[must_use]
    pub fn follow(outage: Option<Self>, organisation: i64, change: &StatusChange) -> OutageTransition {
        let StatusChange { service, at, to, cause, .. } = *change;
        if matches!(cause, ChangeCause::Imported | ChangeCause::Filled) {
            return OutageTransition::going_on(outage);
        }
        let kind = match (cause, to) {
            (ChangeCause::Flapping, _) => Some(OutageKind::Unstable),
            (_, MeasuredStatus::Down) => Some(OutageKind::Down),
            (_, MeasuredStatus::Degraded) => Some(OutageKind::Degraded),
            (_, MeasuredStatus::Up | MeasuredStatus::Unknown | MeasuredStatus::NoData) => None,
        };
        let Some(outage) = outage else {
            let begun = kind.map(|kind| Self::begun(organisation, service, kind, at));
            let begun = begun.map(|begun| match cause {
                ChangeCause::Flapping => begun.flapping(to, at),
                _ => begun,
            });
            return OutageTransition::going_on(begun);
        };
        let is_flapping = match cause {
            ChangeCause::Flapping => true,
            ChangeCause::Settled => false,
            _ => outage.is_flapping,
        };
        let outage = Self { is_flapping, ..outage };
        match (kind, to) {
            (None, MeasuredStatus::Up) if is_flapping => {
                OutageTransition::going_on(Some(outage.up_while_flapping(at)))
            }
            (None, MeasuredStatus::Up) => outage.recovered(at),
            (None, _) => OutageTransition::going_on(Some(outage.unmeasured())),
            (Some(kind), _) if cause == ChangeCause::Flapping => {
                OutageTransition::going_on(Some(outage.in_trouble(kind, at).flapping(to, at)))
            }
            (Some(kind), _) if is_flapping => {
                OutageTransition::going_on(Some(outage.in_trouble_while_flapping(kind, at)))
            }
            (Some(kind), _) => OutageTransition::going_on(Some(outage.in_trouble(kind, at))),
        }
    }

    /// Returns true if failures of dependent services may be caused by this one: it is down, flapping, or itself
    /// unreachable.
    #[must_use]
    pub fn hides_others(&self) -> bool {
        let is_bad = match self.kind {
            OutageKind::Down | OutageKind::Unstable => true,
            OutageKind::Degraded => self.unreachable_since.is_some(),
        };
        is_bad && self.is_measured && self.recovered_at.is_none()
    }

    /// Returns true while one of its dependencies is down, and until the service is checked after the recovery of that
    /// dependency.
    #[must_use]
    pub const fn is_unreachable(self) -> bool {
        self.unreachable_since.is_some()
    }

    /// Returns true if the outage has not been reported to an incident since it started or became worse.
    #[must_use]
    pub const fn is_unreported(&self) -> bool {
        self.reported_at.is_none()
    }

    /// Returns true while there is something to decide: the outage is unreported, or it was reported as flapping and the
    /// service has been down since.
    #[must_use]
    pub const fn is_undecided(&self) -> bool {
        self.is_unreported() || self.down_since.is_some()
    }

    /// The outage after its report to the incident with this key. It is not evaluated again before the next change, unless
    /// it flaps and may turn out to be down.
    #[must_use]
    pub const fn mark_reported(self, incident: Option<i64>, now: Timestamp) -> Self {
        let evaluate_at = if self.down_since.is_some() { Some(now) } else { None };
        Self { reported_at: Some(now), incident, evaluate_at, ..self }
    }

    /// The outage as a result of a dependency that is down: unreachable since it began, and evaluated again at
    /// `evaluate_at`.
    #[must_use]
    pub const fn unreachable(self, evaluate_at: Timestamp) -> Self {
        let unreachable_since = Some(self.began_at);
        Self { unreachable_since, evaluate_at: Some(evaluate_at), ..self.clear_recheck_request() }
    }

    /// The outage while one of its dependencies is still down, or down again; evaluated again at `evaluate_at`.
    #[must_use]
    pub const fn keep_unreachable(self, evaluate_at: Timestamp) -> Self {
        Self { evaluate_at: Some(evaluate_at), ..self.clear_recheck_request() }
    }

    /// The outage after rechecks were requested at `now`: of the service itself if its dependencies work again, otherwise
    /// of the dependencies. The decision waits for them until `held_until` at most.
    #[must_use]
    pub const fn mark_recheck_requested(self, now: Timestamp, held_until: Timestamp) -> Self {
        Self { asked_at: Some(now), held_until: Some(held_until), ..self }
    }

    /// The outage of a service that still fails although its dependencies work again. It starts again at `now`, as an outage
    /// of its own.
    #[must_use]
    pub const fn become_own_outage(self, now: Timestamp) -> Self {
        let first_edges = FirstEdges::starting(self.kind, now);
        let (first_edges, down_since) = match self.down_since {
            Some(_) => (first_edges.with(OutageKind::Down, now), Some(now)),
            None => (first_edges, None),
        };
        let own = Self { began_at: now, first_edges, down_since, unreachable_since: None, ..self };
        Self { evaluate_at: Some(now), ..own.clear_recheck_request() }
    }

    /// The outage while there is no data. Whether its dependencies are the cause is unknown then, too.
    const fn unmeasured(self) -> Self {
        let blind = Self { is_measured: false, down_since: None, unreachable_since: None, ..self };
        Self { evaluate_at: blind.next_check_unless_reported(), ..blind.clear_recheck_request() }
    }

    /// The outage when flapping starts, with this status. A service that flaps may also stay down.
    const fn flapping(self, to: MeasuredStatus, at: Timestamp) -> Self {
        let flapping = Self { is_flapping: true, ..self };
        match to {
            MeasuredStatus::Down => Self {
                first_edges: self.first_edges.with(OutageKind::Down, at),
                down_since: Some(at),
                evaluate_at: Some(at),
                ..flapping
            },
            MeasuredStatus::Up => Self { first_edges: self.first_edges.of_flapping(), ..flapping },
            _ => flapping,
        }
    }

    /// The outage while the service flaps and is up for a moment. All kinds of trouble except flapping are cleared.
    const fn up_while_flapping(self, at: Timestamp) -> Self {
        let evaluate_at = if self.is_unreported() { Some(at) } else { self.next_check_unless_reported() };
        let first_edges = self.first_edges.of_flapping();
        Self {
            kind: OutageKind::Unstable,
            is_measured: true,
            first_edges,
            down_since: None,
            evaluate_at,
            ..self
        }
    }

    /// The outage while the service flaps and has this kind of trouble. A service that is down may stay down, so it is
    /// evaluated again.
    fn in_trouble_while_flapping(self, kind: OutageKind, at: Timestamp) -> Self {
        let known = if self.may_be_new_outage() { self.first_edges.of_flapping() } else { self.first_edges };
        let is_down = kind == OutageKind::Down;
        // The outage was taken as recovered because no policy wants a flapping service. It must not end an incident that
        // may have to continue.
        let resumed = if is_down && self.recovered_at.is_some() {
            Self { reported_at: None, recovered_at: None, ..self }
        } else {
            self
        };
        let evaluate_at =
            if is_down || resumed.is_unreported() { Some(at) } else { resumed.next_check_unless_reported() };
        Self {
            kind: OutageKind::Unstable,
            is_measured: true,
            first_edges: known.with(kind, at),
            down_since: is_down.then_some(at),
            evaluate_at,
            ..resumed
        }
    }

    /// The time of the next evaluation; `None` if the outage was reported and has not recovered.
    const fn next_check_unless_reported(&self) -> Option<Timestamp> {
        if self.is_unreported() || self.recovered_at.is_some() { self.evaluate_at } else { None }
    }

    /// Returns true if the outage may have ended and started again without data: it is unmeasured and was never reported.
    const fn may_be_new_outage(&self) -> bool {
        !self.is_measured && self.is_unreported() && self.incident.is_none()
    }

    /// The outage with trouble of this kind, which may be new, back, or the same as before.
    fn in_trouble(self, kind: OutageKind, at: Timestamp) -> Self {
        let is_relapse = self.recovered_at.is_some();
        let is_worse = kind > self.kind || (kind == OutageKind::Unstable && self.kind != kind);
        // An outage that started before a no-data period may have ended in it.
        let began_anew = self.may_be_new_outage();
        // A reported outage is not reported again; an incident about a worse kind starts when that kind started.
        let is_new = is_relapse || began_anew || (is_worse && !self.is_unreported());
        let first_edges = match is_new {
            // A service that flapped may have been down for some time.
            true if kind == OutageKind::Down => FirstEdges::starting(kind, self.down_since.unwrap_or(at)),
            true => FirstEdges::starting(kind, at),
            false => self.first_edges.with(kind, at),
        };
        let known =
            Self { kind, first_edges, down_since: None, is_measured: true, recovered_at: None, ..self };
        if is_relapse || is_worse {
            // The worse state may be the result of the requested check.
            let known = if self.is_unreachable() { known } else { known.clear_recheck_request() };
            return Self { began_at: at, reported_at: None, evaluate_at: Some(at), ..known };
        }
        if !self.is_unreported() {
            return Self { evaluate_at: None, ..known };
        }
        let known = if began_anew { Self { began_at: at, ..known.clear_recheck_request() } } else { known };
        Self { evaluate_at: Some(at), ..known }
    }

    /// The outage without a pending recheck request.
    const fn clear_recheck_request(self) -> Self {
        Self { asked_at: None, held_until: None, ..self }
    }

    fn recovered(self, at: Timestamp) -> OutageTransition {
        let waits = self.incident.is_some();
        let recovered = Self {
            is_measured: true,
            down_since: None,
            reported_at: self.reported_at.or(Some(at)),
            recovered_at: self.recovered_at.or(Some(at)),
            asked_at: None,
            held_until: None,
            unreachable_since: None,
            evaluate_at: Some(at),
            ..self
        };
        OutageTransition { outage: waits.then_some(recovered), has_recovered: self.recovered_at.is_none() }
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
