//! The summary of an import: counted line by line, printed at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::cli::import::directory::ServiceDirectory;
use crate::cli::table::{self, ColumnAlignment, TableCell};
use crate::clock::Timestamp;
use crate::model::history::CheckRecord;
use crate::model::service::ServiceKey;

/// Maximum number of bad lines that are listed; further ones are only counted.
const SHOWN_PROBLEMS: usize = 20;

#[derive(Clone, Debug, Default)]
pub(super) struct ImportSummary {
    /// Lines that were read.
    pub(super) read: u64,
    /// Results that were not in the history before.
    pub(super) stored: u64,
    /// Results stored by an interrupted run of the same import.
    pub(super) before: u64,
    /// Results handed to the history.
    pub(super) offered: u64,
    /// Results older than the retention of the plan.
    pub(super) too_old: u64,
    /// Bad lines.
    pub(super) bad: u64,
    problems: Vec<String>,
    services: BTreeMap<ServiceKey, ServiceTally>,
}

/// Statistics of a service's results.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceTally {
    pub(super) results: u64,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
}

impl ImportSummary {
    /// Counts a result for its service.
    pub(super) fn see(&mut self, record: &CheckRecord) {
        let at = record.checked_at;
        let new = ServiceTally { results: 0, first: at, last: at };
        let seen = self.services.entry(record.service).or_insert(new);
        seen.results += 1;
        seen.first = seen.first.min(at);
        seen.last = seen.last.max(at);
    }

    /// Counts a bad line.
    pub(super) fn complain(&mut self, problem: String) {
        self.bad += 1;
        if self.problems.len() < SHOWN_PROBLEMS {
            self.problems.push(problem);
        }
    }

    pub(super) fn services(&self) -> impl Iterator<Item = (ServiceKey, ServiceTally)> {
        self.services.iter().map(|(service, seen)| (*service, *seen))
    }

    /// The first bad lines, at most 20.
    pub(super) fn problems(&self) -> &[String] {
        &self.problems
    }

    fn already_stored(&self) -> u64 {
        self.offered.saturating_sub(self.stored)
    }

    pub(super) fn text(&self, directory: &ServiceDirectory, is_dry_run: bool) -> String {
        let mut text = format!("read           {:>12}\n", self.read);
        if is_dry_run {
            text += &format!("fit            {:>12}  (a dry run: nothing is stored)\n", self.offered);
        } else {
            if self.before > 0 {
                text +=
                    &format!("stored before  {:>12}  (by the run that this one continues)\n", self.before);
            }
            text += &format!("stored         {:>12}\n", self.stored);
            text += &format!("already there  {:>12}\n", self.already_stored());
        }
        text += &format!("too old        {:>12}\n", self.too_old);
        text += &format!("bad            {:>12}\n", self.bad);
        text + &self.table(directory)
    }

    /// Returns a table of the results of each service, with headings; empty if there are no results.
    fn table(&self, directory: &ServiceDirectory) -> String {
        let row = |(service, seen): (ServiceKey, ServiceTally)| {
            let known = directory.get(service).map(|known| &known.service);
            let text = |text: Option<String>| TableCell::of(text.unwrap_or_default());
            vec![
                text(known.map(|service| service.id.to_string())),
                TableCell::of(seen.first.to_string()),
                TableCell::of(seen.last.to_string()),
                TableCell::number(seen.results),
                text(known.map(|service| service.name.clone())),
            ]
        };
        let rows: Vec<_> = self.services().map(row).collect();
        if rows.is_empty() {
            return String::new();
        }
        let head = [
            ("service", ColumnAlignment::Left),
            ("first result", ColumnAlignment::Left),
            ("last result", ColumnAlignment::Left),
            ("results", ColumnAlignment::Right),
            ("name", ColumnAlignment::Left),
        ];
        format!("\n{}\n", table::draw(head, rows, false).join("\n"))
    }

    pub(super) fn json(&self, directory: &ServiceDirectory, is_dry_run: bool) -> Value {
        let service = |(key, seen): (ServiceKey, ServiceTally)| {
            let known = directory.get(key);
            json!({
                "id": known.map(|known| known.service.id.to_string()),
                "name": known.map(|known| known.service.name.clone()),
                "results": seen.results,
                "first": seen.first.to_string(),
                "last": seen.last.to_string(),
            })
        };
        json!({
            "dry_run": is_dry_run,
            "read": self.read,
            "stored": self.stored,
            "stored_before": self.before,
            "already_there": if is_dry_run { 0 } else { self.already_stored() },
            "too_old": self.too_old,
            "bad": self.bad,
            "problems": self.problems,
            "services": self.services().map(service).collect::<Vec<_>>(),
        })
    }
}
