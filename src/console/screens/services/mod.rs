//! The list of services: searched by a query in the address, and changed several at a time.

mod bulk;

pub(super) use bulk::change;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::{UserVisit, VisibleFleet};
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::listing::FleetPaging;
use crate::fleet_view::query::{FilterCondition, FleetFilter, FleetQuery, ServiceMark};
use crate::fleet_view::query_parser::{ParsedQuery, QueryProblem, QueryRemark, parse};
use crate::fleet_view::summary::FleetFacets;
use crate::http::kit::query::encode;
use crate::model::access::Permission;
use crate::model::outage_evidence::{duration, seconds_between};
use crate::model::service::ServiceStatus;

/// Number of rows on a page.
const ROWS: usize = 100;
/// Number of tags among the facets.
const TAGS: usize = 12;

#[derive(Template)]
#[template(path = "screens/services/services.html")]
struct ServicesDocument {
    frame: ConsoleFrame,
    query: String,
    /// Longer queries that the search offers.
    completions: Vec<String>,
    remarks: Vec<String>,
    /// Why nothing was changed.
    problem: Option<String>,
    statuses: Vec<FacetLink>,
    tags: Vec<FacetLink>,
    rows: Vec<ServiceRow>,
    total: u64,
    next: Option<String>,
    /// Address of this page.
    shown: String,
    /// Address of the first page, on a later one.
    first: Option<String>,
    as_of: Option<String>,
    may_create: bool,
    may_pause: bool,
    may_edit: bool,
    may_delete: bool,
}

/// A link that narrows the list.
struct FacetLink {
    address: String,
    text: String,
    count: usize,
    is_current: bool,
}

struct ServiceRow {
    id: String,
    name: String,
    kind: String,
    tone: &'static str,
    status: String,
    /// What the status does not say: flapping, an incident, nobody who checks.
    marks: Vec<String>,
    since: String,
    uptime: String,
    tags: Vec<String>,
}

/// Shows the list.
pub(super) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts;
    let text = visit.visit.query.text("q");
    let ParsedQuery { query, remarks } = parse(text);
    let fleet = visit.fleet().await?;
    let after = visit.visit.query.text("after").parse().ok();
    let is_later = after.is_some();
    let page = fleet.view.search(&query, &fleet.visible, &FleetPaging { after, limit: ROWS }, fleet.now);
    let everything = fleet.view.search(&without_statuses(&query), &fleet.visible, &nothing(), fleet.now);
    let address = |query: &FleetQuery| format!("/console/services?q={}", encode(&query.to_string()));
    let document = ServicesDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Services, texts.text("nav-services")),
        query: text.to_owned(),
        completions: completions(text, &query, &page.facets),
        remarks: remarks.iter().map(|remark| remark_text(texts, remark)).collect(),
        problem: bulk::problem_of(texts, visit.visit.query.text("problem")),
        statuses: status_links(texts, &query, &everything.facets),
        tags: tag_links(&query, &page.facets),
        rows: page.rows.iter().map(|row| row_of(texts, row, &fleet)).collect(),
        total: u64::try_from(page.total).unwrap_or(u64::MAX),
        next: page.next.map(|next| format!("{}&after={}", address(&query), encode(&next.to_string()))),
        shown: format!("/console/services?{}", visit.visit.query_text),
        first: is_later.then(|| address(&query)),
        as_of: fleet.as_of.map(|at| at.to_string().replace('T', " ")),
        may_create: visit.may(Permission::ServicesCreate),
        may_pause: visit.may(Permission::ServicesPause) || visit.may(Permission::ServicesEdit),
        may_edit: visit.may(Permission::ServicesEdit),
        may_delete: visit.may(Permission::ServicesDelete),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns what was entered with each further filter that finds something, or a list in another order.
fn completions(text: &str, query: &FleetQuery, facets: &FleetFacets) -> Vec<String> {
    let has = |status: &ServiceStatus| facets.statuses.of(*status) > 0;
    let statuses = ServiceStatus::ALL.iter().filter(|status| has(status)).map(|one| format!("status:{one}"));
    let types = facets.check_types.iter().map(|count| format!("type:{}", count.check_type));
    let tags = facets.tags.iter().map(|count| format!("tag:{}", count.tag.label));
    let marks = ServiceMark::WORDS.iter().map(|mark| format!("is:{mark}"));
    let others = ["has:incident", "since>1h", "uptime<99.9", "sort:name", "sort:since"].map(str::to_owned);
    let all = statuses.chain(types).chain(tags).chain(marks).chain(others);
    let known: Vec<String> = query.to_string().split(' ').map(str::to_owned).collect();
    let entered = text.trim();
    let longer = |filter: String| if entered.is_empty() { filter } else { format!("{entered} {filter}") };
    all.filter(|filter| !known.contains(filter)).map(longer).collect()
}

const fn nothing() -> FleetPaging {
    FleetPaging { after: None, limit: 0 }
}

/// Returns the query without its filters by status.
fn without_statuses(query: &FleetQuery) -> FleetQuery {
    let is_about_status = |filter: &&FleetFilter| match &filter.condition {
        FilterCondition::Status(_) => true,
        FilterCondition::Unknown(unknown) => unknown.key == "status",
        _ => false,
    };
    FleetQuery {
        filters: query.filters.iter().filter(|filter| !is_about_status(filter)).cloned().collect(),
        ..query.clone()
    }
}

/// Returns the query with a further filter.
fn with(query: &FleetQuery, condition: FilterCondition) -> FleetQuery {
    let mut query = query.clone();
    query.filters.push(FleetFilter { is_negated: false, condition });
    query
}

