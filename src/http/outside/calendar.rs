//! `GET /calendars/{secret}.ics`: the shifts of a contact, for calendar programs. Outside of `/v1`, without a token.
//!
//! The secret in the address says whose they are; an unknown one is counted for its address, as with pings.

use std::net::IpAddr;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use tokio::time::Instant;

use crate::clock::{DAY_MS, Timestamp};
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::{Reply, add_common};
use crate::http::kit::request_id::request_id;
use crate::http::outside::front::Front;
use crate::http::outside::icalendar::{Calendar, CalendarEvent};
use crate::http::v1::address_secret::read_secret;
use crate::model::contact::Contact;
use crate::model::time_range::TimeRange;
use crate::store::oncall::rosters::{self, Kept};
use crate::store::{contact_calendars, contacts};
use crate::texts::Text;

const ENDING: &str = ".ics";
const CONTENT_TYPE: &str = "text/calendar; charset=utf-8";
/// Days that are shown of the past.
const DAYS_BACK: i64 = 30;
/// Days that are shown of the time to come.
const DAYS_AHEAD: i64 = 180;

/// The shifts of a contact.
pub(in crate::http) async fn serve_calendar(
    front: web::Data<Front>,
    request: HttpRequest,
    calendar: web::Path<String>,
) -> HttpResponse {
    let started = Instant::now();
    let id = request_id(request.headers());
    let address = front.gate.client_address(&request);
    let mut response = match show(&front, &calendar, address).await {
        Ok(feed) => Reply::document(CONTENT_TYPE, feed).to_response(),
        Err(error) => error.to_response(&id),
    };
    add_common(response.headers_mut(), &id);
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache, private"));
    front.traffic.note(response.status().as_u16(), started.elapsed());
    response
}

async fn show(front: &Front, calendar: &str, address: IpAddr) -> Result<String, ApiError> {
    let hash = calendar.strip_suffix(ENDING).and_then(read_secret).ok_or(ApiError::NotFound)?;
    let contact = find(front, &hash, address).await?;
    front.pings.count(hash, front.state.now())?;
    feed(front, contact).await
}

/// The contact whose calendar this is, looked up only as long as the address has not sent too many unknown secrets.
async fn find(front: &Front, hash: &[u8; 32], address: IpAddr) -> Result<Contact, ApiError> {
    let now = front.state.now();
    let look_up = front.pings.strangers.begin_look_up(address, now);
    if !look_up.may_ask {
        return Err(ApiError::TooManyRequests(1));
    }
    let main = front.state.databases.main.reader();
    let key = contact_calendars::find_by_hash(main, hash).await?.ok_or(ApiError::NotFound)?;
    front.pings.strangers.give_back(address, &look_up, now);
    contacts::with_keys(main, &[key]).await?.pop().ok_or(ApiError::NotFound)
}

async fn feed(front: &Front, contact: Contact) -> Result<String, ApiError> {
    let now = front.state.now();
    let shown = TimeRange { from: now.plus_ms(-DAYS_BACK * DAY_MS), to: now.plus_ms(DAYS_AHEAD * DAY_MS) };
    let main = front.state.databases.main.reader();
    let kept = rosters::of_contact(main, contact.organisation, contact.key, shown).await?;
    let work = tokio::task::spawn_blocking(move || render(&contact, &kept, shown));
    work.await.map_err(|error| ApiError::Internal(error.into()))
}

/// The feed; a shift has the same id from one look to the next, and its own begin, however long ago that was.
fn render(contact: &Contact, kept: &[Kept], shown: TimeRange) -> String {
    let mut events = Vec::new();
    for kept in kept {
        let schedule = &kept.schedule;
        let shifts = kept.roster().whole_shifts(shown);
        let own = shifts.iter().filter(|shift| shift.contact == contact.key);
        events.extend(own.map(|shift| CalendarEvent {
            uid: format!("{}-{}-{}@watchkeeper", schedule.id, contact.id, seconds(shift.range.from)),
            changed_at: schedule.updated_at,
            range: shift.range,
            summary: Text::about("on-duty", &schedule.name).written_in(&contact.language),
        }));
    }
    events.sort_by_key(|event| event.range);
    Calendar { name: contact.name.clone(), events }.render()
}

const fn seconds(at: Timestamp) -> i64 {
    at.ms() / 1_000
}
