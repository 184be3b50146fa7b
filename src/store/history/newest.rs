//! The newest fresh results of some services, read with few statements: the details of an outage in messages.
//!
//! Only rows are read, not blocks: messages are about recent outages, whose results are not sealed yet. A bucket also
//! contains rows of other services, so each service has its own start time to keep the scanned range short.

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

/// Maximum number of results per service. It includes several results of each location, even if locations check every
/// second.
const RESULTS_OF_ONE_SERVICE: u64 = 40;
/// Number of services per statement: SQLite joins at most 500 selects.
const SERVICES_PER_STATEMENT: usize = 100;

/// A service whose newest results are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedResults {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Results that started before this time are not read.
    pub since: Timestamp,
}

/// The newest results of each of these services, newest first, at most 40 per service. A service without results is not
/// in the map.
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

/// The union of one select per service, each with its own order and limit; `None` without services.
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
