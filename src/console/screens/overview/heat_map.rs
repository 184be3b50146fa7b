//! All services as cells, grouped by the values of a tag, those that are wrong first.
//!
//! Cells of one status follow each other, so that a group is at most six shapes, however many services it has. The cells of
//! the listed wrong services are links to them.

use std::collections::HashMap;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::VisibleFleet;
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::listing::FleetPaging;
use crate::fleet_view::query::FleetQuery;
use crate::fleet_view::summary::{FleetFacets, FleetGroup, StatusTotals};
use crate::http::kit::query::encode;
use crate::model::service::ServiceStatus;

/// Number of groups on the map.
const GROUPS: usize = 24;
/// Number of tag keys to choose from.
const KEYS: usize = 6;
/// Cells in a row of the map, at least and at most.
const COLUMNS: (usize, usize) = (24, 800);
/// Cells in a row up to which they are drawn with lines between them.
const COLUMNS_WITH_LINES: usize = 80;
/// The statuses in the order of their cells.
const ORDER: [ServiceStatus; 6] = [
    ServiceStatus::Down,
    ServiceStatus::Degraded,
    ServiceStatus::Unknown,
    ServiceStatus::Paused,
    ServiceStatus::Maintenance,
    ServiceStatus::Up,
];

/// The map.
#[derive(Debug, Default)]
pub(super) struct HeatMap {
    /// Key of the tags by which it is grouped; empty if there are none.
    pub(super) key: String,
    /// The other keys by which it can be grouped.
    pub(super) keys: Vec<KeyLink>,
    /// Cells in a row.
    pub(super) columns: usize,
    pub(super) has_lines: bool,
    pub(super) groups: Vec<MapGroup>,
}

/// A link to the map by another key.
#[derive(Debug)]
pub(super) struct KeyLink {
    pub(super) address: String,
    pub(super) name: String,
}

/// The services with one value of a tag.
#[derive(Debug)]
pub(super) struct MapGroup {
    pub(super) link: String,
    pub(super) name: String,
    /// Number of rows of cells.
    pub(super) rows: usize,
    pub(super) parts: Vec<MapPart>,
    pub(super) cells: Vec<MapCell>,
}

/// The services of a group that have the same status.
#[derive(Debug)]
pub(super) struct MapPart {
    pub(super) tone: &'static str,
    pub(super) status: String,
    pub(super) services: usize,
    /// Outline of their cells, as the data of an SVG path.
    pub(super) path: String,
}

/// A service that is wrong.
#[derive(Debug)]
pub(super) struct MapCell {
    pub(super) link: String,
    pub(super) name: String,
    pub(super) tone: &'static str,
    pub(super) x: usize,
    pub(super) y: usize,
}

impl HeatMap {
    /// Draws the services that a user sees, grouped by this key of tags, or by the one that most services have. `wrong` are
    /// services that are down or degraded.
    pub(super) fn of(texts: ConsoleTexts, fleet: &VisibleFleet, key: &str, wrong: &[FleetRow]) -> Self {
        let query = FleetQuery::default();
        let nothing = FleetPaging { after: None, limit: 0 };
        let facets = fleet.view.search(&query, &fleet.visible, &nothing, fleet.now).facets;
        let mut keys = tag_keys(&facets);
        let key = if keys.iter().any(|known| known == key) {
            key.to_owned()
        } else {
            keys.first().cloned().unwrap_or_default()
        };
        keys.retain(|other| *other != key);
        let groups = if key.is_empty() {
            vec![FleetGroup { value: None, statuses: facets.statuses }]
        } else {
            fleet.view.groups(&query, &fleet.visible, &key, fleet.now)
        };
        let groups: Vec<&FleetGroup> =
            groups.iter().filter(|group| group.statuses.all() > 0).take(GROUPS).collect();
        let largest = groups.iter().map(|group| group.statuses.all()).max().unwrap_or_default();
        let columns = columns(largest);
        let drawn = groups.iter().map(|group| {
            let (name, query) = match &group.value {
                Some(value) => (label(&key, value), format!("tag:{}", label(&key, value))),
                None if key.is_empty() => (texts.text("all-services"), String::new()),
                None => (texts.text("without-tag"), String::new()),
            };
            let listed = wrong.iter().filter(|row| value_of(row, &key) == group.value);
            MapGroup {
                link: format!("/console/services?q={}", encode(&query)),
                name,
                rows: group.statuses.all().div_ceil(columns),
                parts: parts(texts, group.statuses, columns),
                cells: cells(listed, group.statuses, columns),
            }
        });
        let groups = drawn.collect();
        let link = |key: String| KeyLink {
            address: format!("/console?group={}", encode(&key)),
            name: texts.about("by-tag", &key),
        };
        let keys = keys.into_iter().map(link).collect();
        Self { key, keys, columns, has_lines: columns <= COLUMNS_WITH_LINES, groups }
    }
}

