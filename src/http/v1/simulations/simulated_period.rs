//! Computes a period twice, as recorded and as simulated, and how well a replay with the present settings agrees with the
//! record. All functions are pure: the rules are in `model`, the arithmetic is in `stats`.

use crate::clock::Timestamp;
use crate::http::v1::simulations::draft::{DecisionSettings, SimulationRequest};
use crate::http::v1::simulations::recorded_history::RecordedHistory;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::service::OverrideStatus;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::simulation::{
    CheckReplay, HistoryBreak, HypotheticalIncident, IncidentSimulation, PriorStatus, RecordedCadence,
    RecordedCheck, ReplayLimitExceeded, ReplayedChange, StatusComparison, compare,
};
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{cover, covers, measured, total};

/// A period of a service's past: as recorded, and as it would have been with other settings.
pub(super) struct SimulationResult {
    pub(super) period: TimeRange,
    pub(super) locations: Vec<ReplayedLocation>,
    pub(super) before: SimulatedPeriod,
    pub(super) after: SimulatedPeriod,
    /// Comparison of the recorded status with a replay that uses the present settings.
    pub(super) fidelity: StatusComparison,
}

/// A location with results, or with simulated checks.
pub(super) struct ReplayedLocation {
    pub(super) code: String,
    pub(super) results: usize,
    /// True if the location has simulated checks.
    pub(super) is_used: bool,
}

/// The period, as recorded or as simulated.
pub(super) struct SimulatedPeriod {
    /// The status at the start of the period.
    pub(super) began_as: MeasuredStatus,
    /// Status changes within the period.
    pub(super) changes: Vec<StatusChange>,
    pub(super) incidents: Vec<HypotheticalIncident>,
    pub(super) times: PeriodSums,
}

/// Sums over a period, in milliseconds; `uptime` is in per cent.
pub(super) struct PeriodSums {
    pub(super) uptime: Option<f64>,
    pub(super) down: i64,
    pub(super) degraded: i64,
    pub(super) no_data: i64,
    pub(super) left_out: i64,
}

/// A sequence of status changes, and the time until which results confirm the last status.
struct BackedStatusLine<'a> {
    changes: &'a [StatusChange],
    backed_until: Timestamp,
}

pub(super) fn simulate_period(
    question: &SimulationRequest,
    past: &RecordedHistory,
) -> Result<SimulationResult, ReplayLimitExceeded> {
    let period = question.period;
    let before = recorded(period, past);
    let (after, _) = replayed(question, past, &question.draft)?;
    let (_, present) = replayed(question, past, &question.present)?;
    let fidelity = compare(&past.changes, &present, period);
    Ok(SimulationResult { period, locations: locations(question, past), before, after, fidelity })
}

fn recorded(period: TimeRange, past: &RecordedHistory) -> SimulatedPeriod {
    let line = BackedStatusLine { changes: &past.changes, backed_until: past.backed_until };
    let mut account = account(period, past, &line, past.incidents.clone());
    account.changes.extend(&past.flapping);
    account.changes.sort_by_key(|change| change.at);
    account
}

/// Replays the results with these settings; returns the simulated period, and all status changes since the origin.
fn replayed(
    question: &SimulationRequest,
    past: &RecordedHistory,
    decided: &DecisionSettings,
) -> Result<(SimulatedPeriod, Vec<StatusChange>), ReplayLimitExceeded> {
    let SimulationRequest { period, origin, present, .. } = question;
    let range = TimeRange { from: *origin, to: period.to };
    let known = known_at(past, *origin);
    let of = |code: &String| past.seen.get(code).map_or(&[][..], Vec::as_slice);
    let replay = CheckReplay {
        service: past.service,
        plan: decided.plan.clone(),
        rhythm: RecordedCadence::of(&present.plan),
        seen: decided.locations.iter().map(of).collect::<Vec<&[RecordedCheck]>>(),
        known,
        breaks: &breaks(past),
    };
    let done = replay.run(range)?;
    let case = IncidentSimulation {
        service: past.service,
        known,
        rules: decided.rules.as_ref(),
        windows: &past.windows,
    };
    let mut incidents = case.incidents(&done.status_changes, range);
    incidents.retain(|incident| {
        incident.opened_at >= period.from || incident.resolved_at.is_none_or(|end| end > period.from)
    });
    let (flapping, mut changes): (Vec<StatusChange>, Vec<StatusChange>) = done
        .status_changes
        .iter()
        .map(|ReplayedChange { change, .. }| *change)
        .partition(|change| change.cause.is_about_flapping());
    changes.sort_by_key(|change| change.at);
    changes.splice(0..0, beginning(past, &known));
    let backed_until = done.measured_until.unwrap_or(*origin);
    let mut account =
        account(*period, past, &BackedStatusLine { changes: &changes, backed_until }, incidents);
    account.changes.extend(flapping.iter().filter(|change| period.contains(change.at)));
    account.changes.sort_by_key(|change| change.at);
    Ok((account, changes))
}

