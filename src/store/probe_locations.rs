//! Remote locations. A machine takes a location over with an enrolment, which can be used once.
//!
//! A location is never deleted: its code is part of stored results and must not be reused. A location that is no longer in
//! use is disabled.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::probe_location::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::location::{Location, LocationCode};
use crate::store::error::MainError;

/// A temporary permission to take a location over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enrolment {
    /// Id of the enrolment. Its secret is known only to the bus.
    pub id: Id,
    /// Time until which the enrolment can be used.
    pub expires_at: Timestamp,
}

/// Public keys of the machine that serves a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationKeys {
    /// Identifies the machine on the bus.
    pub user: String,
    /// Definitions for the machine are sealed to this key.
    pub sealing: String,
}

/// The machine that serves a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrolledMachine {
    /// Public keys of the machine.
    pub keys: LocationKeys,
    /// Time at which the machine took the location over.
    pub enrolled_at: Timestamp,
}

/// A location as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLocation {
    /// Code, name and place of the location.
    pub location: Location,
    /// False if the location is no longer in use.
    pub is_enabled: bool,
    /// The enrolment that has not been used yet; `None` if there is none.
    pub enrolment: Option<Enrolment>,
    /// The machine that serves the location; `None` before the first enrolment is used.
    pub machine: Option<EnrolledMachine>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Stores a new location that waits for its machine. Returns false if the code is taken, even by a disabled location.
pub async fn insert(
    connection: &dyn StoreConnection,
    location: &Location,
    enrolment: Enrolment,
    now: Timestamp,
) -> Result<bool, MainError> {
    let row = ActiveModel {
        code: Set(location.code.to_string()),
        name: Set(location.name.clone()),
        place: Set(location.place.clone()),
        country_code: Set(location.country_code.clone()),
        is_enabled: Set(true),
        enrolment: Set(Some(enrolment.id.to_string())),
        enrolment_expires_at: Set(Some(enrolment.expires_at.ms())),
        enrolled_at: Set(None),
        user_key: Set(None),
        sealing_key: Set(None),
        created_at: Set(now.ms()),
    };
    let once = OnConflict::column(Column::Code).do_nothing().to_owned();
    Ok(Entity::insert(row).on_conflict(once).exec_without_returning(&connection).await? == 1)
}

/// Stores an enrolment for another machine and enables the location. The current machine serves the location until the
/// enrolment is used. Returns false if the code is unknown.
pub async fn invite(
    connection: &dyn StoreConnection,
    code: &LocationCode,
    enrolment: Enrolment,
) -> Result<bool, MainError> {
    let invited = Entity::update_many()
        .col_expr(Column::Enrolment, Expr::value(enrolment.id.to_string()))
        .col_expr(Column::EnrolmentExpiresAt, Expr::value(enrolment.expires_at.ms()))
        .col_expr(Column::IsEnabled, Expr::value(true))
        .filter(Column::Code.eq(code.as_str()))
        .exec(&connection)
        .await?;
    Ok(invited.rows_affected == 1)
}

/// Uses an enrolment: the machine with these keys takes its location over. Returns `None` if the enrolment is unknown, was
/// used by another machine, or has expired. A machine that repeats its request, because it did not receive the answer,
/// gets the same answer.
pub async fn enrol(
    connection: &dyn StoreConnection,
    enrolment: Id,
    keys: &LocationKeys,
    now: Timestamp,
) -> Result<Option<Location>, MainError> {
    let by_enrolment = Column::Enrolment.eq(enrolment.to_string());
    let Some(row) = Entity::find().filter(by_enrolment.clone()).one(&connection).await? else {
        return Ok(None);
    };
    if row.enrolment_expires_at.is_none() && row.user_key.as_ref() == Some(&keys.user) {
        return Ok(Some(from_row(row)?.location));
    }
    let used = Entity::update_many()
        .col_expr(Column::EnrolmentExpiresAt, Expr::value(Option::<i64>::None))
        .col_expr(Column::EnrolledAt, Expr::value(now.ms()))
        .col_expr(Column::UserKey, Expr::value(keys.user.clone()))
        .col_expr(Column::SealingKey, Expr::value(keys.sealing.clone()))
        .filter(by_enrolment)
        .filter(Column::EnrolmentExpiresAt.gt(now.ms()))
        .filter(Column::IsEnabled.eq(true))
        .exec(&connection)
        .await?;
    if used.rows_affected != 1 {
        return Ok(None);
    }
    Ok(Some(from_row(row)?.location))
}

/// Disables a location and removes its machine and enrolment. Returns false if the code is unknown.
pub async fn disable(connection: &dyn StoreConnection, code: &LocationCode) -> Result<bool, MainError> {
    let disabled = Entity::update_many()
        .col_expr(Column::IsEnabled, Expr::value(false))
        .col_expr(Column::Enrolment, Expr::value(Option::<String>::None))
        .col_expr(Column::EnrolmentExpiresAt, Expr::value(Option::<i64>::None))
        .col_expr(Column::EnrolledAt, Expr::value(Option::<i64>::None))
        .col_expr(Column::UserKey, Expr::value(Option::<String>::None))
        .col_expr(Column::SealingKey, Expr::value(Option::<String>::None))
        .filter(Column::Code.eq(code.as_str()))
        .exec(&connection)
        .await?;
    Ok(disabled.rows_affected == 1)
}

/// The location with this code.
pub async fn get(
    connection: &dyn StoreConnection,
    code: &LocationCode,
) -> Result<Option<StoredLocation>, MainError> {
    let row = Entity::find_by_id(code.as_str()).one(&connection).await?;
    row.map(from_row).transpose()
}

/// All locations, sorted by code. A location that cannot be read is logged and left out.
pub async fn list(connection: &dyn StoreConnection) -> Result<Vec<StoredLocation>, MainError> {
    let rows = Entity::find().order_by_asc(Column::Code).all(&connection).await?;
    let readable = |row| {
        from_row(row)
            .inspect_err(|error| tracing::error!(%error, "cannot read a remote location; ignoring it"))
            .ok()
    };
    Ok(rows.into_iter().filter_map(readable).collect())
}

fn from_row(row: Model) -> Result<StoredLocation, MainError> {
    let corrupt = |what: &'static str| MainError::corrupt("probe_location", &row.code, &what);
    let code = row.code.parse().map_err(|_| corrupt("its code is malformed"))?;
    let enrolment = match (&row.enrolment, row.enrolment_expires_at) {
        (Some(id), Some(expires_at)) => {
            let id = id.parse().map_err(|_| corrupt("its enrolment is malformed"))?;
            Some(Enrolment { id, expires_at: Timestamp::from_ms(expires_at) })
        }
        _ => None,
    };
    let machine = match (row.user_key, row.sealing_key, row.enrolled_at) {
        (Some(user), Some(sealing), Some(at)) => Some(EnrolledMachine {
            keys: LocationKeys { user, sealing },
            enrolled_at: Timestamp::from_ms(at),
        }),
        _ => None,
    };
    let location = Location { code, name: row.name, place: row.place, country_code: row.country_code };
    let created_at = Timestamp::from_ms(row.created_at);
    Ok(StoredLocation { location, is_enabled: row.is_enabled, enrolment, machine, created_at })
}