/// Returns the keys of tags, the one that most services have first.
fn tag_keys(facets: &FleetFacets) -> Vec<String> {
    let mut services: HashMap<&str, usize> = HashMap::new();
    for count in &facets.tags {
        if let Some((key, _)) = count.tag.label.split_once(':') {
            *services.entry(key).or_default() += count.services;
        }
    }
    let mut keys: Vec<(&str, usize)> = services.into_iter().collect();
    keys.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
    keys.into_iter().take(KEYS).map(|(key, _)| key.to_owned()).collect()
}

fn label(key: &str, value: &str) -> String {
    if value.is_empty() { key.to_owned() } else { format!("{key}:{value}") }
}

/// Returns the value of the first tag with this key; `None` without one.
fn value_of(row: &FleetRow, key: &str) -> Option<String> {
    row.tags.iter().find_map(|tag| match tag.label.split_once(':') {
        Some((own, value)) if own == key => Some(value.to_owned()),
        None if &*tag.label == key => Some(String::new()),
        _ => None,
    })
}

/// Returns the number of cells in a row, by the size of the largest group: that is four times as wide as high.
fn columns(largest: usize) -> usize {
    (4 * largest).isqrt().clamp(COLUMNS.0, COLUMNS.1)
}

fn services_of(statuses: StatusTotals, status: ServiceStatus) -> usize {
    match status {
        ServiceStatus::Up => statuses.working(),
        status => statuses.of(status),
    }
}

fn parts(texts: ConsoleTexts, statuses: StatusTotals, columns: usize) -> Vec<MapPart> {
    let mut before = 0;
    let mut parts = Vec::new();
    for status in ORDER {
        let services = services_of(statuses, status);
        if services > 0 {
            parts.push(MapPart {
                tone: tone_of(status),
                status: texts.text(&format!("word-{status}")),
                services,
                path: outline(before, before + services, columns),
            });
            before += services;
        }
    }
    parts
}

/// Returns the outline of the cells from `first` up to `end`, which come row by row.
fn outline(first: usize, end: usize, columns: usize) -> String {
    let (top, left) = (first / columns, first % columns);
    let (bottom, right) = ((end - 1) / columns, (end - 1) % columns + 1);
    if top == bottom {
        return format!("M{left} {top}H{right}v1H{left}z");
    }
    format!("M{left} {top}H{columns}V{bottom}H{right}v1H0V{}H{left}z", top + 1)
}

/// Returns the cells of listed services: the first cells of their status.
fn cells<'a>(
    listed: impl Iterator<Item = &'a FleetRow>,
    statuses: StatusTotals,
    columns: usize,
) -> Vec<MapCell> {
    let mut next = HashMap::from([
        (ServiceStatus::Down, 0),
        (ServiceStatus::Degraded, statuses.of(ServiceStatus::Down)),
    ]);
    let cell = |row: &FleetRow| {
        let place = next.get_mut(&row.status)?;
        let at = *place;
        *place += 1;
        Some(MapCell {
            link: format!("/console/services/{}", row.id),
            name: row.name.clone(),
            tone: tone_of(row.status),
            x: at % columns,
            y: at / columns,
        })
    };
    listed.filter_map(cell).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one(0, 1, "M0 0H1v1H0z")]
    #[case::within_a_row(2, 5, "M2 0H5v1H2z")]
    #[case::a_row(10, 20, "M0 1H10v1H0z")]
    #[case::two_rows(8, 12, "M8 0H10V1H2v1H0V1H8z")]
    #[case::many_rows(5, 43, "M5 0H10V4H3v1H0V1H5z")]
    fn cells_have_an_outline(#[case] first: usize, #[case] end: usize, #[case] path: &str) {
        assert_eq!(outline(first, end, 10), path);
    }

    #[rstest]
    #[case(0, 24)]
    #[case(100, 24)]
    #[case(1_000, 63)]
    #[case(100_000, 632)]
    #[case(10_000_000, 800)]
    fn a_large_group_has_more_cells_in_a_row(#[case] services: usize, #[case] expected: usize) {
        assert_eq!(columns(services), expected);
    }
}