fn link(query: &FleetQuery, text: String, count: usize, is_current: bool) -> FacetLink {
    let address = format!("/console/services?q={}", encode(&query.to_string()));
    FacetLink { address, text, count, is_current }
}

/// Returns links to the services of each status, and to all.
fn status_links(texts: ConsoleTexts, query: &FleetQuery, facets: &FleetFacets) -> Vec<FacetLink> {
    let base = without_statuses(query);
    let chosen = query.filters.iter().find_map(|filter| match &filter.condition {
        FilterCondition::Status(statuses) if !filter.is_negated => Some(statuses.clone()),
        _ => None,
    });
    let shown = [
        ServiceStatus::Down,
        ServiceStatus::Degraded,
        ServiceStatus::Unknown,
        ServiceStatus::Up,
        ServiceStatus::Maintenance,
        ServiceStatus::Paused,
    ];
    let all = link(&base, texts.text("all"), facets.statuses.all(), base == *query);
    let of_status = |status: ServiceStatus| {
        let count = match status {
            ServiceStatus::Up => facets.statuses.working(),
            status => facets.statuses.of(status),
        };
        let is_current = chosen.as_deref() == Some(&[status]);
        let text = texts.text(&format!("word-{status}"));
        link(&with(&base, FilterCondition::Status(vec![status])), text, count, is_current)
    };
    let statuses = shown.into_iter().map(of_status).filter(|link| link.count > 0 || link.is_current);
    [all].into_iter().chain(statuses).collect()
}

/// Returns links to the services with each of the most frequent tags.
fn tag_links(query: &FleetQuery, facets: &FleetFacets) -> Vec<FacetLink> {
    let links = facets.tags.iter().filter_map(|count| {
        let name = count.tag.label.parse().ok()?;
        let condition = FilterCondition::Tag(vec![name]);
        let is_current =
            query.filters.iter().any(|filter| !filter.is_negated && filter.condition == condition);
        (!is_current)
            .then(|| link(&with(query, condition), count.tag.label.to_string(), count.services, false))
    });
    links.take(TAGS).collect()
}

fn row_of(texts: ConsoleTexts, row: &FleetRow, fleet: &VisibleFleet) -> ServiceRow {
    use crate::fleet_view::fleet_facts::IncidentPresence;
    let since = row.since.map(|since| duration(seconds_between(since.ms(), fleet.now.ms())));
    let marks = [
        row.is_flapping.then(|| texts.text("mark-flapping")),
        match row.incident {
            IncidentPresence::Absent => None,
            IncidentPresence::Open => Some(texts.text("mark-incident")),
            IncidentPresence::Acknowledged => Some(texts.text("mark-acknowledged")),
        },
        row.owner_away_since
            .map(|since| texts.about("mark-away", &duration(seconds_between(since.ms(), fleet.now.ms())))),
    ];
    ServiceRow {
        id: row.id.to_string(),
        name: row.name.clone(),
        kind: word_of(texts, "check_type", row.check_type.as_str()),
        tone: tone_of(row.status),
        status: texts.text(&format!("word-{}", row.status)),
        marks: marks.into_iter().flatten().collect(),
        since: since.unwrap_or_default(),
        uptime: row.uptime_ppm.map(percent).unwrap_or_default(),
        tags: row.tags.iter().map(|tag| tag.label.to_string()).collect(),
    }
}

/// Returns millionths as a percentage with at most three decimals, cut off.
pub(super) fn percent(ppm: u32) -> String {
    let (whole, thousandths) = (ppm / 10_000, ppm % 10_000 / 10);
    if thousandths == 0 { format!("{whole} %") } else { format!("{whole}.{thousandths:03} %") }
}

fn remark_text(texts: ConsoleTexts, remark: &QueryRemark) -> String {
    let allowed = match remark.problem {
        QueryProblem::UnknownValue(words) => words.join(", "),
        _ => String::new(),
    };
    let name = match remark.problem {
        QueryProblem::UnknownKey => "remark-unknown-key",
        QueryProblem::UnknownValue([]) => "remark-unknown-value",
        QueryProblem::UnknownValue(_) => "remark-allowed",
        QueryProblem::StatusWord => "remark-status-word",
        QueryProblem::MissingValue => "remark-missing",
        QueryProblem::TooLong => "remark-too-long",
    };
    let text = texts.about(name, &remark.part);
    if allowed.is_empty() { text } else { format!("{text} {allowed}") }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(1_000_000, "100 %")]
    #[case(999_999, "99.999 %")]
    #[case(995_000, "99.500 %")]
    #[case(0, "0 %")]
    fn a_percentage_is_cut_off(#[case] ppm: u32, #[case] text: &str) {
        assert_eq!(percent(ppm), text);
    }

    #[test]
    fn further_filters_are_offered() {
        let offered = |text: &str| completions(text, &parse(text).query, &FleetFacets::default());
        assert!(offered("").contains(&"is:flapping".to_owned()));
        let longer = offered("is:flapping shop");
        assert!(longer.contains(&"is:flapping shop has:incident".to_owned()), "{longer:?}");
        assert!(!longer.iter().any(|one| one.ends_with("shop is:flapping")), "{longer:?}");
    }

    #[test]
    fn statuses_are_replaced_in_a_query() {
        let ParsedQuery { query, .. } = parse("status:down tag:env:prod shop");
        let links = status_links(ConsoleTexts::of("en"), &query, &FleetFacets::default());
        let addresses: Vec<&str> = links.iter().map(|link| link.address.as_str()).collect();
        assert_eq!(
            addresses,
            [
                "/console/services?q=tag%3Aenv%3Aprod%20shop",
                "/console/services?q=tag%3Aenv%3Aprod%20shop%20status%3Adown"
            ]
        );
        assert!(links[1].is_current && !links[0].is_current);
    }
}
