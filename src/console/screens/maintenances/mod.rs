//! The calendar of maintenances: what is planned, under way and over in a month, in two time zones.

mod calendar_window;
mod month_windows;
mod series_windows;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use url::form_urlencoded;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::calendar_month::ZonedMonth;
use crate::console::screens::maintenances::month_windows::MonthWindows;
use crate::console::screens::resources::view::{ListLink, lists_of};
use crate::console::visit::UserVisit;
use crate::model::access::Permission;
use crate::model::recurrence::zone::IanaZone;

#[derive(Template)]
#[template(path = "screens/maintenances/maintenances.html")]
struct CalendarDocument {
    frame: ConsoleFrame,
    screen: &'static str,
    lists: Vec<ListLink>,
    may_create: bool,
    new: String,
    month: ZonedMonth,
    zone: &'static str,
    /// True if the zone is in the address, so that no other one is offered.
    has_zone: bool,
    problem: Option<String>,
    zones: Vec<&'static str>,
    calendar: MonthWindows,
    /// What an empty month says.
    empty: String,
}

impl CalendarDocument {
    /// The address of a month, with the chosen time zone.
    fn address(&self, month: ZonedMonth) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("month", &month.to_string());
        if self.has_zone {
            query.append_pair("zone", self.zone);
        }
        format!("?{}", query.finish())
    }
}

/// Shows the month and the time zone of the query.
///
/// # Errors
/// As the API.
pub(super) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts;
    let query = &visit.visit.query;
    let month = ZonedMonth::read(query.text("month"), visit.visit.state().now());
    let asked = query.text("zone");
    let zone: Option<IanaZone> = asked.parse().ok();
    let calendar = MonthWindows::read(visit, month, zone.unwrap_or(IanaZone::UTC)).await?;
    let has_others = calendar.is_empty && has_maintenances(visit).await?;
    let empty = if has_others { "empty-month" } else { "empty-maintenances" };
    let document = CalendarDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Maintenances, texts.text("title-maintenances")),
        screen: "/maintenances",
        lists: lists_of(visit, ConsoleSection::Maintenances, "/maintenances"),
        may_create: visit.may(Permission::MaintenancesCreate),
        new: texts.text("new-maintenances"),
        month,
        zone: zone.unwrap_or(IanaZone::UTC).name(),
        has_zone: !asked.is_empty(),
        problem: (zone.is_none() && !asked.is_empty()).then(|| texts.about("zone-unknown", asked)),
        zones: IanaZone::names().collect(),
        calendar,
        empty: texts.text(empty),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns true if there is a maintenance in any month.
async fn has_maintenances(visit: &UserVisit) -> Result<bool, ScreenError> {
    let body = visit.get("/v1/maintenances?per_page=1").await?;
    Ok(body["data"].as_array().is_some_and(|rows| !rows.is_empty()))
}
