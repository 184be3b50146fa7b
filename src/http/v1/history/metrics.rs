//! `GET /v1/services/{id}/metrics` (contract 4.5): figures of a service over a range.

use serde_json::json;

use crate::history_figures::sums;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::history::view::MetricsView;
use crate::http::v1::history::{history_start, read_range, timeline};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::time_range::TimeRange;
use crate::stats::rollup::RollupQuery;
use crate::stats::uptime::total;
use crate::store::services;

pub(in crate::http) async fn show_metrics(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let mut errors = FieldErrors::default();
    let range = read_range(&call.query, &mut errors);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let ApiCall { state, caller, .. } = call;
    let now = state.now();
    let from = range.start(now).max(history_start(now, &caller.limits));
    let wanted = RollupQuery { from, to: now.plus_ms(1), bucket_ms: None };
    let sums = sums::of(&state.databases.history, service.key, wanted, None).await?.into_total();
    let spans = timeline::spans(&state, &service, TimeRange { from, to: now }).await?;
    let data = to_json(&MetricsView::of(&sums, total(&spans).percent()));
    Ok(ApiReply::ok(json!({"data": data, "meta": {"range": range.as_str()}})))
}
