//! `GET /calendars/{secret}.ics`: the shifts of a contact, for calendar programs. The path is outside of `/v1` and needs no
//! token.
//!
//! The secret in the URL identifies the contact. A request with an unknown secret is counted for the client address, as for
//! pings.

use std::net::IpAddr;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use tokio::time::Instant;

use crate::clock::{DAY_MS, Timestamp};
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::{ApiReply, add_common};
use crate::http::kit::request_id::request_id;
use crate::http::public_paths::front::ServerState;
use crate::http::v1::address_secret::read_secret;
use crate::model::contact::Contact;
use crate::model::oncall::schedule::DAYS_MAX;
use crate::model::time_range::TimeRange;
use crate::store::oncall::rosters::{self, StoredRoster};
use crate::store::{contact_calendars, contacts};
use crate::texts::GeneratedText;
use crate::texts::icalendar::{CalendarEvent, CalendarFeed};

const ENDING: &str = ".ics";
const CONTENT_TYPE: &str = "text/calendar; charset=utf-8";
/// Number of days of the past in the feed.
const DAYS_BACK: i64 = 30;
/// Number of days of the future in the feed.
const DAYS_AHEAD: i64 = 180;

/// Serves the shifts of a contact.
pub(in crate::http) async fn serve_calendar(
    front: web::Data<ServerState>,
    request: HttpRequest,
    calendar: web::Path<String>,
) -> HttpResponse {
    let started = Instant::now();
    let id = request_id(request.headers());
    let address = front.gate.client_address(&request);
    let mut response = match show(&front, &calendar, address).await {
        Ok(feed) => ApiReply::document(CONTENT_TYPE, feed).to_response(),
        Err(error) => error.to_response(&id),
    };
    add_common(response.headers_mut(), &id);
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache, private"));
    front.traffic.record_answer(response.status().as_u16(), started.elapsed());
    response
}

async fn show(front: &ServerState, calendar: &str, address: IpAddr) -> Result<String, ApiError> {
    let hash = calendar.strip_suffix(ENDING).and_then(read_secret).ok_or(ApiError::NotFound)?;
    let contact = find(front, &hash, address).await?;
    feed(front, contact).await
}

/// Finds the contact with this secret. A request with a known secret is counted for that secret. A request with an unknown
/// secret is counted for the client address, and looked up only while that address is within its limit.
async fn find(front: &ServerState, hash: &[u8; 32], address: IpAddr) -> Result<Contact, ApiError> {
    let (now, limiter) = (front.state.now(), &front.pings);
    if limiter.knows(hash) {
        limiter.count(*hash, now)?;
        return look_up(front, hash).await.inspect_err(|_| limiter.forget(hash));
    }
    let allowed = limiter.strangers.begin_look_up(address, now);
    if !allowed.may_ask {
        return Err(ApiError::TooManyRequests(1));
    }
    let contact = look_up(front, hash).await?;
    limiter.strangers.give_back(address, &allowed, now);
    limiter.count(*hash, now)?;
    Ok(contact)
}

async fn look_up(front: &ServerState, hash: &[u8; 32]) -> Result<Contact, ApiError> {
    let main = front.state.databases.main.reader();
    let key = contact_calendars::find_by_hash(main, hash).await?.ok_or(ApiError::NotFound)?;
    contacts::with_keys(main, &[key]).await?.pop().ok_or(ApiError::NotFound)
}

async fn feed(front: &ServerState, contact: Contact) -> Result<String, ApiError> {
    let now = front.state.now();
    let shown = TimeRange { from: now.plus_ms(-DAYS_BACK * DAY_MS), to: now.plus_ms(DAYS_AHEAD * DAY_MS) };
    let main = front.state.databases.main.reader();
    let stored = rosters::of_contact(main, contact.organisation, contact.key, shown).await?;
    let work = tokio::task::spawn_blocking(move || render(&contact, &stored, shown));
    work.await.map_err(|error| ApiError::Internal(error.into()))
}

/// Renders the feed of a contact. The id of a shift is the same in every request.
fn render(contact: &Contact, stored: &[StoredRoster], shown: TimeRange) -> String {
    let mut events = Vec::new();
    for stored in stored {
        let schedule = &stored.schedule;
        let shifts = stored.roster().whole_shifts(shown);
        let own = shifts.iter().filter(|shift| shift.contact == contact.key);
        events.extend(own.map(|shift| {
            let (from, name) = begin(shift.range.from, shown);
            CalendarEvent {
                uid: format!("{}-{}-{name}@watchkeeper", schedule.id, contact.id),
                changed_at: schedule.updated_at,
                from,
                to: shift.range.to,
                summary: GeneratedText::about("on-duty", &schedule.name).written_in(&contact.language),
                details: None,
            }
        }));
    }
    events.sort_by_key(|event| (event.from, event.to));
    CalendarFeed { product: "On call", name: contact.name.clone(), url: None, events }.render()
}

/// Returns the start of a shift in the feed, and the corresponding part of its id. If the shift began before the searched
/// period, its start is unknown: there is at most one such shift, and its shown start is a day that rarely changes.
fn begin(from: Timestamp, shown: TimeRange) -> (Timestamp, String) {
    let step_ms = DAYS_MAX * DAY_MS;
    if from > shown.from.plus_ms(-step_ms) {
        return (from, (from.ms() / 1_000).to_string());
    }
    let steps = from.ms().div_euclid(step_ms) + 1;
    (Timestamp::from_ms(steps * step_ms), "long".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_shift_keeps_its_start_between_requests() {
        let render_at = |now: i64| {
            let shown = TimeRange {
                from: Timestamp::from_ms((now - DAYS_BACK) * DAY_MS),
                to: Timestamp::from_ms((now + DAYS_AHEAD) * DAY_MS),
            };
            let cut = shown.from.plus_ms(-DAYS_MAX * DAY_MS);
            let shown_from = begin(cut, shown).0;
            assert!(cut < shown_from && shown_from <= shown.from, "it lies in the shift");
            begin(cut, shown)
        };
        assert_eq!(render_at(20_500), render_at(20_501));
        let shown =
            TimeRange { from: Timestamp::from_ms(400 * DAY_MS), to: Timestamp::from_ms(500 * DAY_MS) };
        assert_eq!(
            begin(Timestamp::from_ms(DAY_MS), shown),
            (Timestamp::from_ms(DAY_MS), "86400".to_owned())
        );
    }
}
