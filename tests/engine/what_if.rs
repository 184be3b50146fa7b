//! The past played once more: with unchanged settings a replay of what the engine has stored comes to what the engine has
//! recorded.
//!
//! Random behaviour of targets goes through the real engine on paused time; its results go through `model::simulation`, and the
//! status changes are compared. Every failure names its seed.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use watchkeeper::model::history::{CheckRecord, MeasuredStatus, StatusChange};
use watchkeeper::model::simulation::{CheckReplay, PriorStatus, RecordedCadence, RecordedCheck, compare};
use watchkeeper::model::time_range::TimeRange;

use crate::facts::START;
use crate::play::{Played, play};
use crate::world::{Watching, task};

const SEED: u64 = 4_711;
const HISTORIES: u64 = 100;
const SECONDS: u64 = 1_800;
const PERIOD: TimeRange = TimeRange { from: START, to: START.plus_ms(SECONDS as i64 * 1_000) };
/// Edges may differ by this much: the shortest time between two checks, and a little.
const EXACT_MS: i64 = 1_500;

/// Numbers that depend on the seed and the history.
struct Dice {
    history: u64,
    drawn: u64,
}

impl Dice {
    fn below(&mut self, below: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (SEED, self.history, self.drawn).hash(&mut hasher);
        self.drawn += 1;
        hasher.finish() % below
    }

    /// The behaviour of a target as one location sees it; mostly all see the same.
    fn script(&mut self, locations: usize) -> String {
        let mut script: Vec<String> = vec!["0 up/0.02".into(); locations];
        let mut at = 60;
        loop {
            at += 20 + self.below(400);
            if at >= SECONDS - 120 {
                break;
            }
            let word = ["up/0.02", "down/0.02", "down/3", "degraded/0.05", "up/0.3"][self.draw(5)];
            let alone = (self.below(4) == 0).then(|| self.draw(locations));
            for (place, line) in script.iter_mut().enumerate() {
                if alone.is_none_or(|alone| alone == place) {
                    let _ = write!(line, ", {at}.{:03} {word}", self.draw(1_000));
                }
            }
        }
        let names = "abc".chars().zip(script).map(|(name, line)| format!("{name}: {line}"));
        names.collect::<Vec<_>>().join("; ")
    }

    fn draw(&mut self, below: usize) -> usize {
        usize::try_from(self.below(below as u64)).expect("small")
    }
}

/// A result as it is stored.
fn seen(check: &CheckRecord) -> RecordedCheck {
    RecordedCheck {
        due_at: check.scheduled_at,
        checked_at: check.checked_at,
        status: check.measurement.status,
        attempt: check.attempt,
        took_ms: check.measurement.timings.total.map_or(0, |total| total.get().div_ceil(1_000)),
    }
}

/// The changes of a replay of these results with unchanged settings.
fn replayed(played: &Played, watching: &Watching) -> Vec<StatusChange> {
    let plan = task(watching).plan;
    let checks = played.facts.checks();
    let of = |code: char| -> Vec<RecordedCheck> {
        checks.iter().filter(|check| check.location.as_str() == code.to_string()).map(seen).collect()
    };
    let all: Vec<Vec<RecordedCheck>> = watching.at.chars().map(of).collect();
    let replay = CheckReplay {
        service: 1,
        rhythm: RecordedCadence::of(&plan),
        plan,
        seen: all.iter().map(Vec::as_slice).collect(),
        known: PriorStatus::default(),
        breaks: &[],
    };
    let done = replay.run(PERIOD).expect("it is short");
    done.status_changes.into_iter().map(|known| known.change).collect()
}

fn text(changes: &[StatusChange]) -> String {
    let line = |change: &StatusChange| {
        let StatusChange { at, from, to, cause, .. } = change;
        format!("{} {}>{} {}", at.ms_since(START), from.as_str(), to.as_str(), cause.as_str())
    };
    changes.iter().map(line).collect::<Vec<_>>().join(" | ")
}

fn steps(changes: &[StatusChange]) -> Vec<(MeasuredStatus, MeasuredStatus)> {
    changes.iter().map(|change| (change.from, change.to)).collect()
}

#[test]
fn unchanged_settings_reproduce_the_record_of_the_engine() {
    let (mut exact, mut edges, mut worst_ms, mut off_ms) = (0, 0, 0, 0);
    for history in 0..HISTORIES {
        let mut dice = Dice { history, drawn: 0 };
        let at = ["a", "ab", "abc"][dice.draw(3)];
        let retries = u8::try_from(dice.below(3)).expect("small");
        let script = dice.script(at.len());
        let played = play(&script, &format!("0 watch at={at} retries={retries}; {SECONDS} end"));
        let watching = Watching { at: at.into(), retries, ..Watching::default() };
        let (recorded, replayed) = (played.facts.changes(), replayed(&played, &watching));
        off_ms += compare(&recorded, &replayed, PERIOD).differing_ms;
        edges += recorded.len();
        if steps(&recorded) == steps(&replayed) {
            exact += 1;
            let off = |(one, other): (&StatusChange, &StatusChange)| one.at.ms_since(other.at).abs();
            worst_ms = recorded.iter().zip(&replayed).map(off).max().unwrap_or_default().max(worst_ms);
        } else {
            println!(
                "seed {SEED}, history {history}: {script}\n at={at} retries={retries}\n engine {}\n replay {}",
                text(&recorded),
                text(&replayed)
            );
        }
    }
    println!(
        "{HISTORIES} histories, {edges} changes: {exact} with the same changes, the worst off by {worst_ms} ms; \
         {off_ms} ms differ in all"
    );
    assert!(exact == HISTORIES && worst_ms <= EXACT_MS, "seed {SEED}");
}
