//! Services without their configuration, which may be large. Code that reads many services uses these outlines.

use crate::store::connection::StoreConnection;
use sea_orm::{
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, ExprTrait as _, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, Select,
};
use watchkeeper_entities::service::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::ServiceKey;
use crate::model::service_outline::{ServiceOutline, SettingsOutline};
use crate::model::status_rules::StatusRules;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;
use crate::store::services::settings::{codes_from, number_from};
use crate::store::services::{KEYS_AT_ONCE, carrying, in_order, of_kind, override_from, pause_from, seen};

/// The columns from which an outline is made.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "Entity")]
struct OutlineRow {
    id: i64,
    public_id: String,
    organisation_id: i64,
    name: String,
    check_type: String,
    target: Option<String>,
    interval_seconds: Option<i32>,
    timeout_seconds: Option<i16>,
    retries: Option<i16>,
    assigned_probes: Option<String>,
    recovery_checks: Option<i16>,
    paused_reason: Option<String>,
    paused_at: Option<i64>,
    override_status: Option<String>,
    override_reason: Option<String>,
    override_at: Option<i64>,
    override_by: Option<String>,
    created_at: i64,
}

/// Returns the outlines of the services with these keys, of any organisation.
pub async fn by_keys(
    connection: &dyn StoreConnection,
    keys: &[ServiceKey],
) -> Result<Vec<ServiceOutline>, MainError> {
    let mut found = Vec::with_capacity(keys.len());
    for some in keys.chunks(KEYS_AT_ONCE) {
        let query = Entity::find().filter(Column::Id.is_in(some.iter().copied()));
        found.extend(selected(connection, query).await?);
    }
    Ok(found)
}

/// Returns the outline of the visible service with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<ServiceOutline>, MainError> {
    let query = seen(visibility).filter(Column::PublicId.eq(id.as_str()));
    Ok(selected(connection, query).await?.pop())
}

/// Returns the outlines of the visible services with a tag (database key) on this page of the list, oldest first, and
/// their total number.
pub async fn with_tag(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tag: i64,
    window: PageWindow,
) -> Result<(Vec<ServiceOutline>, u64), MainError> {
    let wanted = seen(visibility).filter(carrying(tag));
    let total = wanted.clone().count(&connection).await?;
    let page = wanted.order_by_asc(Column::CreatedAt).order_by_asc(Column::PublicId);
    Ok((selected(connection, page.offset(window.offset).limit(window.limit)).await?, total))
}

/// Returns the outlines of the first `limit` visible services after this one, oldest first; without it, from the oldest on.
/// With a tag (database key), only services with this tag; with check types, only services of one of them.
pub async fn listed_after(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    tag: Option<i64>,
    check_types: &[CheckType],
    last: Option<&ServiceOutline>,
    limit: u64,
) -> Result<Vec<ServiceOutline>, MainError> {
    let mut query = of_kind(seen(visibility), tag, check_types);
    if let Some(last) = last {
        let at = last.created_at.ms();
        let later = Column::CreatedAt.gt(at).or(Column::PublicId.gt(last.id.as_str()));
        query = query.filter(Column::CreatedAt.gte(at)).filter(later);
    }
    selected(connection, in_order(query, PageWindow { offset: 0, limit })).await
}

/// Returns the outlines of the services that a query selects, in the order of the query.
pub(in crate::store) async fn selected(
    connection: &dyn StoreConnection,
    query: Select<Entity>,
) -> Result<Vec<ServiceOutline>, MainError> {
    let rows = query.into_partial_model::<OutlineRow>().all(&connection).await?;
    rows.into_iter().map(to_outline).collect()
}

fn to_outline(row: OutlineRow) -> Result<ServiceOutline, MainError> {
    let key = row.id;
    let corrupt = |problem: String| MainError::corrupt("service", &key, &problem);
    let check_type = row.check_type.parse();
    Ok(ServiceOutline {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed".into()))?,
        organisation: row.organisation_id,
        check_type: check_type.map_err(|_| corrupt(format!("unknown check type {}", row.check_type)))?,
        settings: settings_from(&row).map_err(corrupt)?,
        pause: pause_from(row.paused_reason, row.paused_at).map_err(corrupt)?,
        status_override: override_from(
            row.override_status,
            row.override_at,
            row.override_reason,
            row.override_by,
        )
        .map_err(corrupt)?,
        created_at: Timestamp::from_ms(row.created_at),
        name: row.name,
        target: row.target,
    })
}

/// Returns the settings that an outline contains; `None` if the service has no settings.
fn settings_from(row: &OutlineRow) -> Result<Option<SettingsOutline>, String> {
    let (Some(interval), Some(timeout), Some(retries)) =
        (row.interval_seconds, row.timeout_seconds, row.retries)
    else {
        return Ok(None);
    };
    Ok(Some(SettingsOutline {
        interval_seconds: u32::try_from(interval).map_err(|_| "negative interval")?,
        timeout_seconds: u8::try_from(timeout).map_err(|_| "timeout out of range")?,
        retries: u8::try_from(retries).map_err(|_| "retries out of range")?,
        assigned_probes: codes_from(row.assigned_probes.as_deref())?,
        recovery_checks: number_from(row.recovery_checks, StatusRules::default().recovery_checks)?,
    }))
}
