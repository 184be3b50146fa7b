//! Who is on duty now, next, and on each day of a month, and the lists of the section.

mod duty_calendar;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::calendar_month::ZonedMonth;
use crate::console::screens::oncall::duty_calendar::DutyCalendar;
use crate::console::visit::UserVisit;

#[derive(Template)]
#[template(path = "screens/oncall/oncall.html")]
struct OncallDocument {
    frame: ConsoleFrame,
    lists: Vec<SectionList>,
    rows: Vec<DutyRow>,
    calendar: DutyCalendar,
}

/// A list of the section.
struct SectionList {
    path: &'static str,
    text: String,
}

/// A schedule with its contacts on duty.
struct DutyRow {
    link: String,
    schedule: String,
    on_duty: String,
    until: String,
    next: String,
}

const LISTS: [(&str, &str); 5] = [
    ("/oncall/schedules", "schedules"),
    ("/oncall/overrides", "overrides"),
    ("/oncall/absences", "absences"),
    ("/oncall/cover-requests", "cover-requests"),
    ("/oncall/contacts", "contacts"),
];

/// Shows who is on duty, and the calendar of the month in the query.
pub(super) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let body = visit.get("/v1/oncall/current").await?;
    let month = ZonedMonth::read(visit.visit.query.text("month"), visit.visit.state().now());
    let document = OncallDocument {
        calendar: DutyCalendar::read(visit, month).await?,
        frame: ConsoleFrame::of(visit, ConsoleSection::Oncall, visit.texts.text("nav-oncall")),
        lists: LISTS
            .map(|(path, name)| SectionList { path, text: visit.texts.text(&format!("title-{name}")) })
            .into(),
        rows: body["data"].as_array().into_iter().flatten().map(row_of).collect(),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

fn row_of(row: &Value) -> DutyRow {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = |person: &Value| person["contact_name"].as_str().unwrap_or("–").to_owned();
    let until = text(&row["until"]);
    DutyRow {
        link: format!("/console/oncall/schedules/{}", text(&row["schedule_id"])),
        schedule: text(&row["schedule_name"]),
        on_duty: name(&row["on_duty"]),
        until: until.get(..16).map(|time| format!("{} UTC", time.replace('T', " "))).unwrap_or_default(),
        next: name(&row["next"]),
    }
}
