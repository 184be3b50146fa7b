//! `GET /v1/services/{id}/response-times` (contract 4.6): a series of buckets, oldest first.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::reply::Reply;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::api::Api;
use crate::http::v1::history::{checks, history_start, read_range, sums, tenths_ms};
use crate::http::v1::services::find;
use crate::stats::rollup::{Sums, Wanted};
use crate::store::history::locations::LocationNumbers;

pub(in crate::http) async fn list_response_times(call: Call<Api>) -> Result<Reply, ApiError> {
    let service = find(&call).await?;
    let mut errors = FieldErrors::default();
    let range = read_range(&call.query, &mut errors);
    let probes = checks::read_probes(&call.query, &mut errors);
    errors.into_result(()).map_err(ApiError::Fields)?;
    let Call { state: api, caller, .. } = call;
    let now = api.now();
    let from = range.start(now).max(history_start(now, &caller.limits));
    let locations = match probes {
        Some(codes) => {
            let known = LocationNumbers::read(api.parts.databases.history.reader()).await.or_unmeasured()?;
            Some(known.numbers(&codes))
        }
        None => None,
    };
    let bucket_seconds = range.bucket_seconds();
    let wanted = Wanted { from, to: now.plus_ms(1), bucket_ms: Some(bucket_seconds * 1_000) };
    let sums = sums::of(&api, service.key, wanted, locations.as_deref()).await?.into_sums();
    Ok(Reply::ok(json!({
        "data": series(&sums),
        "meta": {"range": range.as_str(), "bucket_seconds": bucket_seconds},
    })))
}

/// Buckets begin at multiples of their length since 1970; those without an answered check are left out.
fn series(sums: &BTreeMap<Timestamp, Sums>) -> Vec<Value> {
    let bucket = |(start, Sums { times, .. }): (&Timestamp, &Sums)| {
        let summary = times.summary()?;
        let percentile = |percent| times.percentile_us(percent).map(|us| tenths_ms(f64::from(us)));
        Some(json!({
            "timestamp": start.to_string(),
            "avg_ms": tenths_ms(summary.mean_us()),
            "min_ms": tenths_ms(f64::from(summary.min_us)),
            "max_ms": tenths_ms(f64::from(summary.max_us)),
            "p95_ms": percentile(95.0),
            "p99_ms": percentile(99.0),
        }))
    };
    sums.iter().filter_map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::history::Sample;
    use crate::stats::rollup::Buckets;

    #[test]
    fn buckets_without_an_answer_are_left_out() {
        let wanted =
            Wanted { from: Timestamp::from_ms(0), to: Timestamp::from_ms(300_000), bucket_ms: Some(60_000) };
        let mut buckets = Buckets::new(wanted);
        for (seconds, response_us) in [(61, Some(1_000)), (119, Some(3_000)), (120, None), (240, Some(5_000))]
        {
            let checked_at = Timestamp::from_ms(seconds * 1_000);
            let sample = Sample { checked_at, location: 1, is_down: response_us.is_none(), response_us };
            buckets.add_sample(&sample);
        }
        let series = series(&buckets.into_sums());
        let starts: Vec<&str> = series.iter().filter_map(|bucket| bucket["timestamp"].as_str()).collect();
        assert_eq!(starts, ["1970-01-01T00:01:00.000Z", "1970-01-01T00:04:00.000Z"]);
        assert_eq!(series[0]["avg_ms"], json!(2.0));
        assert_eq!(series[0]["max_ms"], json!(3.0));
    }
}
