//! The sink of a scene: keeps every fact that the engine hands over, and writes facts down for comparison.
//!
//! It takes batches the way the recorder does, through its mailbox. It judges nothing.

use std::sync::{Arc, Mutex};

use actix::{Actor, Context, Handler};
use watchkeeper::clock::Timestamp;
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::model::history::{CheckRecord, StatusChange};

/// Midnight at which every scene begins.
pub(crate) const START: Timestamp = Timestamp::from_ms(20_000 * 86_400_000);

/// Everything the engine has reported so far, in the order of arrival.
#[derive(Clone, Default)]
pub(crate) struct Facts(Arc<Mutex<Vec<Fact>>>);

/// One fact.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    /// A finished check.
    Check(CheckRecord),
    /// A change of the measured status.
    Change(StatusChange),
}

impl Facts {
    /// Every finished check.
    pub(crate) fn checks(&self) -> Vec<CheckRecord> {
        let facts = self.0.lock().expect("no test panics while it writes");
        facts.iter().filter_map(Fact::check).cloned().collect()
    }

    /// Every status change.
    pub(crate) fn changes(&self) -> Vec<StatusChange> {
        let facts = self.0.lock().expect("no test panics while it writes");
        facts.iter().filter_map(Fact::change).copied().collect()
    }

    /// All facts as text, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let facts = self.0.lock().expect("no test panics while it writes");
        facts.iter().map(Fact::line).collect()
    }

    /// Adds the facts of a later process.
    pub(crate) fn add(&self, later: &Self) {
        let later = later.0.lock().expect("no test panics while it writes").clone();
        self.0.lock().expect("no test panics while it writes").extend(later);
    }

    /// Forgets all facts and frees their memory; how many checks there were.
    pub(crate) fn take_all(&self) -> i64 {
        let mut facts = self.0.lock().expect("no test panics while it writes");
        let checks = std::mem::take(&mut *facts).iter().filter(|fact| fact.check().is_some()).count();
        i64::try_from(checks).expect("few")
    }

    pub(crate) fn take(&self, batch: RecordBatch) {
        let mut facts = self.0.lock().expect("no test panics while it writes");
        facts.extend(batch.checks.into_iter().map(Fact::Check));
        facts.extend(batch.changes.into_iter().map(Fact::Change));
    }
}

impl Fact {
    const fn check(&self) -> Option<&CheckRecord> {
        match self {
            Self::Check(record) => Some(record),
            Self::Change(_) => None,
        }
    }

    const fn change(&self) -> Option<&StatusChange> {
        match self {
            Self::Check(_) => None,
            Self::Change(change) => Some(change),
        }
    }

    /// `SECONDS LOCATION STATUS`, `due SECONDS` if it started at another time, `try N` if the first did not decide; or
    /// `SECONDS FROM>TO CAUSE`.
    fn line(&self) -> String {
        match self {
            Self::Check(record) => {
                let mut line = format!(
                    "{} {} {}",
                    clock_text(record.checked_at),
                    record.location,
                    record.measurement.status.as_str()
                );
                if record.scheduled_at != record.checked_at {
                    line.push_str(&format!(" due {}", clock_text(record.scheduled_at)));
                }
                if record.attempt > 1 {
                    line.push_str(&format!(" try {}", record.attempt));
                }
                line
            }
            Self::Change(StatusChange { at, from, to, cause, .. }) => {
                format!("{} {}>{} {}", clock_text(*at), from.as_str(), to.as_str(), cause.as_str())
            }
        }
    }
}

/// Seconds since the start of the scene on the wall clock; milliseconds only where there are some.
fn clock_text(at: Timestamp) -> String {
    let ms = at.ms_since(START);
    match ms.rem_euclid(1_000) {
        0 => (ms / 1_000).to_string(),
        rest => format!("{}.{rest:03}", ms.div_euclid(1_000)),
    }
}

/// Takes batches.
pub(crate) struct Collector(pub(crate) Facts);

impl Actor for Collector {
    type Context = Context<Self>;
}

impl Handler<RecordBatch> for Collector {
    type Result = ();

    fn handle(&mut self, batch: RecordBatch, _: &mut Context<Self>) {
        self.0.take(batch);
    }
}
