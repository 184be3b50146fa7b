//! A report as an HTML page, to be printed or saved as a PDF: one file with its own print styles, no script, no external
//! resources.

use askama::Template;

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::v1::sla_targets::report_view::{BurnView, FiguresView, left_outs, outages};
use crate::model::recurrence::zone::IanaZone;
use crate::sla_reports::{ServiceReport, SlaReport};
use crate::stats::sla::calculation::SlaCalculation;

/// Content security policy of the page, which only allows its own style.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                                 frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    name: &'a str,
    objective: f64,
    zone: &'static str,
    from: String,
    to: String,
    until: String,
    made_at: String,
    hours: Option<String>,
    total: ReportTable,
    burn: Option<&'static str>,
    services: Vec<ReportSection<'a>>,
}

struct ReportSection<'a> {
    name: &'a str,
    figures: ReportTable,
    stretches: Vec<ReportInterval>,
}

struct ReportTable {
    /// Result of the period: `met`, `missed` or `not judged`.
    judgement: &'static str,
    rows: Vec<(&'static str, String)>,
}

struct ReportInterval {
    kind: String,
    from: String,
    to: String,
    length: String,
}

pub(super) fn render(report: &SlaReport) -> Result<String, ApiError> {
    let (judged, terms) = (&report.judged, &report.target.terms);
    let shown = |at| wall(terms.zone, at);
    let page = ReportPage {
        name: &report.target.name,
        objective: terms.objective.percent(),
        zone: terms.zone.name(),
        from: shown(judged.period.from),
        to: shown(judged.period.to),
        until: shown(judged.until),
        made_at: shown(report.made_at),
        hours: terms.business_hours.as_ref().map(ToString::to_string),
        total: table(&FiguresView::of_all(report)),
        burn: report.burn.as_ref().map(|readings| BurnView::of(readings).state),
        services: report.services.iter().map(|service| section(judged, service)).collect(),
    };
    page.render().map_err(|error| ApiError::Internal(error.into()))
}

fn section<'a>(judged: &SlaCalculation, report: &'a ServiceReport) -> ReportSection<'a> {
    let zone = judged.terms.zone;
    let stretch = |kind: String, (from, to): (Timestamp, Timestamp), ms: i64| ReportInterval {
        kind,
        from: wall(zone, from),
        to: wall(zone, to),
        length: length(ms),
    };
    let outages = outages(&report.runs).map(|run| stretch("outage".into(), (run.from, run.to), run.ms));
    let left_out = left_outs(&report.runs)
        .map(|(run, reason)| stretch(format!("left out: {reason}"), (run.from, run.to), run.ms));
    let incidents = report.incidents.iter().map(|counted| {
        let (from, to) = (counted.time.from, counted.time.to);
        stretch(format!("incident {}", counted.incident), (from, to), to.ms_since(from))
    });
    ReportSection {
        name: &report.service.name,
        figures: table(&FiguresView::of_one(judged, report)),
        stretches: outages.chain(left_out).chain(incidents).collect(),
    }
}

fn table(figures: &FiguresView) -> ReportTable {
    let or_dash = |number: Option<f64>, unit: &str| {
        number.map_or_else(|| "no data".to_owned(), |number| format!("{number}{unit}"))
    };
    let budget = &figures.error_budget;
    ReportTable {
        judgement: match figures.is_met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "not judged",
        },
        rows: vec![
            ("Availability", or_dash(figures.availability, " %")),
            ("Down", duration(figures.down_seconds)),
            ("Outages", figures.outages.to_string()),
            ("Error budget", duration(budget.total_seconds)),
            ("Used", duration(budget.used_seconds)),
            ("Left", duration(budget.left_seconds)),
            ("Burn rate", or_dash(figures.burn_rate, "")),
            ("Left out", duration(figures.left_out_seconds)),
            ("Not measured", duration(figures.unmeasured_seconds)),
        ],
    }
}

/// Formats a time in this time zone.
fn wall(zone: IanaZone, at: Timestamp) -> String {
    zone.wall(at).map_or_else(|| at.to_string(), |wall| wall.format("%Y-%m-%d %H:%M:%S").to_string())
}

fn length(ms: i64) -> String {
    let seconds = ms / 1_000;
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// Formats a duration in its two largest units.
fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s")];
    let sign = if seconds < 0.0 { "-" } else { "" };
    let length = seconds.abs();
    for pair in UNITS.windows(2) {
        let ((unit, name), (smaller, next)) = (pair[0], pair[1]);
        if length >= unit {
            let (whole, rest) = ((length / unit).floor(), (length % unit / smaller).floor());
            return format!("{sign}{whole} {name} {rest} {next}");
        }
    }
    format!("{sign}{length} s")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0.0, "0 s")]
    #[case(12.5, "12.5 s")]
    #[case(60.0, "1 min 0 s")]
    #[case(3_599.9, "59 min 59 s")]
    #[case(7_500.0, "2 h 5 min")]
    #[case(4_665_600.0, "54 d 0 h")]
    #[case(-90.0, "-1 min 30 s")]
    fn a_duration_has_two_units(#[case] seconds: f64, #[case] text: &str) {
        assert_eq!(duration(seconds), text);
    }
}
