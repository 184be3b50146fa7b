//! `GET /v1/probes`: the active monitoring locations (contract 4.1), a whole collection.

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::page::{Page, PageRequest};
use crate::http::kit::reply::Reply;
use crate::http::v1::api::Api;
use crate::model::location::Location;

pub(super) async fn list_probes(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, query, canonical_path, .. } = call;
    let mut locations = api.parts.definer.roster.locations().to_vec();
    locations.sort_by(|left, right| left.code.cmp(&right.code));
    let total = locations.len() as u64;
    let request = PageRequest::read_whole(&query, total);
    let now = api.now();
    let rows = request.cut(locations).iter().map(|location| to_json(location, now)).collect();
    let path = format!("{}{canonical_path}", api.base_url);
    Ok(Reply::ok(Page { request, total, path: &path, query: &query }.envelope(rows)))
}

/// Locations of this process are as alive as the process that answers.
fn to_json(location: &Location, now: Timestamp) -> Value {
    json!({
        "code": location.code.as_str(),
        "name": location.name,
        "location": location.place,
        "country_code": location.country_code,
        "kind": "public",
        "status": "online",
        "last_seen_at": now.to_string(),
    })
}
