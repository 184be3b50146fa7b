//! Incident policies. Every finder is scoped by organisation.
//!
//! To change the order, the caller must hold the lock of the organisation: positions are 1, 2, 3 …, without gaps.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::incident_policy::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::tag;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::incident_policy::{GroupBy, IncidentPolicy, IncidentRules, PolicyTag};
use crate::model::tag::TagName;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

/// The policies of an organisation in their order.
pub async fn list(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Vec<IncidentPolicy>, MainError> {
    let rows = of_organisation(organisation).order_by_asc(Column::Position).order_by_asc(Column::Id);
    with_tags(connection, rows.all(&connection).await?).await
}

/// The policy of the organisation with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<IncidentPolicy>, MainError> {
    let row = of_organisation(visibility.organisation())
        .filter(Column::PublicId.eq(id.as_str()))
        .one(&connection)
        .await?;
    Ok(with_tags(connection, row.into_iter().collect()).await?.pop())
}

/// Returns the number of policies of an organisation.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<u64, MainError> {
    Ok(of_organisation(organisation).count(&connection).await?)
}

/// Stores a new policy at its position; policies from this position on move down. The `key` is assigned by the database.
pub async fn insert(
    connection: &dyn StoreConnection,
    policy: IncidentPolicy,
) -> Result<IncidentPolicy, MainError> {
    move_those_from(connection, policy.organisation, policy.position, 1).await?;
    let row = ActiveModel { id: NotSet, ..to_row(&policy)? };
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    Ok(IncidentPolicy { key, ..policy })
}

/// Stores a changed policy, possibly at another position.
pub async fn update(
    connection: &dyn StoreConnection,
    before: &IncidentPolicy,
    policy: &IncidentPolicy,
) -> Result<(), MainError> {
    if before.position != policy.position {
        move_those_from(connection, before.organisation, before.position + 1, -1).await?;
        move_those_from(connection, policy.organisation, policy.position, 1).await?;
    }
    to_row(policy)?.update(&connection).await?;
    Ok(())
}

/// Deletes a policy; later ones move up.
pub async fn delete(connection: &dyn StoreConnection, policy: &IncidentPolicy) -> Result<(), MainError> {
    Entity::delete_by_id(policy.key).exec(&connection).await?;
    move_those_from(connection, policy.organisation, policy.position + 1, -1).await
}

/// Names of the policies that apply to services with this tag.
pub(super) async fn names_of_tag(
    connection: &dyn StoreConnection,
    tag: i64,
) -> Result<Vec<String>, MainError> {
    let names = Entity::find().select_only().column(Column::Name).filter(Column::TagId.eq(tag));
    Ok(names.order_by_asc(Column::Id).into_tuple().all(&connection).await?)
}

/// Inserts the policy that every new organisation starts with.
pub(super) async fn insert_default(
    connection: &dyn StoreConnection,
    organisation: i64,
    at: Timestamp,
) -> Result<(), MainError> {
    let policy = IncidentPolicy {
        key: 0,
        id: Id::random(),
        organisation,
        position: 1,
        name: "Default".into(),
        tag: None,
        rules: IncidentRules::default(),
        created_at: at,
        updated_at: at,
    };
    insert(connection, policy).await?;
    Ok(())
}

async fn move_those_from(
    connection: &dyn StoreConnection,
    organisation: i64,
    position: i32,
    by: i32,
) -> Result<(), MainError> {
    Entity::update_many()
        .col_expr(Column::Position, Expr::col(Column::Position).add(by))
        .filter(Column::OrganisationId.eq(organisation))
        .filter(Column::Position.gte(position))
        .exec(&connection)
        .await?;
    Ok(())
}

async fn with_tags(
    connection: &dyn StoreConnection,
    rows: Vec<Model>,
) -> Result<Vec<IncidentPolicy>, MainError> {
    let keys: Vec<i64> = rows.iter().filter_map(|row| row.tag_id).collect();
    let mut tags: HashMap<i64, PolicyTag> = HashMap::new();
    if !keys.is_empty() {
        for row in tag::Entity::find().filter(tag::Column::Id.is_in(keys)).all(&connection).await? {
            let corrupt = || MainError::corrupt("tag", &row.id, &"its name or id cannot be read");
            let id = row.public_id.parse().map_err(|_| corrupt())?;
            let label = TagName::new(&row.key, Some(&row.value)).map_err(|_| corrupt())?.label();
            tags.insert(row.id, PolicyTag { key: row.id, id, label });
        }
    }
    rows.into_iter().map(|row| from_row(row, &tags)).collect()
}

fn to_row(policy: &IncidentPolicy) -> Result<ActiveModel, MainError> {
    let seconds = |seconds: u32| i32::try_from(seconds).unwrap_or(i32::MAX);
    let word = |severity: Option<Severity>| severity.map(|severity| severity.as_str().into());
    let IncidentRules { group_by, publish, .. } = policy.rules;
    let keys = serde_json::to_string(&policy.rules.group_by_tag_keys);
    let keys = keys.map_err(|error| MainError::corrupt("incident_policy", &policy.id, &error))?;
    Ok(ActiveModel {
        id: Set(policy.key),
        public_id: Set(policy.id.to_string()),
        organisation_id: Set(policy.organisation),
        position: Set(policy.position),
        name: Set(policy.name.clone()),
        tag_id: Set(policy.tag.as_ref().map(|tag| tag.key)),
        open_after_seconds: Set(seconds(policy.rules.open_after_seconds)),
        resolve_after_seconds: Set(policy.rules.resolve_after_seconds.map(seconds)),
        down_severity: Set(word(policy.rules.down_severity)),
        degraded_severity: Set(word(policy.rules.degraded_severity)),
        unstable_severity: Set(word(policy.rules.unstable_severity)),
        publish: Set(publish),
        group_by: Set(group_by.as_str().into()),
        group_by_tag_keys: Set(keys),
        group_window_seconds: Set(seconds(policy.rules.group_window_seconds)),
        created_at: Set(policy.created_at.ms()),
        updated_at: Set(policy.updated_at.ms()),
    })
}

fn from_row(row: Model, tags: &HashMap<i64, PolicyTag>) -> Result<IncidentPolicy, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("incident_policy", &row.id, &problem);
    let seconds = |seconds: i32| u32::try_from(seconds).map_err(|_| corrupt("seconds below 0"));
    let severity = |word: &Option<String>| {
        word.as_deref().map(str::parse::<Severity>).transpose().map_err(|_| corrupt("unknown severity"))
    };
    let tag = match row.tag_id {
        Some(key) => Some(tags.get(&key).cloned().ok_or_else(|| corrupt("its tag is not there"))?),
        None => None,
    };
    let rules = IncidentRules {
        open_after_seconds: seconds(row.open_after_seconds)?,
        resolve_after_seconds: row.resolve_after_seconds.map(seconds).transpose()?,
        down_severity: severity(&row.down_severity)?,
        degraded_severity: severity(&row.degraded_severity)?,
        unstable_severity: severity(&row.unstable_severity)?,
        publish: row.publish,
        group_by: GroupBy::from_word(&row.group_by).ok_or_else(|| corrupt("unknown grouping"))?,
        group_by_tag_keys: serde_json::from_str(&row.group_by_tag_keys)
            .map_err(|_| corrupt("unreadable keys of tags"))?,
        group_window_seconds: seconds(row.group_window_seconds)?,
    };
    Ok(IncidentPolicy {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        position: row.position,
        name: row.name,
        tag,
        rules,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
