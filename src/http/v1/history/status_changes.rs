//! `GET /v1/services/{id}/status-changes` (contract 4.3.3): statuses with start and end, newest first. A period without data
//! is an entry as well.

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::read_per_page;
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::history::cursor::{CHANGES, HistoryCursorCodec};
use crate::http::v1::history::cursor_page::CursorPage;
use crate::http::v1::history::start_of;
use crate::http::v1::history::view::StatusChangeView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::history::StatusChange;
use crate::model::time_range::TimeRange;
use crate::store::history::changes;
use crate::store::history::checks::CheckPosition;
use crate::store::services;

const DEFAULT_PER_PAGE: u64 = 50;

/// A status, and the period for which it lasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StatusSpan {
    /// The change that starts the span.
    change: StatusChange,
    /// End of the span; `None` for the current status.
    until: Option<Timestamp>,
}

pub(in crate::http) async fn list_status_changes(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let service = resource_lookup::find_or_404(&call, services::find).await?;
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let walk = HistoryCursorCodec {
        purpose: CHANGES,
        sealer: &state.compiler.sealer,
        organisation: caller.organisation.id,
        service: service.id,
    };
    let (from, to) = read_period(&query, walk)?;
    let per_page = read_per_page(&query, DEFAULT_PER_PAGE);
    let mut rows = match start_of(&service, &caller, state.now()) {
        None => Vec::new(),
        Some(start) => {
            let from = from.map_or(start, |from| from.max(start));
            let changes = changes::since(state.databases.history.reader(), service.key, from).await?;
            newest(&changes, TimeRange { from, to }, per_page.saturating_add(1))
        }
    };
    let has_older = rows.len() as u64 > per_page;
    rows.truncate(usize::try_from(per_page).unwrap_or(usize::MAX));
    let position = |last: &StatusSpan| CheckPosition { checked_at: last.change.at, probe: String::new() };
    let cursor = rows.last().filter(|_| has_older).map(|last| walk.write(&position(last)));
    let address = format!("{}{canonical_path}", state.base_url);
    let rows = rows.iter().map(|span| StatusChangeView::of(span.change, span.until)).collect();
    Ok(ApiReply::view(&CursorPage::of(rows, per_page, cursor, &address, &query)))
}

/// Reads the requested period: from `from` to the earlier of `to` and the cursor.
fn read_period(
    query: &QueryString,
    walk: HistoryCursorCodec<'_>,
) -> Result<(Option<Timestamp>, Timestamp), ApiError> {
    let mut errors = FieldErrors::default();
    let (from, to) = query.period(&mut errors);
    let before = query.narrowing_value("cursor", &mut errors).and_then(|text| {
        let position = walk.read(text);
        if position.is_none() {
            errors.add("cursor", FieldRule::Cursor);
        }
        position
    });
    let before = before.map(|position| position.checked_at);
    let to = to.into_iter().chain(before).min().unwrap_or(Timestamp::from_ms(i64::MAX));
    errors.into_result((from, to)).map_err(ApiError::Fields)
}

/// Returns the newest entries that start in the range, at most `most`. Entries without duration are left out. `changes` must
/// be in order of time.
fn newest(changes: &[StatusChange], range: TimeRange, most: u64) -> Vec<StatusSpan> {
    let ends = changes.iter().skip(1).map(|next| Some(next.at)).chain([None]);
    let spans = changes.iter().zip(ends).map(|(change, until)| StatusSpan { change: *change, until });
    let mut found: Vec<StatusSpan> = spans
        .filter(|span| span.until != Some(span.change.at))
        .filter(|span| range.from <= span.change.at && span.change.at < range.to)
        .collect();
    found.reverse();
    found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::history::MeasuredStatus::{Down, NoData, Up};
    use crate::model::history::{ChangeCause, MeasuredStatus};

    const LINE: [(i64, MeasuredStatus); 5] = [(10, Up), (20, Down), (20, NoData), (30, Up), (40, Down)];

    /// Columns: from, to, most; start and end of each entry.
    #[rstest]
    #[case::all(0, 100, 9, &[(40, None), (30, Some(40)), (20, Some(30)), (10, Some(20))])]
    #[case::from_is_inclusive(20, 100, 9, &[(40, None), (30, Some(40)), (20, Some(30))])]
    #[case::to_is_exclusive(0, 30, 9, &[(20, Some(30)), (10, Some(20))])]
    #[case::some(0, 100, 2, &[(40, None), (30, Some(40))])]
    #[case::none(41, 100, 9, &[])]
    fn entries_have_a_start_and_an_end(
        #[case] from: i64,
        #[case] to: i64,
        #[case] most: u64,
        #[case] expected: &[(i64, Option<i64>)],
    ) {
        let at = Timestamp::from_ms;
        let change = |(ms, to): (i64, MeasuredStatus)| StatusChange {
            service: 1,
            at: at(ms),
            from: Up,
            to,
            cause: ChangeCause::Votes,
        };
        let changes = LINE.map(change);
        let found = newest(&changes, TimeRange { from: at(from), to: at(to) }, most);
        let found: Vec<_> =
            found.iter().map(|span| (span.change.at.ms(), span.until.map(Timestamp::ms))).collect();
        assert_eq!(found, expected);
    }
}
