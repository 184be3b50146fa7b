//! Gaps in on-call schedules: times of the next seven days at which nobody is on duty although somebody should be.
//!
//! What the hours of every layer leave out is left out on purpose, and is no gap.

use std::collections::{BTreeMap, HashMap};

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
use crate::store::oncall::{rosters, schedules};
use crate::store::{MainError, notices, notification_channels, organisations};
use crate::texts::Text;

const EVENT: Event = Event::OncallGap;
/// The time in which a gap is told.
const AHEAD_MS: i64 = 7 * DAY_MS;
/// The time in which it is more than a hint.
const SOON_MS: i64 = DAY_MS;

/// Compares the schedules of the organisations that want to know with the notices that last.
pub(super) async fn compare(parts: &Notices) -> Result<(), MainError> {
    let main = parts.announcer.databases.main.reader();
    let lasting = notices::lasting_of(main, EVENT).await?;
    let now = parts.guard.now();
    let ahead = TimeRange { from: now, to: now.plus_ms(AHEAD_MS) };
    let wanting = notification_channels::wanting(main, EVENT).await?;
    let all = schedules::of_organisations(main, &wanting).await?;
    let names: HashMap<String, String> =
        all.iter().map(|schedule| (schedule.id.to_string(), schedule.name.clone())).collect();
    let mut by_owner: BTreeMap<i64, Vec<Schedule>> = BTreeMap::new();
    for schedule in all {
        by_owner.entry(schedule.organisation).or_default().push(schedule);
    }
    let mut wrong = Vec::new();
    for organisation in organisations::with_keys(main, by_owner.keys().copied()).await? {
        let Some(schedules) = by_owner.remove(&organisation.key) else { continue };
        for kept in rosters::of_schedules(main, schedules, ahead).await? {
            let gaps = kept.roster().uncovered(ahead);
            wrong.extend(gaps.first().map(|first| trouble(&kept.schedule, *first, &organisation, now)));
        }
    }
    let over = |notice: &Notice, organisation: &Organisation| {
        let name = names.get(&notice.trouble.source.name).map_or("…", String::as_str);
        let title = Text::about("oncall-covered", name);
        Phrase { title, text: Text::new("oncall-covered-text") }.words(organisation)
    };
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

/// The first gap of a schedule.
fn trouble(schedule: &Schedule, gap: TimeRange, organisation: &Organisation, now: Timestamp) -> Trouble {
    let is_soon = gap.from <= now.plus_ms(SOON_MS);
    let shown = |at| shown(schedule.zone, at);
    let note = format!("{} – {} ({})", shown(gap.from), shown(gap.to), schedule.zone.name());
    let text = Text::new("oncall-gap-text").with_note(&note);
    let words: Words = Phrase { title: Text::about("oncall-gap", &schedule.name), text }.words(organisation);
    Trouble {
        source: Source { organisation: organisation.key, event: EVENT, name: schedule.id.to_string() },
        severity: if is_soon { Severity::Major } else { Severity::Minor },
        words,
        service: None,
    }
}

/// A time by the clocks of a zone.
fn shown(zone: Zone, at: Timestamp) -> String {
    zone.wall(at).map_or_else(|| at.to_string(), |wall| wall.format("%Y-%m-%d %H:%M").to_string())
}
