//! `GET /v1/me`: what the calling token is and may (contract 4.17). The bare object, on every plan.

use serde_json::{Value, json};

use crate::http::gate::auth::Caller;
use crate::http::gate::call::Call;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::Reply;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::api::Api;
use crate::store::usage::{self, Usage};

pub(super) async fn show_me(call: Call<Api>) -> Result<Reply, ApiError> {
    let Call { state: api, caller, .. } = call;
    let main = api.parts.databases.main.reader();
    let usage = usage::count(main, caller.organisation.key).await.or_unavailable()?;
    Ok(Reply::ok(to_json(&caller, api.parts.config.rate_limit_per_minute, usage)))
}

fn to_json(caller: &Caller, requests_per_minute: u32, usage: Usage) -> Value {
    let Caller { token, organisation, limits } = caller;
    let counted = |limit: Option<u32>, usage: Option<u64>| json!({"limit": limit, "usage": usage});
    let mut me = json!({
        "type": "user",
        "permissions": token.permissions.iter().map(|permission| permission.as_str()).collect::<Vec<_>>(),
        "organization": {
            "public_id": organisation.id.as_str(),
            "name": organisation.name,
            "plan": organisation.plan.as_str(),
            "locales": organisation.locales,
            "default_locale": organisation.default_locale,
        },
        "rate_limit": {"requests_per_minute": requests_per_minute},
        "token": {"id": token.id.as_str(), "name": token.name},
        "limits": {
            "services": counted(limits.services, Some(usage.services)),
            "tags": counted(limits.tags, Some(usage.tags)),
            "published_statuspages": counted(limits.published_statuspages, Some(usage.published_statuspages)),
            "statuspages": counted(limits.statuspages, Some(usage.statuspages)),
            "components": counted(limits.components, None),
            "custom_domains": counted(limits.custom_domains, None),
        },
    });
    if let Some(expires_at) = token.expires_at {
        me["expires_at"] = Value::from(expires_at.to_string());
    }
    me
}
