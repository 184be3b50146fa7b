//! Who is on duty on each day of a month, for every schedule.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screen_error::ScreenError;
use crate::console::screens::calendar_month::{ZonedDay, ZonedMonth, part_of};
use crate::console::visit::UserVisit;
use crate::http::kit::timestamp::parse;
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;

/// Most schedules in a calendar.
const SCHEDULES_MAX: u64 = 20;

/// The duty of a month.
pub(super) struct DutyCalendar {
    pub(super) month: ZonedMonth,
    pub(super) schedules: Vec<CalendarSchedule>,
    pub(super) days: Vec<DutyDay>,
    /// The same as plain text.
    pub(super) plain_text: String,
}

/// A schedule: a column of the calendar.
pub(super) struct CalendarSchedule {
    pub(super) link: String,
    pub(super) name: String,
    pub(super) zone: String,
}

/// A day: a row of the calendar.
pub(super) struct DutyDay {
    pub(super) date: String,
    pub(super) weekday: String,
    /// The shifts of each schedule.
    pub(super) cells: Vec<Vec<DutyPart>>,
}

/// A part of a day.
pub(super) struct DutyPart {
    /// From and to; empty for the whole day.
    pub(super) time: String,
    /// Who is on duty, or that nobody is.
    pub(super) who: String,
    pub(super) is_gap: bool,
}

/// A shift, or an uncovered period.
struct DutyPeriod {
    time: TimeRange,
    /// `None`: nobody is on duty.
    who: Option<String>,
}

/// The duty of a schedule in its time zone.
struct ScheduleDuty {
    zone: IanaZone,
    periods: Vec<DutyPeriod>,
}

impl DutyCalendar {
    /// Reads the duty of a month, of the oldest schedules.
    pub(super) async fn read(visit: &UserVisit, month: ZonedMonth) -> Result<Self, ScreenError> {
        let body = visit.get(&format!("/v1/oncall/schedules?per_page={SCHEDULES_MAX}")).await?;
        let (mut schedules, mut duties) = (Vec::new(), Vec::new());
        for row in body["data"].as_array().into_iter().flatten() {
            let [id, name, zone] = ["id", "name", "time_zone"].map(|name| text_of(&row[name]));
            let duty = duty_of(visit, &id, zone.parse().unwrap_or(IanaZone::UTC), month).await?;
            schedules.push(CalendarSchedule { link: format!("/console/oncall/schedules/{id}"), name, zone });
            duties.push(duty);
        }
        let row = |day: ZonedDay| DutyDay {
            date: day.to_string(),
            weekday: visit.texts.text(&format!("word-{}", day.weekday())),
            cells: duties.iter().map(|duty| duty.parts(day, visit.texts)).collect(),
        };
        let days: Vec<DutyDay> = month.days().map(row).collect();
        Ok(Self { month, plain_text: plain_text(&schedules, &days), schedules, days })
    }
}

async fn duty_of(
    visit: &UserVisit,
    id: &str,
    zone: IanaZone,
    month: ZonedMonth,
) -> Result<ScheduleDuty, ScreenError> {
    let TimeRange { from, to } = month.range(zone);
    let duty = visit.get(&format!("/v1/oncall/schedules/{id}/shifts?from={from}&to={to}")).await?;
    let period = |row: &Value| {
        let [from, to] = ["starts_at", "ends_at"].map(|name| parse(row[name].as_str()?));
        let who = row["contact_name"].as_str().map(str::to_owned);
        Some(DutyPeriod { time: TimeRange { from: from?, to: to? }, who })
    };
    let rows = ["shifts", "gaps"].map(|name| duty["data"][name].as_array().into_iter().flatten());
    let mut periods: Vec<DutyPeriod> = rows.into_iter().flatten().filter_map(period).collect();
    periods.sort_by_key(|period| period.time);
    Ok(ScheduleDuty { zone, periods })
}

impl ScheduleDuty {
    fn parts(&self, day: ZonedDay, texts: ConsoleTexts) -> Vec<DutyPart> {
        let range = day.range(self.zone);
        let part = |period: &DutyPeriod| {
            Some(DutyPart {
                time: part_of(period.time, range, self.zone)?,
                who: period.who.clone().unwrap_or_else(|| texts.text("duty-gap")),
                is_gap: period.who.is_none(),
            })
        };
        self.periods.iter().filter_map(part).collect()
    }
}

fn plain_text(schedules: &[CalendarSchedule], days: &[DutyDay]) -> String {
    let mut lines = Vec::new();
    for (column, schedule) in schedules.iter().enumerate() {
        lines.push(format!("{} ({})", schedule.name, schedule.zone));
        for day in days {
            let parts = day.cells.get(column).into_iter().flatten();
            let parts: Vec<String> =
                parts.map(|part| format!("{} {}", part.time, part.who).trim().to_owned()).collect();
            lines.push(format!("{}  {}", day.date, parts.join(", ")));
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
