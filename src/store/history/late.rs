//! Late results: those whose time is sealed already. They may have been sealed themselves, so they are looked up in the
//! blocks before they become rows; rows and blocks never hold the same check twice, and no count takes it in twice.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sea_orm::ConnectionTrait;

use crate::clock::Timestamp;
use crate::model::history::CheckRecord;
use crate::store::StoreError;
use crate::store::history::blocks::Body;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::sealed::{self, Series};
use crate::store::history::segments::place::Place;
use crate::store::history::{progress, segments};

/// The results that are not sealed already. Nothing is sealed until the transaction ends.
///
/// # Errors
/// When the database fails or a block cannot be read.
pub(super) async fn unsealed<'a>(
    connection: &impl ConnectionTrait,
    place: &Place,
    records: &'a [CheckRecord],
    locations: &LocationNumbers,
) -> Result<Cow<'a, [CheckRecord]>, StoreError> {
    let boundary = progress::sealed(connection).await?;
    let mut late: BTreeMap<Series, BTreeSet<Timestamp>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.checked_at < boundary) {
        let series = Series { service: record.service, location: locations.number(&record.location)? };
        late.entry(series).or_default().insert(record.checked_at);
    }
    if late.is_empty() {
        return Ok(Cow::Borrowed(records));
    }
    let segments = segments::readable(connection).await?;
    let mut sealed_already = BTreeSet::new();
    for (series, times) in late {
        for at in sealed_times(place, &segments, series, &times).await? {
            sealed_already.insert((series, at));
        }
    }
    let is_new = |record: &&CheckRecord| {
        let location = locations.number(&record.location).unwrap_or_default();
        !sealed_already.contains(&(Series { service: record.service, location }, record.checked_at))
    };
    Ok(Cow::Owned(records.iter().filter(is_new).cloned().collect()))
}

/// Those of these times at which the series has a sealed check.
async fn sealed_times(
    place: &Place,
    segments: &[segments::Segment],
    series: Series,
    times: &BTreeSet<Timestamp>,
) -> Result<Vec<Timestamp>, StoreError> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for segment in
        segments.iter().filter(|segment| segment.purpose.from <= *last && segment.purpose.to > *first)
    {
        let door = place.door(segment.id).await?;
        let span = (*first, last.plus_ms(1));
        for outline in sealed::outlines(&door, segment, series.service, span).await? {
            if outline.series != series || times.range(outline.first_at..=outline.last_at).next().is_none() {
                continue;
            }
            let bytes = sealed::body(&door, segment, &outline).await?;
            let samples = Body::open(&bytes).and_then(|body| body.samples(series.location));
            let samples = samples.map_err(|error| sealed::damaged(&outline, &error))?;
            found.extend(samples.iter().map(|sample| sample.checked_at).filter(|at| times.contains(at)));
        }
    }
    Ok(found)
}
