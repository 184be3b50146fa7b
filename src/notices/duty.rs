//! Gaps in on-call schedules: times of the next seven days at which nobody is on duty although somebody should be. Each is a
//! notice of its own, with a name of schedule and begin; of a schedule the next ten are told.
//!
//! What the hours of every layer leave out is left out on purpose, and is no gap.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::access::Organisation;
use crate::model::incident::Severity;
use crate::model::notice::{Notice, Source, Trouble, Words};
use crate::model::notification::Event;
use crate::model::oncall::schedule::Schedule;
use crate::model::recurrence::zone::Zone;
use crate::model::time_range::TimeRange;
use crate::notices::Notices;
use crate::notices::phrase::Phrase;
use crate::store::oncall::rosters::{self, Kept};
use crate::store::oncall::schedules;
use crate::store::{StoreError, notices, organisations};
use crate::texts::Text;

const EVENT: Event = Event::OncallGap;
/// The time in which a gap is told.
const AHEAD_MS: i64 = 7 * DAY_MS;
/// The time in which it is more than a hint.
const SOON_MS: i64 = DAY_MS;
/// The time in which the begin of a gap under way is looked for.
const BACK_MS: i64 = 7 * DAY_MS;
/// Most gaps of a schedule that are told at a time.
const GAPS_MAX: usize = 10;
/// What stands between schedule and begin in the name of a gap.
const SEPARATOR: char = '/';

/// Compares the schedules of all organisations with the notices that last.
pub(super) async fn compare(parts: &Notices) -> Result<(), StoreError> {
    let main = parts.announcer.databases.main.reader();
    let lasting = notices::lasting_of(main, EVENT).await?;
    let now = parts.guard.now();
    let looked = TimeRange { from: now.plus_ms(-BACK_MS), to: now.plus_ms(AHEAD_MS) };
    let all = schedules::of_all(main).await?;
    let names: HashMap<String, String> =
        all.iter().map(|schedule| (schedule.id.to_string(), schedule.name.clone())).collect();
    let mut by_owner: BTreeMap<i64, Vec<Schedule>> = BTreeMap::new();
    for schedule in all {
        by_owner.entry(schedule.organisation).or_default().push(schedule);
    }
    let told = Told::of(&lasting);
    let mut wrong = Vec::new();
    for organisation in organisations::with_keys(main, by_owner.keys().copied()).await? {
        let Some(schedules) = by_owner.remove(&organisation.key) else { continue };
        let kept = rosters::of_schedules(main, schedules, looked).await?;
        for (schedule, gaps) in reckoned(kept, looked, now).await? {
            let named = gaps.iter().map(|gap| (*gap, told.begin(&schedule, *gap, (looked, now))));
            wrong.extend(named.map(|named| trouble(&schedule, named, &organisation, now)));
        }
    }
    let over = |notice: &Notice, organisation: &Organisation| over(notice, &names).words(organisation);
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

/// The next gaps of schedules. Reckoning takes a while; it is done beside the thread on which everything else is told.
async fn reckoned(
    kept: Vec<Kept>,
    looked: TimeRange,
    now: Timestamp,
) -> Result<Vec<(Schedule, Vec<TimeRange>)>, StoreError> {
    let gaps = move |kept: Kept| {
        let gaps = kept.roster().uncovered(looked).into_iter().filter(|gap| gap.to > now);
        let gaps = gaps.take(GAPS_MAX).collect();
        (kept.schedule, gaps)
    };
    let work = tokio::task::spawn_blocking(move || kept.into_iter().map(gaps).collect());
    work.await.map_err(|_| StoreError::Panicked("reckoning of duty"))
}

/// What is said of a notice that ends.
fn over<'a>(notice: &'a Notice, names: &'a HashMap<String, String>) -> Phrase<'a> {
    let Trouble { source, words, .. } = &notice.trouble;
    let schedule = source.name.split(SEPARATOR).next().unwrap_or_default();
    match names.get(schedule) {
        Some(name) => Phrase {
            title: Text::about("oncall-covered", name),
            text: Text::new("oncall-covered-text").with_note(&words.text),
        },
        None => Phrase {
            title: Text::about("schedule-gone", &words.title),
            text: Text::new("schedule-gone-text"),
        },
    }
}

/// The begins of the gaps that were told, by the id of the schedule.
struct Told(HashMap<String, Vec<Timestamp>>);

impl Told {
    fn of(lasting: &[Notice]) -> Self {
        let mut told: HashMap<String, Vec<Timestamp>> = HashMap::new();
        for notice in lasting {
            let Some((schedule, begin)) = notice.trouble.source.name.split_once(SEPARATOR) else { continue };
            let Ok(begin) = begin.parse::<DateTime<Utc>>() else { continue };
            told.entry(schedule.to_owned()).or_default().push(begin.into());
        }
        Self(told)
    }

    /// The begin of a gap in its name. One that is under way keeps that under which it was told, also when it began before
    /// what is looked at.
    fn begin(&self, schedule: &Schedule, gap: TimeRange, (looked, now): (TimeRange, Timestamp)) -> Timestamp {
        if gap.from > now {
            return gap.from;
        }
        let told = self.0.get(schedule.id.as_str()).into_iter().flatten().copied();
        let is_cut = gap.from == looked.from;
        told.filter(|begin| *begin <= now && (is_cut || *begin >= gap.from)).max().unwrap_or(gap.from)
    }
}

/// A gap of a schedule, with the begin in its name.
fn trouble(
    schedule: &Schedule,
    (gap, begin): (TimeRange, Timestamp),
    organisation: &Organisation,
    now: Timestamp,
) -> Trouble {
    let is_soon = gap.from <= now.plus_ms(SOON_MS);
    let shown = |at| shown(schedule.zone, at);
    let note = format!("{} – {} ({})", shown(begin), shown(gap.to), schedule.zone.name());
    let text = Text::new("oncall-gap-text").with_note(&note);
    let words: Words = Phrase { title: Text::about("oncall-gap", &schedule.name), text }.words(organisation);
    let name = format!("{}{SEPARATOR}{begin}", schedule.id);
    Trouble {
        source: Source { organisation: organisation.key, event: EVENT, name },
        severity: if is_soon { Severity::Major } else { Severity::Minor },
        words,
        service: None,
    }
}

/// A time by the clocks of a zone.
fn shown(zone: Zone, at: Timestamp) -> String {
    zone.wall(at).map_or_else(|| at.to_string(), |wall| wall.format("%Y-%m-%d %H:%M").to_string())
}