/// Returns the status at the origin as a change; `None` if it is unknown since when the service has it.
fn beginning(past: &RecordedHistory, known: &PriorStatus) -> Option<StatusChange> {
    let (at, service) = (known.since?, past.service);
    Some(StatusChange {
        service,
        at,
        from: MeasuredStatus::Unknown,
        to: known.status,
        cause: ChangeCause::Votes,
    })
}

fn known_at(past: &RecordedHistory, origin: Timestamp) -> PriorStatus {
    let last = past.changes.iter().rfind(|change| change.at < origin);
    last.map_or_else(PriorStatus::default, |last| PriorStatus { status: last.to, since: Some(last.at) })
}

/// Returns when the service was paused, or had its target changed.
fn breaks(past: &RecordedHistory) -> Vec<HistoryBreak> {
    let ends =
        |change: &&StatusChange| matches!(change.cause, ChangeCause::Paused | ChangeCause::Reconfigured);
    past.changes
        .iter()
        .filter(ends)
        .map(|change| HistoryBreak { at: change.at, cause: change.cause })
        .collect()
}

fn account(
    period: TimeRange,
    past: &RecordedHistory,
    line: &BackedStatusLine<'_>,
    incidents: Vec<HypotheticalIncident>,
) -> SimulatedPeriod {
    let begun = line.changes.iter().rfind(|change| change.at <= period.from);
    let within = line.changes.iter().filter(|change| period.from < change.at && change.at < period.to);
    SimulatedPeriod {
        began_as: begun.map_or(MeasuredStatus::Unknown, |change| change.to),
        changes: within.copied().collect(),
        incidents,
        times: times(period, &past.windows, line),
    }
}

/// Computes the sums of a period. Uptime is computed as for `GET /v1/services/{id}/uptime`.
fn times(period: TimeRange, windows: &[ServiceWindow], line: &BackedStatusLine<'_>) -> PeriodSums {
    let spans = measured(line.changes, line.backed_until, period);
    let counted = total(&cover(&spans, &covers(windows, period.to)));
    let nothing = |window: &ServiceWindow| ServiceWindow { kind: WindowKind::Maintenance, ..*window };
    let left_out: Vec<ServiceWindow> = windows.iter().map(nothing).collect();
    let left_out = covers(&left_out, period.to);
    // Returns the time with one of these statuses, outside of all windows.
    let spent = |is_one: fn(MeasuredStatus) -> bool| {
        let mark = |change: &StatusChange| {
            let to = if is_one(change.to) { MeasuredStatus::Down } else { MeasuredStatus::NoData };
            StatusChange { to, ..*change }
        };
        let marked: Vec<StatusChange> = line.changes.iter().map(mark).collect();
        total(&cover(&measured(&marked, line.backed_until, period), &left_out)).down_ms
    };
    let is_known =
        |status: MeasuredStatus| !matches!(status, MeasuredStatus::Unknown | MeasuredStatus::NoData);
    let all = [crate::stats::uptime::ClassifiedSpan {
        from: period.from,
        to: period.to,
        counts: OverrideStatus::Up.into(),
    }];
    let inside = total(&cover(&all, &left_out)).up_ms;
    PeriodSums {
        uptime: counted.percent(),
        down: counted.down_ms,
        degraded: spent(|status| status == MeasuredStatus::Degraded),
        no_data: inside - spent(is_known),
        left_out: period.to.ms_since(period.from) - inside,
    }
}

fn locations(question: &SimulationRequest, past: &RecordedHistory) -> Vec<ReplayedLocation> {
    let used = &question.draft.locations;
    let seen = past.seen.iter().map(|(code, seen)| ReplayedLocation {
        code: code.clone(),
        results: seen.len(),
        is_used: used.contains(code),
    });
    let unseen = used.iter().filter(|code| !past.seen.contains_key(*code));
    seen.chain(unseen.map(|code| ReplayedLocation { code: code.clone(), results: 0, is_used: true }))
        .collect()
}
