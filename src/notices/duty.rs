//! Uncovered periods in on-call schedules: times of the next seven days without a person on duty. Each period gets a
//! notice, named after schedule and start; at most ten per schedule.
//!
//! Times outside the hours of every layer are excluded on purpose, and are not uncovered periods.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::access::Organisation;
use crate::model::incident::Severity;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::model::oncall::schedule::OncallSchedule;
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;
use crate::notices::NoticeReconciler;
use crate::notices::phrase::NoticePhrase;
use crate::store::oncall::rosters::{self, StoredRoster};
use crate::store::oncall::schedules;
use crate::store::{StoreError, notices, organisations};
use crate::texts::GeneratedText;

const EVENT: NotificationEvent = NotificationEvent::OncallGap;
/// The time in advance at which an uncovered period gets a notice.
const AHEAD_MS: i64 = 7 * DAY_MS;
/// The time in advance from which the notice is major instead of minor.
const SOON_MS: i64 = DAY_MS;
/// The time in the past in which the start of a current uncovered period is searched.
const BACK_MS: i64 = 7 * DAY_MS;
/// Maximum number of uncovered periods per schedule.
const GAPS_MAX: usize = 10;
/// Separates schedule and start in the name of an uncovered period.
const SEPARATOR: char = '/';

/// Compares the schedules of all organisations with the open notices.
pub(super) async fn compare(parts: &NoticeReconciler) -> Result<(), StoreError> {
    let main = parts.router.databases.main.reader();
    let lasting = notices::lasting_of(main, EVENT).await?;
    let now = parts.guard.now();
    let search_range = TimeRange { from: now.plus_ms(-BACK_MS), to: now.plus_ms(AHEAD_MS) };
    let all = schedules::of_all(main).await?;
    let names: HashMap<String, String> =
        all.iter().map(|schedule| (schedule.id.to_string(), schedule.name.clone())).collect();
    let mut by_owner: BTreeMap<i64, Vec<OncallSchedule>> = BTreeMap::new();
    for schedule in all {
        by_owner.entry(schedule.organisation).or_default().push(schedule);
    }
    let notified = NotifiedPeriods::of(&lasting);
    let mut wrong = Vec::new();
    for organisation in organisations::with_keys(main, by_owner.keys().copied()).await? {
        let Some(schedules) = by_owner.remove(&organisation.key) else { continue };
        let stored = rosters::of_schedules(main, schedules, search_range).await?;
        for (schedule, gaps) in compute_uncovered(stored, search_range, now).await? {
            wrong.extend(gaps.iter().map(|gap| {
                let begin = notified.begin(&schedule, *gap, search_range, now);
                trouble(&schedule, *gap, begin, &organisation, now)
            }));
        }
    }
    let over = |notice: &Notice, organisation: &Organisation| over(notice, &names).words(organisation);
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

/// Returns the next uncovered periods of schedules, computed on another thread because it takes a while.
async fn compute_uncovered(
    stored: Vec<StoredRoster>,
    search_range: TimeRange,
    now: Timestamp,
) -> Result<Vec<(OncallSchedule, Vec<TimeRange>)>, StoreError> {
    let gaps = move |stored: StoredRoster| {
        let gaps = stored.roster().uncovered(search_range).into_iter().filter(|gap| gap.to > now);
        let gaps = gaps.take(GAPS_MAX).collect();
        (stored.schedule, gaps)
    };
    let work = tokio::task::spawn_blocking(move || stored.into_iter().map(gaps).collect());
    work.await.map_err(|_| StoreError::Panicked("reckoning of duty"))
}

/// Returns the text of a closed notice.
fn over<'a>(notice: &'a Notice, names: &'a HashMap<String, String>) -> NoticePhrase<'a> {
    let NoticeCondition { subject, words, .. } = &notice.trouble;
    let schedule = subject.name.split(SEPARATOR).next().unwrap_or_default();
    match names.get(schedule) {
        Some(name) => NoticePhrase {
            title: GeneratedText::about("oncall-covered", name),
            text: GeneratedText::new("oncall-covered-text").with_note(&words.text),
        },
        None => NoticePhrase {
            title: GeneratedText::about("schedule-gone", &words.title),
            text: GeneratedText::new("schedule-gone-text"),
        },
    }
}

/// The starts of uncovered periods with open notices, by the id of the schedule.
struct NotifiedPeriods(HashMap<String, Vec<Timestamp>>);

impl NotifiedPeriods {
    fn of(lasting: &[Notice]) -> Self {
        let mut notified: HashMap<String, Vec<Timestamp>> = HashMap::new();
        for notice in lasting {
            let Some((schedule, begin)) = notice.trouble.subject.name.split_once(SEPARATOR) else { continue };
            let Ok(begin) = begin.parse::<DateTime<Utc>>() else { continue };
            notified.entry(schedule.to_owned()).or_default().push(begin.into());
        }
        Self(notified)
    }

    /// Returns the start in the name of an uncovered period. A current period keeps the start of its open notice, even if
    /// it began before the searched time.
    fn begin(
        &self,
        schedule: &OncallSchedule,
        gap: TimeRange,
        search_range: TimeRange,
        now: Timestamp,
    ) -> Timestamp {
        if gap.from > now {
            return gap.from;
        }
        let notified = self.0.get(schedule.id.as_str()).into_iter().flatten().copied();
        let is_cut = gap.from == search_range.from;
        notified.filter(|begin| *begin <= now && (is_cut || *begin >= gap.from)).max().unwrap_or(gap.from)
    }
}

/// Returns the trouble of an uncovered period, named after its start.
fn trouble(
    schedule: &OncallSchedule,
    gap: TimeRange,
    begin: Timestamp,
    organisation: &Organisation,
    now: Timestamp,
) -> NoticeCondition {
    let is_soon = gap.from <= now.plus_ms(SOON_MS);
    let shown = |at| shown(schedule.zone, at);
    let note = format!("{} – {} ({})", shown(begin), shown(gap.to), schedule.zone.name());
    let text = GeneratedText::new("oncall-gap-text").with_note(&note);
    let words: NoticeText =
        NoticePhrase { title: GeneratedText::about("oncall-gap", &schedule.name), text }.words(organisation);
    let name = format!("{}{SEPARATOR}{begin}", schedule.id);
    NoticeCondition {
        subject: NoticeSubject { organisation: organisation.key, event: EVENT, name },
        severity: if is_soon { Severity::Major } else { Severity::Minor },
        words,
        service: None,
    }
}

/// Formats a time in a time zone.
fn shown(zone: IanaZone, at: Timestamp) -> String {
    zone.wall(at).map_or_else(|| at.to_string(), |wall| wall.format("%Y-%m-%d %H:%M").to_string())
}
