//! The list of all incidents with filters, which are in its address.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;
use url::form_urlencoded;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::incident::severity_tone;
use crate::console::screens::resources::field_texts::label_of;
use crate::console::screens::resources::view::{ListLink, lists_of};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::http::kit::rule::FieldRule;
use crate::model::access::Permission;

/// Number of incidents on a page.
const ROWS: usize = 50;
/// Number of services by which the list can be filtered.
const SERVICES: usize = 100;

#[derive(Template)]
#[template(path = "screens/incidents/list.html")]
struct IncidentListDocument {
    frame: ConsoleFrame,
    states: Vec<FilterOption>,
    visibilities: Vec<FilterOption>,
    services: Vec<FilterOption>,
    from: String,
    to: String,
    /// Reason for which the filters were refused.
    problem: Option<String>,
    rows: Vec<IncidentRow>,
    total: u64,
    previous: Option<String>,
    next: Option<String>,
    may_create: bool,
    screen: &'static str,
    lists: Vec<ListLink>,
    new: String,
}

/// A choice of a filter.
struct FilterOption {
    value: String,
    text: String,
    is_chosen: bool,
}

/// An incident in the list.
struct IncidentRow {
    link: String,
    title: String,
    status: String,
    tone: &'static str,
    severity: String,
    services: String,
    started: String,
    resolved: String,
    is_internal: bool,
}

/// Shows the list.
pub(in crate::console) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let (texts, query) = (visit.texts, &visit.visit.query);
    let page = query.text("page").parse::<u64>().unwrap_or(1).max(1);
    let target = format!("/v1/incidents?{}&per_page={ROWS}&page={page}", api_query(query));
    let (body, problem) = match visit.get(&target).await {
        Ok(body) => (body, None),
        Err(ApiError::Fields(errors)) => {
            let rule = |(field, rule): (&str, &FieldRule)| {
                format!("{}: {}", label_of(texts, field), texts.of_rule(rule))
            };
            (Value::Null, Some(errors.iter().map(rule).collect::<Vec<_>>().join(" ")))
        }
        Err(error) => return Err(error.into()),
    };
    let last = body["meta"]["last_page"].as_u64().unwrap_or(1);
    let address = |page: u64| format!("?{}", query.encoded_with("page", &page.to_string()));
    let document = IncidentListDocument {
        states: options(texts, &["open", "resolved"], query.text("state")),
        visibilities: options(texts, &["public", "internal"], query.text("visibility")),
        services: service_options(visit, query.text("service")).await?,
        from: query.text("from").to_owned(),
        to: query.text("to").to_owned(),
        rows: body["data"].as_array().into_iter().flatten().map(|row| IncidentRow::of(texts, row)).collect(),
        total: body["meta"]["total"].as_u64().unwrap_or_default(),
        previous: (page > 1).then(|| address(page - 1)),
        next: (page < last).then(|| address(page + 1)),
        may_create: visit.may(Permission::IncidentsCreate),
        screen: "/incidents",
        lists: lists_of(visit, ConsoleSection::Incidents, "/incidents/all"),
        new: visit.texts.text("new-incidents"),
        problem,
        frame: ConsoleFrame::of(visit, ConsoleSection::Incidents, texts.text("all-incidents")),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns the filters as the API takes them. What is left empty filters nothing.
fn api_query(query: &FormData) -> String {
    let mut wanted = form_urlencoded::Serializer::new(String::new());
    match query.text("state") {
        "open" => wanted.append_pair("resolved", "false"),
        "resolved" => wanted.append_pair("resolved", "true"),
        _ => &mut wanted,
    };
    match query.text("visibility") {
        "public" => wanted.append_pair("is_published", "true"),
        "internal" => wanted.append_pair("is_published", "false"),
        _ => &mut wanted,
    };
    for (name, parameter) in [("from", "from"), ("to", "to"), ("service", "service_ids")] {
        if !query.text(name).is_empty() {
            wanted.append_pair(parameter, query.text(name));
        }
    }
    wanted.finish()
}

fn options(texts: ConsoleTexts, words: &[&str], chosen: &str) -> Vec<FilterOption> {
    let option = |word: &&str| FilterOption {
        value: (*word).to_owned(),
        text: texts.text(&format!("filter-{word}")),
        is_chosen: *word == chosen,
    };
    words.iter().map(option).collect()
}

/// Returns the first services by which the list can be filtered, and the chosen one.
async fn service_options(visit: &UserVisit, chosen: &str) -> Result<Vec<FilterOption>, ScreenError> {
    let body = match visit.get(&format!("/v1/services?per_page={SERVICES}")).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_)) => Value::Null,
        Err(error) => return Err(error.into()),
    };
    let option = |service: &Value| FilterOption {
        value: text(&service["id"]),
        text: text(&service["name"]),
        is_chosen: service["id"] == chosen,
    };
    let mut options: Vec<FilterOption> = body["data"].as_array().into_iter().flatten().map(option).collect();
    if !chosen.is_empty() && options.iter().all(|option| !option.is_chosen) {
        options.push(FilterOption { value: chosen.to_owned(), text: chosen.to_owned(), is_chosen: true });
    }
    Ok(options)
}

impl IncidentRow {
    fn of(texts: ConsoleTexts, incident: &Value) -> Self {
        let word = |name: &str| {
            let word = text(&incident[name]);
            texts.text_or(&format!("word-{word}"), &word)
        };
        let services = incident["services"].as_array().into_iter().flatten();
        Self {
            link: format!("/console/incidents/{}", text(&incident["id"])),
            title: text(&incident["title"]),
            status: word("status"),
            tone: severity_tone(incident["severity"].as_str().unwrap_or_default()),
            severity: word("severity"),
            services: services.map(|service| text(&service["name"])).collect::<Vec<_>>().join(", "),
            started: seconds(&incident["started_at"]),
            resolved: seconds(&incident["resolved_at"]),
            is_internal: incident["is_published"] == false,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a time of the API to the second; empty for null.
fn seconds(time: &Value) -> String {
    let time = text(time);
    time.get(..19).map(|time| format!("{} UTC", time.replace('T', " "))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "")]
    #[case("state=open&page=2", "resolved=false")]
    #[case("state=resolved&visibility=internal", "resolved=true&is_published=false")]
    #[case(
        "from=2026-11-01&to=&service=x&visibility=public",
        "is_published=true&from=2026-11-01&service_ids=x"
    )]
    #[case("state=else", "")]
    fn filters_become_parameters_of_the_api(#[case] query: &str, #[case] expected: &str) {
        assert_eq!(api_query(&FormData::parse(query.as_bytes())), expected);
    }
}
