//! The spans of a service's past, with what each counts for (contract 4.7): status changes, covered by what people
//! decided.

use crate::http::kit::error::ApiError;
use crate::http::v1::state::AppState;
use crate::model::service::Service;
use crate::model::time_range::TimeRange;
use crate::stats::uptime::{Span, cover, covers, measured};
use crate::store::history::changes;
use crate::store::windows;

/// Adjoining spans of a range. The last status holds as long as results back it, which the engine knows.
pub(super) async fn spans(
    state: &AppState,
    service: &Service,
    range: TimeRange,
) -> Result<Vec<Span>, ApiError> {
    let TimeRange { from, to } = range;
    let databases = &state.databases;
    let changes = changes::since(databases.history.reader(), service.key, from).await?;
    let decided = windows::since(databases.main.reader(), &[service.key], from).await?;
    let snapshots = state.snapshots(std::slice::from_ref(service)).await?;
    let backed_until = snapshots.first().and_then(|snapshot| snapshot.measured_until).unwrap_or(from);
    let spans = measured(&changes, backed_until, range);
    let spans = cover(&spans, &covers(&decided, to));
    Ok(spans)
}
