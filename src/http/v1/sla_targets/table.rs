//! A report as CSV for spreadsheets (RFC 4180): one row for all services, one for each service, one for each interval.

use crate::http::kit::csv_cell::csv_cell;
use crate::http::v1::sla_targets::report_view::{FiguresView, left_outs, outages, seconds};
use crate::sla_reports::{ServiceReport, SlaReport};

const HEAD: &str = "kind,service_id,service,from,to,seconds,reason,availability,is_met,up_seconds,\
    unmeasured_seconds,left_out_seconds,budget_total_seconds,budget_used_seconds,budget_left_seconds,burn_rate";

pub(super) fn render(report: &SlaReport) -> String {
    let judged = &report.judged;
    let ends = [judged.period.from.to_string(), judged.until.to_string()];
    let mut text = format!("{HEAD}\r\n");
    let total = figures(&FiguresView::of_all(report));
    push(
        &mut text,
        ["total", "", &report.target.name].map(String::from).into_iter().chain(ends.clone()),
        &total,
    );
    for service in &report.services {
        let row = figures(&FiguresView::of_one(judged, service));
        push(&mut text, named("service", service).into_iter().chain(ends.clone()), &row);
        for run in outages(&service.runs) {
            let times = [run.from.to_string(), run.to.to_string()];
            push(&mut text, named("outage", service).into_iter().chain(times), &stretch(seconds(run.ms), ""));
        }
        for (run, reason) in left_outs(&service.runs) {
            let times = [run.from.to_string(), run.to.to_string()];
            let row = stretch(seconds(run.ms), reason.as_str());
            push(&mut text, named("left_out", service).into_iter().chain(times), &row);
        }
        for counted in &service.incidents {
            let time = counted.time;
            let times = [time.from.to_string(), time.to.to_string()];
            let row = stretch(seconds(time.to.ms_since(time.from)), counted.incident.as_str());
            push(&mut text, named("incident", service).into_iter().chain(times), &row);
        }
    }
    text
}

fn named(kind: &str, report: &ServiceReport) -> [String; 3] {
    [kind.to_owned(), report.service.id.to_string(), report.service.name.clone()]
}

fn stretch(seconds: f64, reason: &str) -> Vec<String> {
    [seconds.to_string(), reason.to_owned()].into_iter().chain(vec![String::new(); 9]).collect()
}

fn figures(figures: &FiguresView) -> Vec<String> {
    let text = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    vec![
        figures.down_seconds.to_string(),
        String::new(),
        text(figures.availability),
        figures.is_met.map(|is_met| is_met.to_string()).unwrap_or_default(),
        figures.up_seconds.to_string(),
        figures.unmeasured_seconds.to_string(),
        figures.left_out_seconds.to_string(),
        figures.error_budget.total_seconds.to_string(),
        figures.error_budget.used_seconds.to_string(),
        figures.error_budget.left_seconds.to_string(),
        text(figures.burn_rate),
    ]
}

fn push(text: &mut String, first: impl Iterator<Item = String>, further: &[String]) {
    let cells: Vec<String> = first.map(|cell| csv_cell(&cell)).chain(further.iter().cloned()).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_as_many_cells_as_the_head() {
        let columns = HEAD.split(',').count();
        assert_eq!(5 + stretch(1.0, "pause").len(), columns);
    }
}
