//! `GET /v1/services/{id}/response-times` (contract 4.6): a series of buckets, oldest first.

use std::collections::BTreeMap;

use serde_json::json;

use crate::clock::Timestamp;
use crate::history_figures::sums;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::history::view::ResponseTimeView;
use crate::http::v1::history::{checks, history_start, read_range};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::stats::rollup::{CheckSums, RollupQuery};
use crate::store::history::locations::LocationNumbers;
use crate::store::services;

pub(in crate::http) async fn list_response_times(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let mut errors = FieldErrors::default();
    let range = read_range(&call.query, &mut errors);
    let probes = checks::read_probes(&call.query, &mut errors);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let ApiCall { state, caller, .. } = call;
    let now = state.now();
    let from = range.start(now).max(history_start(now, &caller.limits));
    let locations = match probes {
        Some(codes) => {
            let known = LocationNumbers::read(state.databases.history.reader()).await?;
            Some(known.numbers(&codes))
        }
        None => None,
    };
    let bucket_seconds = range.bucket_seconds();
    let wanted = RollupQuery { from, to: now.plus_ms(1), bucket_ms: Some(bucket_seconds * 1_000) };
    let sums =
        sums::of(&state.databases.history, service.key, wanted, locations.as_deref()).await?.into_sums();
    Ok(ApiReply::ok(json!({
        "data": to_json(&series(&sums)),
        "meta": {"range": range.as_str(), "bucket_seconds": bucket_seconds},
    })))
}

/// Returns a view of each bucket with a successful check. Buckets start at multiples of their length since 1970.
fn series(sums: &BTreeMap<Timestamp, CheckSums>) -> Vec<ResponseTimeView> {
    sums.iter().filter_map(|(start, sums)| ResponseTimeView::of(*start, sums)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::history::CheckSample;
    use crate::stats::rollup::TimeBuckets;

    #[test]
    fn buckets_without_an_answer_are_left_out() {
        let wanted = RollupQuery {
            from: Timestamp::from_ms(0),
            to: Timestamp::from_ms(300_000),
            bucket_ms: Some(60_000),
        };
        let mut buckets = TimeBuckets::new(wanted);
        for (seconds, response_us) in [(61, Some(1_000)), (119, Some(3_000)), (120, None), (240, Some(5_000))]
        {
            let checked_at = Timestamp::from_ms(seconds * 1_000);
            let sample = CheckSample { checked_at, location: 1, is_down: response_us.is_none(), response_us };
            buckets.add_sample(&sample);
        }
        let series = series(&buckets.into_sums());
        let starts: Vec<String> = series.iter().map(|bucket| bucket.timestamp.to_string()).collect();
        assert_eq!(starts, ["1970-01-01T00:01:00.000Z", "1970-01-01T00:04:00.000Z"]);
        assert_eq!(json!(series[0].avg_ms), json!(2.0));
        assert_eq!(json!(series[0].max_ms), json!(3.0));
    }
}
