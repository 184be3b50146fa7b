//! The newest fresh results of some services, read in one statement: the details of an outage in messages.
//!
//! Only rows are read, no blocks: an outage that is news is younger than all sealed results. Rows of other services
//! share the range of a bucket, so each service has its own start time.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Alias, Asterisk, Query, SelectStatement, UnionType};
use sea_orm::{ConnectionTrait, FromQueryResult, QuerySelect, QueryTrait};
use watchkeeper_entities::fresh_check::Model;

use crate::clock::Timestamp;
use crate::model::history::StoredCheck;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::fresh_checks::{FreshCheck, of_service};
use crate::store::history::locations::LocationNumbers;

/// Maximum number of results of one service: each of its locations has several among them, also while they check
/// every second.
const RESULTS_OF_ONE_SERVICE: u64 = 40;
/// Services per statement: SQLite joins 500 selects at most.
const SERVICES_PER_STATEMENT: usize = 100;

/// A service whose newest results are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedResults {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Older results do not matter.
    pub since: Timestamp,
}

/// The newest results of each of these services, newest first, some at most. Services without any are missing.
pub async fn newest_of_services(
    connection: &dyn StoreConnection,
    wanted: &[WantedResults],
) -> Result<HashMap<ServiceKey, Vec<StoredCheck>>, HistoryError> {
    let mut found: HashMap<ServiceKey, Vec<StoredCheck>> = HashMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let numbers = LocationNumbers::read(connection).await?;
    for some in wanted.chunks(SERVICES_PER_STATEMENT) {
        let Some(statement) = statement(some) else { continue };
        for row in connection.query_all(&statement).await? {
            let FreshCheck { series, entry } = Model::from_query_result(&row, "")?.try_into()?;
            let Some(code) = numbers.code(series.location) else { continue };
            found.entry(series.service).or_default().push(entry.into_stored(code.to_owned()));
        }
    }
    for checks in found.values_mut() {
        checks.sort_by(|left, right| (right.checked_at, &right.probe).cmp(&(left.checked_at, &left.probe)));
    }
    Ok(found)
}

/// The union of one select for each service, each with its own order and limit.
fn statement(wanted: &[WantedResults]) -> Option<SelectStatement> {
    let end = Timestamp::from_ms(i64::MAX);
    let mut selects = wanted.iter().map(|wanted| {
        let range = TimeRange { from: wanted.since, to: end };
        let newest = of_service(wanted.service, range).limit(RESULTS_OF_ONE_SERVICE).into_query();
        Query::select().column(Asterisk).from_subquery(newest, Alias::new("newest")).to_owned()
    });
    let mut first = selects.next()?;
    for select in selects {
        first.union(UnionType::All, select);
    }
    Some(first)
}
