//! Members of a status page's JSON object that come from other tables: its first domain, its files, its number of
//! components.
//!
//! Each query runs once for all pages of a list.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::{asset, component, custom_domain};

use crate::model::visibility::Visibility;
use crate::store::components;
use crate::store::error::MainError;

/// The members of one page's JSON object that come from other tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageExtras {
    /// Host name of the domain that was attached first, if this domain is active.
    pub active_hostname: Option<String>,
    /// Kind and hash of each file.
    pub files: Vec<(String, String)>,
    /// Number of visible components, including groups.
    pub components_count: u64,
}

/// Reads the extras of these pages, restricted to visible components, by database key of the page.
pub async fn of_pages(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    pages: &[i64],
) -> Result<HashMap<i64, PageExtras>, MainError> {
    let mut shown: HashMap<i64, PageExtras> =
        pages.iter().map(|page| (*page, PageExtras::default())).collect();
    for (page, hostname) in active_hostnames(connection, pages).await? {
        shown.entry(page).or_default().active_hostname = hostname;
    }
    let files: Vec<(i64, String, String)> = asset::Entity::find()
        .select_only()
        .columns([asset::Column::StatuspageId, asset::Column::Kind, asset::Column::Hash])
        .filter(asset::Column::StatuspageId.is_in(pages.iter().copied()))
        .into_tuple()
        .all(&connection)
        .await?;
    for (page, kind, hash) in files {
        shown.entry(page).or_default().files.push((kind, hash));
    }
    if visibility.is_confined() {
        for component in components::of_pages(connection, visibility, pages).await? {
            shown.entry(component.page).or_default().components_count += 1;
        }
        return Ok(shown);
    }
    let counts: Vec<(i64, i64)> = component::Entity::find()
        .select_only()
        .column(component::Column::StatuspageId)
        .column_as(component::Column::Id.count(), "components")
        .filter(component::Column::StatuspageId.is_in(pages.iter().copied()))
        .group_by(component::Column::StatuspageId)
        .into_tuple()
        .all(&connection)
        .await?;
    for (page, count) in counts {
        shown.entry(page).or_default().components_count = u64::try_from(count).unwrap_or_default();
    }
    Ok(shown)
}

/// The host name of the first domain of each page; `None` if this domain is not active.
async fn active_hostnames(
    connection: &dyn StoreConnection,
    pages: &[i64],
) -> Result<HashMap<i64, Option<String>>, MainError> {
    let domains: Vec<(i64, String, String)> = custom_domain::Entity::find()
        .select_only()
        .columns([
            custom_domain::Column::StatuspageId,
            custom_domain::Column::Hostname,
            custom_domain::Column::Status,
        ])
        .filter(custom_domain::Column::StatuspageId.is_in(pages.iter().copied()))
        .order_by_asc(custom_domain::Column::CreatedAt)
        .order_by_asc(custom_domain::Column::PublicId)
        .into_tuple()
        .all(&connection)
        .await?;
    let mut first = HashMap::new();
    for (page, hostname, status) in domains {
        first.entry(page).or_insert_with(|| (status == "active").then_some(hostname));
    }
    Ok(first)
}
