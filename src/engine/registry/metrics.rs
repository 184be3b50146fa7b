//! The metrics of all locations: finished checks, reports of remote locations, and which votes are excluded.

use std::sync::Arc;

use crate::engine::registry::{LocationRegistry, RegisteredLocation};
use crate::model::check::{CheckStatus, CheckType};
use crate::model::location::LocationReport;
use crate::telemetry::{Exposition, MetricCollector, MetricFamily};

impl MetricCollector for LocationRegistry {
    fn collect(&self, out: &mut Exposition) {
        let known = self.all();
        let mut checks = out.counter("checks_total", "Finished checks by type, location and result.");
        known.iter().for_each(|known| collect_finished(known, &mut checks));
        collect_seen(&known, out);
        let mut impaired =
            out.gauge("location_impaired", "Whether a location has lost its network, or can make no check.");
        for known in &known {
            impaired.labelled(&[("location", known.location.code.as_str())], u8::from(known.is_impaired()));
        }
        let mut blind = out.gauge("location_blind", "1 while a location can make no check, by reason.");
        for (known, trouble) in known.iter().filter_map(|known| Some((known, known.blind_by()?))) {
            let labels = [("location", known.location.code.as_str()), ("reason", trouble.as_str())];
            blind.labelled(&labels, 1_u8);
        }
        let mut suspects = out
            .gauge("location_suspect", "Whether the votes of a location are set aside for an organisation.");
        for known in known {
            let is_suspect = known.suspicion().is_suspect_for_any();
            suspects.labelled(&[("location", known.location.code.as_str())], u8::from(is_suspect));
        }
    }
}

/// Adds the finished checks of one location.
fn collect_finished(known: &RegisteredLocation, checks: &mut MetricFamily<'_>) {
    for check_type in CheckType::ALL.into_iter().filter(|check_type| check_type.is_probed()) {
        for status in CheckStatus::ALL {
            let labels = [
                ("type", check_type.as_str()),
                ("location", known.location.code.as_str()),
                ("result", status.as_str()),
            ];
            checks.labelled(&labels, known.finished(check_type, status).get());
        }
    }
}

/// Adds the last reports of locations in other processes.
fn collect_seen(known: &[Arc<RegisteredLocation>], out: &mut Exposition) {
    let seen: Vec<(&str, Arc<LocationReport>)> =
        known.iter().filter_map(|known| Some((known.location.code.as_str(), known.last_seen()?))).collect();
    let mut gauge = |name: &str, help: &str, value: fn(&LocationReport) -> f64| {
        let mut family = out.gauge(name, help);
        for (code, seen) in &seen {
            family.labelled(&[("location", code)], value(seen));
        }
    };
    gauge(
        "location_last_seen_seconds",
        "Time of the last report of a remote location, since 1970.",
        |seen| seen.at.ms() as f64 / 1_000.0,
    );
    gauge("location_clock_ahead_seconds", "How far the clock of a remote location is ahead.", |seen| {
        seen.clock_ahead_ms as f64 / 1_000.0
    });
    gauge("location_lateness_seconds", "Lateness of 99 of 100 starts at a remote location.", |seen| {
        seen.lateness_p99_us as f64 / 1_000_000.0
    });
    gauge("location_missed_runs", "Runs of a remote location that did not start.", |seen| seen.missed as f64);
    gauge("location_waiting_results", "Results in the memory of a remote location.", |seen| {
        seen.waiting as f64
    });
    gauge("location_spool_bytes", "Bytes of results on the disk of a remote location.", |seen| {
        seen.spool_bytes as f64
    });
    gauge("location_lost_results", "Results that a remote location has dropped.", |seen| seen.shed as f64);
}
