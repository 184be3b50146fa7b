//! The report of an SLA target as JSON.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, boolean, enum_of, id, number, percent_or_null, timestamp, view,
};
use crate::http::v1::named::NamedView;
use crate::http::v1::sla_targets::view::SlaTargetView;
use crate::id::Id;
use crate::model::sla::budget::ErrorBudget;
use crate::model::sla::burn::{BurnRateReading, BurnState, state};
use crate::sla_reports::{ServiceReport, SlaReport};
use crate::stats::sla::calculation::SlaCalculation;
use crate::stats::sla::{ExclusionReason, SlaInterval, SlaSums, SlaTimeClass};
use crate::stats::uptime::Availability;

/// The report about an SLA target over a period.
#[derive(Serialize, ToSchema)]
pub(super) struct ReportView<'a> {
    target: SlaTargetView<'a>,
    #[schema(inline)]
    period: ReportPeriodView,
    #[schema(inline)]
    total: FiguresView,
    #[schema(schema_with = burn, required)]
    burn: Option<BurnView>,
    #[schema(inline)]
    services: Vec<ReportServiceView<'a>>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct ReportPeriodView {
    #[schema(schema_with = timestamp)]
    from: Timestamp,
    #[schema(schema_with = timestamp)]
    to: Timestamp,
    /// End of the evaluated time: the end of the period, or the time of the report.
    #[schema(schema_with = timestamp)]
    until: Timestamp,
    is_over: bool,
}

/// The figures of one service, or of all services together.
#[derive(Serialize, ToSchema)]
pub(super) struct FiguresView {
    /// Availability in per cent of the measured time, cut to three decimals; null if nothing was measured.
    #[schema(schema_with = percent_or_null, required)]
    pub(super) availability: Option<f64>,
    /// True while the error budget is not overdrawn; null if nothing was measured.
    #[schema(schema_with = judgement, required)]
    pub(super) is_met: Option<bool>,
    pub(super) up_seconds: f64,
    pub(super) down_seconds: f64,
    /// Seconds of agreed time without checks.
    pub(super) unmeasured_seconds: f64,
    /// Seconds of agreed time that are excluded: planned maintenances, pauses, and time in which a service was unreachable.
    pub(super) left_out_seconds: f64,
    /// Seconds of agreed time in the future part of the period.
    pub(super) to_come_seconds: f64,
    pub(super) outages: usize,
    #[schema(inline)]
    pub(super) error_budget: BudgetView,
    /// Speed at which the error budget is used; 1 uses exactly the budget of the period. Null if nothing was measured.
    #[schema(schema_with = rate, required)]
    pub(super) burn_rate: Option<f64>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct BudgetView {
    pub(super) total_seconds: f64,
    pub(super) used_seconds: f64,
    /// Seconds of budget left; negative when the budget is overdrawn.
    pub(super) left_seconds: f64,
}

/// The current burn rates of the error budget.
#[derive(Serialize, ToSchema)]
pub(super) struct BurnView {
    #[schema(schema_with = burn_state)]
    pub(super) state: &'static str,
    #[schema(inline)]
    rules: Vec<BurnRuleView>,
}

#[derive(Serialize, ToSchema)]
struct BurnRuleView {
    #[schema(schema_with = burn_state)]
    state: &'static str,
    long_seconds: f64,
    short_seconds: f64,
    /// The burn rate that both windows must reach for the rule to fire.
    threshold: f64,
    #[schema(schema_with = rate, required)]
    long_burn_rate: Option<f64>,
    #[schema(schema_with = rate, required)]
    short_burn_rate: Option<f64>,
    is_firing: bool,
}

#[derive(Serialize, ToSchema)]
struct ReportServiceView<'a> {
    service: NamedView<'a>,
    #[schema(inline)]
    figures: FiguresView,
    #[schema(inline)]
    outages: Vec<OutageView>,
    #[schema(inline)]
    left_out: Vec<LeftOutView>,
    /// Incidents that count as downtime.
    #[schema(inline)]
    incidents: Vec<ReportIncidentView>,
}

#[derive(Serialize, ToSchema)]
struct OutageView {
    #[schema(schema_with = timestamp)]
    from: Timestamp,
    #[schema(schema_with = timestamp)]
    to: Timestamp,
    /// Seconds of agreed time in the outage.
    down_seconds: f64,
}

#[derive(Serialize, ToSchema)]
struct LeftOutView {
    #[schema(schema_with = timestamp)]
    from: Timestamp,
    #[schema(schema_with = timestamp)]
    to: Timestamp,
    /// Seconds of agreed time in the interval.
    seconds: f64,
    #[schema(schema_with = reason)]
    reason: &'static str,
}

#[derive(Serialize, ToSchema)]
struct ReportIncidentView {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = timestamp)]
    from: Timestamp,
    #[schema(schema_with = timestamp)]
    to: Timestamp,
}

