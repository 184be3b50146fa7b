//! `/v1/audit-log`: who changed what, newest first. Entries cannot be changed or deleted.

pub(in crate::http) mod openapi;
mod view;

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::audit_log::view::AuditEntryView;
use crate::http::v1::state::AppState;
use crate::store::audit_entries::{self, AuditFilter};

pub(super) async fn list_audit_log(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let filter = read_filter(&query).map_err(ApiError::Fields)?;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let owner = caller.organisation.key;
    let (entries, total) = audit_entries::list(main, owner, &filter, request.window()).await?;
    let rows = entries.iter().map(|entry| to_json(&AuditEntryView::of(entry))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

fn read_filter(query: &QueryString) -> Result<AuditFilter, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut word = |name: &str| query.single(name, &mut errors).map(str::to_owned);
    let (actor, object, action) = (word("actor"), word("object"), word("action"));
    let (from, to) = query.period(&mut errors);
    errors.into_result(AuditFilter { actor, object, action, from, to })
}
