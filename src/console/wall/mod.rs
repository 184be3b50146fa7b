//! The wall: the state of all services for a screen in a room, without menus. A key in the address opens it, and nothing else.
//!
//! The document asks the browser to load it again, so that it stays current without a script.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use askama::Template;

use crate::console::answer;
use crate::console::fleet_sentence::FleetSentence;
use crate::console::frame::ConsoleFrame;
use crate::console::screen_error::ScreenError;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::{ConsoleVisit, VisibleFleet};
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::listing::FleetPaging;
use crate::fleet_view::query_parser::parse;
use crate::fleet_view::summary::StatusTotals;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::model::access::{ApiToken, Organisation, Permission, PlanLimits, TokenHolder};
use crate::model::outage_evidence::{duration, seconds_between};
use crate::model::service::ServiceStatus;
use crate::model::token::TokenText;
use crate::model::wall_key::{KEY_PREFIX, WallKey};
use crate::store::{organisations, wall_keys};

const WALL: &str = "/wall";
/// Maximum number of services that are listed.
const SHOWN: usize = 40;
/// Seconds after which the browser loads the document again.
const REFRESH: &str = "30";
/// The statuses that are counted, worst first.
const COUNTED: [ServiceStatus; 6] = [
    ServiceStatus::Down,
    ServiceStatus::Degraded,
    ServiceStatus::Unknown,
    ServiceStatus::Maintenance,
    ServiceStatus::Paused,
    ServiceStatus::Up,
];

#[derive(Template)]
#[template(path = "wall/wall.html")]
struct WallDocument {
    frame: ConsoleFrame,
    sentence: String,
    /// Class of the worst status.
    tone: &'static str,
    counts: Vec<WallCount>,
    rows: Vec<WallRow>,
    /// Number of wrong services that are not listed.
    more: u64,
    as_of: String,
}

/// The number of services with a status.
struct WallCount {
    tone: &'static str,
    text: String,
    services: usize,
}

/// A service that is wrong.
struct WallRow {
    name: String,
    tone: &'static str,
    status: String,
    /// How long it has been so.
    since: String,
}

/// Answers a request for the wall; `None` for any other path.
pub(super) async fn answer(visit: &ConsoleVisit, is_post: bool) -> Option<HttpResponse> {
    if visit.path != WALL {
        return None;
    }
    if is_post {
        return Some(ScreenError::WrongMethod.of_stranger(visit));
    }
    let shown = show(visit).await;
    let mut answer = shown.unwrap_or_else(|error| error.of_stranger(visit));
    refresh(visit, &mut answer);
    Some(answer)
}

/// Lets the browser of a wall load its document again, also one that fails or is refused for a moment. Only a wall without
/// its key stays as it is.
pub(super) fn refresh(visit: &ConsoleVisit, answer: &mut HttpResponse) {
    if visit.path == WALL && answer.status() != StatusCode::NOT_FOUND {
        let headers = answer.headers_mut();
        headers.insert(HeaderName::from_static("refresh"), HeaderValue::from_static(REFRESH));
    }
}

async fn show(visit: &ConsoleVisit) -> Result<HttpResponse, ScreenError> {
    let caller = caller(visit).await?.ok_or(ScreenError::Unknown)?;
    let fleet = visit.fleet_of(&caller).await?;
    let texts = visit.texts();
    let totals = fleet.view.totals(&fleet.visible);
    let state = FleetSentence::of(totals);
    let query = parse("status:down,degraded sort:since").query;
    let paging = FleetPaging { after: None, limit: SHOWN };
    let page = fleet.view.search(&query, &fleet.visible, &paging, fleet.now);
    let as_of = fleet.as_of.unwrap_or(fleet.now).format("%Y-%m-%d %H:%M:%S UTC");
    let document = WallDocument {
        frame: ConsoleFrame::without_user(texts, texts.text("wall")),
        sentence: state.sentence(texts),
        tone: state.tone,
        counts: counts(visit, totals),
        rows: page.rows.iter().map(|row| WallRow::of(visit, row, &fleet)).collect(),
        more: u64::try_from(page.total.saturating_sub(page.rows.len())).unwrap_or(u64::MAX),
        as_of: texts.about("wall-as-of", &as_of),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.headers))
}

/// Returns the caller for the key in the address; `None` if there is no such key.
async fn caller(visit: &ConsoleVisit) -> Result<Option<Caller>, ApiError> {
    let Some(text) = TokenText::parse(KEY_PREFIX, visit.query.text("key")) else { return Ok(None) };
    let state = visit.state();
    let main = state.databases.main.reader();
    let Some(wall) = wall_keys::find_by_hash(main, &text.hash()).await? else { return Ok(None) };
    let organisation = organisations::get(main, wall.organisation).await?;
    Ok(organisation.map(|organisation| {
        let limits = state.plans.limits(&organisation);
        caller_of(wall, organisation, limits)
    }))
}

/// Returns a key as the API knows callers: it may see services, and nothing else.
fn caller_of(wall: WallKey, organisation: Organisation, limits: PlanLimits) -> Caller {
    let token = ApiToken {
        key: 0,
        id: wall.id,
        organisation: wall.organisation,
        name: wall.name,
        permissions: [Permission::ServicesView].into_iter().collect(),
        expires_at: None,
        created_at: wall.created_at,
        access_scope: wall.access_scope,
        holder: TokenHolder::Program,
    };
    Caller { token, organisation, limits }
}

/// Returns the statuses that some service has.
fn counts(visit: &ConsoleVisit, totals: StatusTotals) -> Vec<WallCount> {
    let services = |status| match status {
        ServiceStatus::Up => totals.working(),
        status => totals.of(status),
    };
    let count = |status: ServiceStatus| WallCount {
        tone: tone_of(status),
        text: visit.texts().text(&format!("word-{status}")),
        services: services(status),
    };
    COUNTED.into_iter().map(count).filter(|count| count.services > 0).collect()
}

impl WallRow {
    fn of(visit: &ConsoleVisit, row: &FleetRow, fleet: &VisibleFleet) -> Self {
        Self {
            name: row.name.clone(),
            tone: tone_of(row.status),
            status: visit.texts().text(&format!("word-{}", row.status)),
            since: row.since.map(|at| duration(seconds_between(at.ms(), fleet.now.ms()))).unwrap_or_default(),
        }
    }
}