impl<'a> ReportView<'a> {
    /// Creates the view of a report.
    pub(super) fn of(report: &'a SlaReport) -> Self {
        let judged = &report.judged;
        Self {
            target: SlaTargetView::of(&report.target),
            period: ReportPeriodView {
                from: judged.period.from,
                to: judged.period.to,
                until: judged.until,
                is_over: report.burn.is_none(),
            },
            total: FiguresView::of_all(report),
            burn: report.burn.as_ref().map(|readings| BurnView::of(readings)),
            services: report.services.iter().map(|service| ReportServiceView::of(judged, service)).collect(),
        }
    }
}

impl FiguresView {
    /// Creates the view of the figures of all services together.
    pub(super) fn of_all(report: &SlaReport) -> Self {
        let outages = report.services.iter().map(|service| outages(&service.runs).count()).sum();
        let figures = Self::of(&report.judged, report.sums, report.services.len());
        Self { outages, to_come_seconds: seconds(report.judged.to_come_ms), ..figures }
    }

    /// Creates the view of the figures of one service.
    pub(super) fn of_one(judged: &SlaCalculation, service: &ServiceReport) -> Self {
        Self { outages: outages(&service.runs).count(), ..Self::of(judged, service.sums, 1) }
    }

    fn of(judged: &SlaCalculation, sums: SlaSums, services: usize) -> Self {
        let budget = judged.budget(sums, services);
        let ErrorBudget { total_ms, used_ms } = budget;
        let availability = Availability { up_ms: sums.up_ms, down_ms: sums.down_ms }.percent();
        Self {
            availability,
            is_met: availability.map(|_| budget.is_met()),
            up_seconds: seconds(sums.up_ms),
            down_seconds: seconds(sums.down_ms),
            unmeasured_seconds: seconds(sums.unmeasured_ms),
            left_out_seconds: seconds(sums.left_out_ms),
            to_come_seconds: seconds(judged.to_come_ms),
            outages: 0,
            error_budget: BudgetView {
                total_seconds: seconds(total_ms),
                used_seconds: seconds(used_ms),
                left_seconds: seconds(budget.left_ms()),
            },
            burn_rate: sums.measured().burn_rate(judged.terms.objective).map(seconds),
        }
    }
}

impl BurnView {
    /// Creates the view of all rules.
    pub(super) fn of(readings: &[BurnRateReading]) -> Self {
        let rule = |reading: &BurnRateReading| BurnRuleView {
            state: reading.rule.state.as_str(),
            long_seconds: seconds(reading.rule.long_ms),
            short_seconds: seconds(reading.rule.short_ms),
            threshold: seconds(reading.threshold),
            long_burn_rate: reading.long.map(seconds),
            short_burn_rate: reading.short.map(seconds),
            is_firing: reading.is_firing(),
        };
        Self { state: state(readings).as_str(), rules: readings.iter().map(rule).collect() }
    }
}

impl<'a> ReportServiceView<'a> {
    fn of(judged: &SlaCalculation, report: &'a ServiceReport) -> Self {
        let outage =
            |run: &SlaInterval| OutageView { from: run.from, to: run.to, down_seconds: seconds(run.ms) };
        let left_out = |(run, reason): (&SlaInterval, ExclusionReason)| LeftOutView {
            from: run.from,
            to: run.to,
            seconds: seconds(run.ms),
            reason: reason.as_str(),
        };
        let incidents = report.incidents.iter().map(|counted| ReportIncidentView {
            id: counted.incident,
            from: counted.time.from,
            to: counted.time.to,
        });
        Self {
            service: NamedView::new(report.service.id, &report.service.name),
            figures: FiguresView::of_one(judged, report),
            outages: outages(&report.runs).map(outage).collect(),
            left_out: left_outs(&report.runs).map(left_out).collect(),
            incidents: incidents.collect(),
        }
    }
}

/// Returns the outages among these intervals.
pub(super) fn outages(runs: &[SlaInterval]) -> impl Iterator<Item = &SlaInterval> {
    runs.iter().filter(|run| run.time == SlaTimeClass::Down)
}

/// Returns the intervals that are left out, each with the reason.
pub(super) fn left_outs(runs: &[SlaInterval]) -> impl Iterator<Item = (&SlaInterval, ExclusionReason)> {
    runs.iter().filter_map(|run| match run.time {
        SlaTimeClass::LeftOut(reason) => Some((run, reason)),
        _ => None,
    })
}

/// Converts thousandths to a number: milliseconds to seconds, and burn rates.
#[expect(
    clippy::cast_precision_loss,
    reason = "far below 2^53: seconds of some thousand services over a year"
)]
pub(super) fn seconds(thousandths: i64) -> f64 {
    thousandths as f64 / 1_000.0
}

fn burn() -> ApiSchema {
    let words = "Whether the budget burns too fast at present; null for a past period.";
    view::<BurnView>().nullable().says(words)
}

fn burn_state() -> ApiSchema {
    enum_of(BurnState::WORDS)
        .says("`fast`: act now; `slow`: the budget will be used up before the period ends.")
}

fn judgement() -> ApiSchema {
    boolean().nullable()
}

fn rate() -> ApiSchema {
    number().at_least(0).nullable()
}

fn reason() -> ApiSchema {
    enum_of(ExclusionReason::WORDS)
}
