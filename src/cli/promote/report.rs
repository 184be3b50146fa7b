//! The output of a promotion: text for people, JSON for machines.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::Config;
use crate::store::promotion::{CountedUnit, InstallationPart, TargetState, VerifiedTable};

/// Digits of a checksum that are shown to people.
const SHOWN_DIGITS: usize = 16;

/// The result of a dry run.
pub(super) struct DryRunReport<'r> {
    pub(super) counted: &'r [CountedUnit],
    /// State of the target; `None` if it is unknown or foreign, which is an obstacle.
    pub(super) state: Option<TargetState>,
    pub(super) estimate: Duration,
    pub(super) obstacles: &'r [String],
}

/// The result of a promotion.
pub(super) struct PromotionReport<'r> {
    pub(super) verified: &'r [VerifiedTable],
    pub(super) moving: Duration,
    pub(super) verifying: Duration,
    /// Addresses of main and history, without credentials.
    pub(super) addresses: [&'r str; 2],
    pub(super) config: &'r Config,
}

/// Returns the output for a target that already holds the whole installation.
pub(super) fn already_there(as_json: bool) -> String {
    if as_json {
        json!({ "dry_run": false, "tables": [], "rows": 0, "already_there": true }).to_string()
    } else {
        "This installation was moved already; nothing was done.".into()
    }
}

/// Rows of one table, and the number of their segments.
struct TableTotals {
    name: &'static str,
    rows: u64,
    segments: usize,
}

impl DryRunReport<'_> {
    fn tables(&self) -> Vec<TableTotals> {
        let mut tables: Vec<TableTotals> = Vec::new();
        let mut indexes: HashMap<&'static str, usize> = HashMap::new();
        for CountedUnit { unit, rows } in self.counted {
            let name = unit.table.name;
            let index = *indexes.entry(name).or_insert(tables.len());
            if index == tables.len() {
                tables.push(TableTotals { name, rows: 0, segments: 0 });
            }
            tables[index].rows += rows;
            tables[index].segments += usize::from(matches!(unit.part, InstallationPart::Segment(_)));
        }
        tables
    }

    fn rows(&self) -> u64 {
        self.counted.iter().map(|counted| counted.rows).sum()
    }

    fn state_word(&self) -> Option<&'static str> {
        self.state.map(|state| match state {
            TargetState::Empty => "empty",
            TargetState::CutOff => "holds a part of this installation; promote continues it",
            TargetState::Finished => "holds this installation already",
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for TableTotals { name, rows, segments } in self.tables() {
            let files = if segments > 0 { format!("  in {segments} segments") } else { String::new() };
            text += &format!("{name:<24} {rows:>14}{files}\n");
        }
        text += &format!("{:<24} {:>14}\n", "in all", self.rows());
        text += &format!("{:<24} {:>12} s\n", "will take about", self.estimate.as_secs());
        if let Some(word) = self.state_word() {
            text += &format!("the target is {word}\n");
        }
        if self.obstacles.is_empty() {
            text += "The promotion is possible. This was a dry run: nothing was written.\n";
        } else {
            text += "Obstacles:\n";
            self.obstacles.iter().for_each(|obstacle| text += &format!("- {obstacle}\n"));
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let tables = self.tables();
        let table = |table: &TableTotals| json!({ "name": table.name, "rows": table.rows, "segments": table.segments });
        json!({
            "dry_run": true,
            "tables": tables.iter().map(table).collect::<Vec<_>>(),
            "rows": self.rows(),
            "estimate_seconds": self.estimate.as_secs(),
            "target": self.state_word(),
            "obstacles": self.obstacles,
        })
    }
}

impl PromotionReport<'_> {
    fn rows(&self) -> u64 {
        self.verified.iter().map(|verified| verified.rows).sum()
    }

    fn key(&self) -> String {
        match self.config.secret_key {
            Some(_) => "WATCHKEEPER_SECRET_KEY as it is now".into(),
            None => format!("{}", self.config.data_dir.join("secret.key").display()),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for VerifiedTable { table, rows, checksum } in self.verified {
            let shown = checksum.get(..SHOWN_DIGITS).unwrap_or(checksum);
            text += &format!("{table:<24} {rows:>14}  {shown}\n");
        }
        text += &format!(
            "All {} rows of {} tables are there, and the same on both sides: moved in {:.1} s, verified in {:.1} s.\n\n",
            self.rows(),
            self.verified.len(),
            self.moving.as_secs_f64(),
            self.verifying.as_secs_f64()
        );
        let [main, history] = self.addresses;
        text += "To run on it, set (with the user and password that were given here):\n";
        text += &format!("  WATCHKEEPER_DATABASE_URL={main}\n  WATCHKEEPER_HISTORY_URL={history}\n");
        text += &format!(
            "Its secrets stay sealed with the same key, which is needed from now on too:\n  {}\n",
            self.key()
        );
        text += "The embedded databases are left as they are; nothing writes to them any more. Remove them when the new \
            installation has proved itself.\n";
        text
    }

    pub(super) fn json(&self) -> Value {
        let table = |verified: &VerifiedTable| json!({ "name": verified.table, "rows": verified.rows, "checksum": verified.checksum });
        let [main, history] = self.addresses;
        json!({
            "dry_run": false,
            "already_there": false,
            "tables": self.verified.iter().map(table).collect::<Vec<_>>(),
            "rows": self.rows(),
            "moving_seconds": self.moving.as_secs_f64(),
            "verifying_seconds": self.verifying.as_secs_f64(),
            "settings": { "WATCHKEEPER_DATABASE_URL": main, "WATCHKEEPER_HISTORY_URL": history },
            "key": self.key(),
        })
    }
}
