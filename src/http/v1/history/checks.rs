//! `GET /v1/services/{id}/checks` (contract 4.8): every finished check, newest first, paged by cursor.

use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::read_per_page;
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::history::cursor::{CHECKS, HistoryCursorCodec};
use crate::http::v1::history::cursor_page::CursorPage;
use crate::http::v1::history::start_of;
use crate::http::v1::history::view::CheckView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::check::CheckStatus;
use crate::model::history::StoredCheck;
use crate::model::location::CODE_MAX_LENGTH;
use crate::store::history::checks::{CheckFilter, CheckPosition, page};
use crate::store::services;

const DEFAULT_PER_PAGE: u64 = 50;

pub(in crate::http) async fn list_checks(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let walk = HistoryCursorCodec {
        purpose: CHECKS,
        sealer: &state.compiler.sealer,
        organisation: caller.organisation.id,
        service: service.id,
    };
    let mut filter = read_filter(&query, walk)?;
    let per_page = read_per_page(&query, DEFAULT_PER_PAGE);
    let start = start_of(&service, &caller, state.now());
    filter.from = filter.from.max(start);
    let mut rows = if start.is_none() {
        Vec::new()
    } else {
        page(&state.databases.history, service.key, &filter, per_page + 1).await?
    };
    let has_older = rows.len() as u64 > per_page;
    rows.truncate(usize::try_from(per_page).unwrap_or(usize::MAX));
    let cursor = rows.last().filter(|_| has_older).map(|last| walk.write(&position_of(last)));
    let address = format!("{}{canonical_path}", state.base_url);
    let rows = rows.iter().map(CheckView::of).collect();
    Ok(ApiReply::view(&CursorPage::of(rows, per_page, cursor, &address, &query)))
}

fn position_of(check: &StoredCheck) -> CheckPosition {
    CheckPosition { checked_at: check.checked_at, probe: check.probe.clone() }
}

fn read_filter(query: &QueryString, walk: HistoryCursorCodec<'_>) -> Result<CheckFilter, ApiError> {
    let mut errors = FieldErrors::default();
    let probes = read_probes(query, &mut errors).unwrap_or_default();
    let statuses = statuses_of(query, &mut errors);
    let (from, to) = query.period(&mut errors);
    let before = query.narrowing_value("cursor", &mut errors).and_then(|text| {
        let position = walk.read(text);
        if position.is_none() {
            errors.add("cursor", FieldRule::Cursor);
        }
        position
    });
    errors.into_result(CheckFilter { probes, statuses, from, to, before }).map_err(ApiError::Fields)
}

/// Reads `probe`; `None` when it was not sent, or sent empty. Adds an error for each item that cannot be the code of a
/// location.
pub(super) fn read_probes(query: &QueryString, errors: &mut FieldErrors) -> Option<Vec<String>> {
    let items = query.list("probe").filter(|items| !items.is_empty())?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    for item in &items {
        if item.text.len() > CODE_MAX_LENGTH || !item.text.bytes().all(allowed) {
            errors.add(item.path("probe"), FieldRule::IdForm);
        }
    }
    Some(items.iter().map(|item| item.text.to_owned()).collect())
}

fn statuses_of(query: &QueryString, errors: &mut FieldErrors) -> Vec<CheckStatus> {
    let words = [CheckStatus::Up, CheckStatus::Down, CheckStatus::Degraded];
    let mut statuses = Vec::new();
    for item in query.list("status").into_iter().flatten() {
        match words.into_iter().find(|status| status.as_str() == item.text) {
            Some(status) => statuses.push(status),
            None => errors.add(item.path("status"), FieldRule::unknown_word(&words.map(CheckStatus::as_str))),
        }
    }
    statuses
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::id::Id;
    use crate::model::secret::{KEY_LENGTH, SecretSealer};

    /// Contract 4.8: the parameters.
    #[rstest]
    #[case("", None)]
    #[case("probe=&status=&from=&to=&cursor=", None)]
    #[case("probe=fra,UNKNOWN&status=up,down&from=2026-11-20&to=2026-11-21", None)]
    #[case("probe=fra,a%20b", Some("probe.1"))]
    #[case("status=up,paused", Some("status.1"))]
    #[case("from=yesterday", Some("from"))]
    #[case("from=2026-11-21&to=2026-11-20", Some("to"))]
    #[case("cursor=AAAA", Some("cursor"))]
    fn filters_are_checked(#[case] query: &str, #[case] refused: Option<&str>) {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let walk = HistoryCursorCodec {
            purpose: CHECKS,
            sealer: &sealer,
            organisation: Id::random(),
            service: Id::random(),
        };
        let found = match read_filter(&QueryString::parse(query), walk) {
            Err(ApiError::Fields(errors)) => errors.iter().next().map(|(path, _)| path.to_owned()),
            _ => None,
        };
        assert_eq!(found.as_deref(), refused);
    }
}
