//! Group keys of incidents that the engine opened. For each policy and key, the incident that a service with this key
//! joined last.
//!
//! A row is written when a service joins an incident, so that the next service finds the incident by its own keys, however
//! many services it affects. Rows of resolved incidents are ignored; they stay until the incident is deleted or another
//! incident takes the key. Rows of a deleted policy stay, so that another policy can continue its incidents.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict, Query, SelectStatement};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use watchkeeper_entities::incident_group_key::{ActiveModel, Column, Entity};
use watchkeeper_entities::{incident, incident_automation};

use crate::model::group_key::GroupKey;
use crate::model::incident_policy::IncidentPolicy;
use crate::store::error::MainError;

/// Number of keys per statement, far below the limit of bound values.
const KEYS_PER_STATEMENT: usize = 1_000;

/// The open incidents for each of these keys, newest first, if they were opened by this policy or by a deleted policy of
/// the organisation. A key without an incident is not in the result.
pub async fn find(
    connection: &dyn StoreConnection,
    policy: &IncidentPolicy,
    keys: &[GroupKey],
) -> Result<HashMap<GroupKey, Vec<i64>>, MainError> {
    let mut found: HashMap<GroupKey, Vec<i64>> = HashMap::new();
    for kind in [GroupKey::TAG, GroupKey::SERVICE] {
        let of_kind: Vec<i64> = keys.iter().filter(|key| key.kind() == kind).map(|key| key.row()).collect();
        for some in of_kind.chunks(KEYS_PER_STATEMENT) {
            let rows = Entity::find()
                .filter(Column::Kind.eq(kind))
                .filter(Column::KeyId.is_in(some.iter().copied()))
                .filter(Expr::exists(open_incident(policy)))
                .order_by_desc(Column::IncidentId)
                .all(&connection)
                .await?;
            for row in rows {
                let Some(key) = GroupKey::from_row(&row.kind, row.key_id) else { continue };
                let incidents = found.entry(key).or_default();
                if !incidents.contains(&row.incident_id) {
                    incidents.push(row.incident_id);
                }
            }
        }
    }
    Ok(found)
}

/// Subquery for the incident of a row, if it is open and was opened by this policy or a deleted one.
fn open_incident(policy: &IncidentPolicy) -> SelectStatement {
    let incident = |column| Expr::col((incident::Entity, column));
    let automation = |column| Expr::col((incident_automation::Entity, column));
    let is_of_policy = automation(incident_automation::Column::PolicyId)
        .eq(policy.key)
        .or(automation(incident_automation::Column::PolicyId).is_null());
    Query::select()
        .expr(Expr::value(1))
        .from(incident::Entity)
        .inner_join(
            incident_automation::Entity,
            automation(incident_automation::Column::IncidentId)
                .equals((incident::Entity, incident::Column::Id)),
        )
        .and_where(incident(incident::Column::Id).equals((Entity, Column::IncidentId)))
        .and_where(incident(incident::Column::OrganisationId).eq(policy.organisation))
        .and_where(incident(incident::Column::ResolvedAt).is_null())
        .and_where(is_of_policy)
        .to_owned()
}

/// Assigns these keys of a policy to an incident, in place of former incidents.
pub async fn assign_keys(
    connection: &dyn StoreConnection,
    policy: i64,
    incident: i64,
    keys: &[GroupKey],
) -> Result<(), MainError> {
    let row = |key: &GroupKey| ActiveModel {
        kind: Set(key.kind().into()),
        key_id: Set(key.row()),
        policy_id: Set(policy),
        incident_id: Set(incident),
    };
    for some in keys.chunks(KEYS_PER_STATEMENT) {
        let replaced = OnConflict::columns([Column::Kind, Column::KeyId, Column::PolicyId])
            .update_column(Column::IncidentId)
            .to_owned();
        let rows = some.iter().map(row);
        Entity::insert_many(rows).on_conflict(replaced).exec_without_returning(&connection).await?;
    }
    Ok(())
}
