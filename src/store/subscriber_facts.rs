//! Facts for the subscribers of status pages, stored without duplicates. `lifecycle` decides about facts and writes them
//! in the transaction of the change. `pages` finds the pages that show an incident or a maintenance.

pub mod pages;

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::subscriber_fact::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::subscriber_fact_page;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::subscriber_fact::{FactSubject, RETENTION_MS, SubscriberFact};
use crate::model::translated_text::TranslatedText;
use crate::store::error::MainError;

/// Number of facts whose pages are read with one statement.
const CHUNK: usize = 500;

/// Stores a fact, unless one about the same timeline entry or reminder exists.
pub async fn write(connection: &dyn StoreConnection, fact: &SubscriberFact) -> Result<(), MainError> {
    let same = Entity::find().select_only().column(Column::Id).filter(about(fact)).limit(1);
    if same.into_tuple::<i64>().one(&connection).await?.is_some() {
        return Ok(());
    }
    let key = Entity::insert(to_row(fact)).exec(&connection).await?.last_insert_id;
    let pages = fact.pages.iter().map(|page| subscriber_fact_page::ActiveModel {
        fact_id: Set(key),
        statuspage_id: Set(*page),
        queue_position: Set(Some(0)),
    });
    if !fact.pages.is_empty() {
        subscriber_fact_page::Entity::insert_many(pages).exec_without_returning(&connection).await?;
    }
    Ok(())
}

fn about(fact: &SubscriberFact) -> Condition {
    match fact.subject {
        FactSubject::Incident { entry, .. } | FactSubject::Maintenance { entry, .. } => {
            Condition::all().add(Column::Entry.eq(entry.as_str()))
        }
        FactSubject::Reminder { maintenance, start } => Condition::all()
            .add(Column::MaintenanceId.eq(maintenance))
            .add(Column::Kind.eq(fact.kind.as_str()))
            .add(Column::WindowStart.eq(start.ms())),
    }
}

/// The facts of an organisation with keys above `key`, in ascending order.
pub async fn after(
    connection: &dyn StoreConnection,
    organisation: i64,
    key: i64,
    limit: u64,
) -> Result<Vec<SubscriberFact>, MainError> {
    let rows = Entity::find()
        .filter(Column::OrganisationId.eq(organisation))
        .filter(Column::Id.gt(key))
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(&connection)
        .await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut pages: HashMap<i64, Vec<i64>> = HashMap::new();
    for some in keys.chunks(CHUNK) {
        let shown = subscriber_fact_page::Entity::find()
            .filter(subscriber_fact_page::Column::FactId.is_in(some.iter().copied()))
            .order_by_asc(subscriber_fact_page::Column::StatuspageId)
            .all(&connection)
            .await?;
        for row in shown {
            pages.entry(row.fact_id).or_default().push(row.statuspage_id);
        }
    }
    rows.iter().map(|row| from_row(row, pages.remove(&row.id).unwrap_or_default())).collect()
}

/// The fact with this key, without its pages; `None` if it was deleted.
pub async fn with_key(
    connection: &dyn StoreConnection,
    key: i64,
) -> Result<Option<SubscriberFact>, MainError> {
    let row = Entity::find_by_id(key).one(&connection).await?;
    row.map(|row| from_row(&row, Vec::new())).transpose()
}

/// Deletes the facts whose retention has ended; returns their number.
pub async fn forget(connection: &dyn StoreConnection, now: Timestamp) -> Result<u64, MainError> {
    let old = Entity::delete_many().filter(Column::At.lt(now.plus_ms(-RETENTION_MS).ms()));
    Ok(old.exec(&connection).await?.rows_affected)
}

fn to_row(fact: &SubscriberFact) -> ActiveModel {
    let (incident, maintenance, entry, start) = match fact.subject {
        FactSubject::Incident { incident, entry } => (Some(incident), None, Some(entry), None),
        FactSubject::Maintenance { maintenance, entry } => (None, Some(maintenance), Some(entry), None),
        FactSubject::Reminder { maintenance, start } => (None, Some(maintenance), None, Some(start)),
    };
    ActiveModel {
        id: NotSet,
        public_id: Set(fact.id.to_string()),
        organisation_id: Set(fact.organisation),
        kind: Set(fact.kind.to_string()),
        incident_id: Set(incident),
        maintenance_id: Set(maintenance),
        entry: Set(entry.map(|entry| entry.to_string())),
        window_start: Set(start.map(Timestamp::ms)),
        title: Set(fact.title.to_json().to_string()),
        message: Set(fact.message.to_json().to_string()),
        at: Set(fact.at.ms()),
    }
}

fn from_row(row: &Model, pages: Vec<i64>) -> Result<SubscriberFact, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("subscriber_fact", &row.id, &problem);
    let id = |text: &str| text.parse::<Id>().map_err(|_| corrupt("an id is malformed"));
    let entry = row.entry.as_deref().map(id).transpose()?;
    let subject = match (row.incident_id, row.maintenance_id, entry, row.window_start) {
        (Some(incident), None, Some(entry), None) => FactSubject::Incident { incident, entry },
        (None, Some(maintenance), Some(entry), None) => FactSubject::Maintenance { maintenance, entry },
        (None, Some(maintenance), None, Some(start)) => {
            FactSubject::Reminder { maintenance, start: Timestamp::from_ms(start) }
        }
        _ => return Err(corrupt("it has no subject, or more than one")),
    };
    let text = |stored: &str| TranslatedText::from_stored(stored).map_err(|_| corrupt("unreadable text"));
    Ok(SubscriberFact {
        key: row.id,
        id: id(&row.public_id)?,
        organisation: row.organisation_id,
        kind: row.kind.parse().map_err(|_| corrupt("unknown kind"))?,
        subject,
        title: text(&row.title)?,
        message: text(&row.message)?,
        at: Timestamp::from_ms(row.at),
        pages,
    })
}
