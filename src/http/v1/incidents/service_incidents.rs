//! `GET /v1/services/{id}/incidents` (contract 4.9): the incidents of one service, with their impact on it.

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::incidents::view::ServiceIncidentView;
use crate::http::v1::incidents::{filters, page};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::incident::{AffectedService, Incident};
use crate::store::incidents::list::IncidentFilter;
use crate::store::services;

pub(in crate::http) async fn list_service_incidents(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?.key;
    let ApiCall { state, caller, query, headers, canonical_path, .. } = call;
    let filter = filters::read(&state, &caller, &query).await?;
    let filter = IncidentFilter { of_service: Some(service), ..filter };
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let (rows, total) = page(&state, &caller, &filter, request.window()).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let row = |(incident, services): &(Incident, Vec<AffectedService>)| {
        to_json(&ServiceIncidentView::of(incident, services, service, &languages))
    };
    let rows = rows.iter().map(row).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows))
        .in_language(&languages))
}
