//! `GET /v1/services/{id}/incidents` (contract 4.9): the incidents of one service, with their impact on it.

use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::Languages;
use crate::http::kit::page::{DEFAULT_PER_PAGE, Page, PageRequest};
use crate::http::kit::reply::Reply;
use crate::http::kit::view::to_json;
use crate::http::v1::in_path;
use crate::http::v1::incidents::view::ServiceIncidentView;
use crate::http::v1::incidents::{filters, page};
use crate::http::v1::state::AppState;
use crate::model::incident::{Affected, Incident};
use crate::store::incidents::list::IncidentFilter;
use crate::store::services;

pub(in crate::http) async fn list_service_incidents(call: Call<AppState>) -> Result<Reply, ApiError> {
    let service = in_path::find(&call, services::find).await?.key;
    let Call { state, caller, query, headers, canonical_path, .. } = call;
    let filter = filters::read(&state, &caller, &query).await?;
    let filter = IncidentFilter { of_service: Some(service), ..filter };
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (rows, total) = page(&state, &caller, &filter, request.window()).await?;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let row = |(incident, services): &(Incident, Vec<Affected>)| {
        to_json(&ServiceIncidentView::of(incident, services, service, &languages))
    };
    let rows = rows.iter().map(row).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)).in_language(&languages))
}
