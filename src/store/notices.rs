//! Notices: events that are no incidents. What begins or ends one writes its messages in the same transaction.
//!
//! Whoever raises or settles one holds the organisation, so that the same trouble does not begin two.

use sea_orm::{
    ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::notice::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notice::{Notice, Source, Trouble, Words};
use crate::model::notification::Event;
use crate::model::sight::Sight;
use crate::store::notifications::outbox;
use crate::store::{MainError, PageWindow, organisations};

/// Begins a notice of this trouble, or makes the one that lasts worse. Returns whether anything is told.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn raise(
    connection: &impl ConnectionTrait,
    trouble: &Trouble,
    now: Timestamp,
) -> Result<bool, MainError> {
    organisations::lock(connection, trouble.source.organisation).await?;
    let lasting = find_lasting(connection, &trouble.source).await?;
    let notice = match lasting {
        Some(lasting) if lasting.trouble.severity >= trouble.severity => return Ok(false),
        Some(lasting) => {
            let worse = Notice { trouble: trouble.clone(), ..lasting };
            to_row(&worse).update(connection).await?;
            worse
        }
        None => {
            let new =
                Notice { key: 0, id: Id::random(), trouble: trouble.clone(), began_at: now, ended_at: None };
            let row = ActiveModel { id: NotSet, ..to_row(&new) };
            Entity::insert(row).exec_without_returning(connection).await?;
            new
        }
    };
    outbox::tell_of_notice(connection, &notice, now).await?;
    Ok(true)
}

/// Makes the notice of this trouble less severe, if one lasts that is more so; nobody is told.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn lower(connection: &impl ConnectionTrait, trouble: &Trouble) -> Result<(), MainError> {
    organisations::lock(connection, trouble.source.organisation).await?;
    let lasting = find_lasting(connection, &trouble.source).await?;
    if let Some(lasting) = lasting.filter(|lasting| lasting.trouble.severity > trouble.severity) {
        to_row(&Notice { trouble: trouble.clone(), ..lasting }).update(connection).await?;
    }
    Ok(())
}

/// Ends the notice of a source, if one lasts; what is told of it is told so. Returns whether anything is.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn settle(
    connection: &impl ConnectionTrait,
    source: &Source,
    words: Words,
    now: Timestamp,
) -> Result<bool, MainError> {
    organisations::lock(connection, source.organisation).await?;
    let Some(lasting) = find_lasting(connection, source).await? else { return Ok(false) };
    let over = Notice { trouble: Trouble { words, ..lasting.trouble }, ended_at: Some(now), ..lasting };
    to_row(&over).update(connection).await?;
    outbox::tell_of_notice(connection, &over, now).await?;
    Ok(true)
}

async fn find_lasting(
    connection: &impl ConnectionTrait,
    source: &Source,
) -> Result<Option<Notice>, MainError> {
    let wanted = lasting()
        .filter(Column::Event.eq(source.event.as_str()))
        .filter(Column::Source.eq(source.name.as_str()))
        .filter(Column::OrganisationId.eq(source.organisation));
    wanted.one(connection).await?.as_ref().map(from_row).transpose()
}

fn lasting() -> Select<Entity> {
    Entity::find().filter(Column::EndedAt.is_null())
}

/// The notices of an event that last, of every organisation.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn lasting_of(connection: &impl ConnectionTrait, event: Event) -> Result<Vec<Notice>, MainError> {
    let rows = lasting().filter(Column::Event.eq(event.as_str())).order_by_asc(Column::Id);
    rows.all(connection).await?.iter().map(from_row).collect()
}

/// The notices of this page, newest first, and how many there are in all; of those that last, or of all.
///
/// # Errors
/// When the database fails or a row cannot be read.
pub async fn list(
    connection: &impl ConnectionTrait,
    sight: Sight,
    lasts: Option<bool>,
    window: PageWindow,
) -> Result<(Vec<Notice>, u64), MainError> {
    let mut wanted = Entity::find().filter(Column::OrganisationId.eq(sight.organisation()));
    wanted = match lasts {
        None => wanted,
        Some(true) => wanted.filter(Column::EndedAt.is_null()),
        Some(false) => wanted.filter(Column::EndedAt.is_not_null()),
    };
    let total = wanted.clone().count(connection).await?;
    let rows = wanted.order_by_desc(Column::Id).offset(window.offset).limit(window.limit);
    let notices = rows.all(connection).await?.iter().map(from_row).collect::<Result<_, _>>()?;
    Ok((notices, total))
}

/// Returns true if there are notices that ended before this time.
///
/// # Errors
/// When the database fails.
pub async fn has_old(connection: &impl ConnectionTrait, ended_before: Timestamp) -> Result<bool, MainError> {
    let old = Entity::find().filter(Column::EndedAt.lt(ended_before.ms()));
    Ok(old.one(connection).await?.is_some())
}

/// Deletes notices that ended before this time.
///
/// # Errors
/// When the database fails.
pub async fn forget(connection: &impl ConnectionTrait, ended_before: Timestamp) -> Result<u64, MainError> {
    let old = Entity::delete_many().filter(Column::EndedAt.lt(ended_before.ms()));
    Ok(old.exec(connection).await?.rows_affected)
}

fn to_row(notice: &Notice) -> ActiveModel {
    let Trouble { source, severity, words, service } = &notice.trouble;
    ActiveModel {
        id: Set(notice.key),
        public_id: Set(notice.id.to_string()),
        organisation_id: Set(source.organisation),
        event: Set(source.event.to_string()),
        source: Set(source.name.clone()),
        severity: Set(severity.to_string()),
        title: Set(words.title.clone()),
        text: Set(words.text.clone()),
        service_id: Set(*service),
        began_at: Set(notice.began_at.ms()),
        ended_at: Set(notice.ended_at.map(Timestamp::ms)),
    }
}

fn from_row(row: &Model) -> Result<Notice, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("notice", &row.id, &problem);
    let source = Source {
        organisation: row.organisation_id,
        event: row.event.parse().map_err(|_| corrupt("unknown event"))?,
        name: row.source.clone(),
    };
    Ok(Notice {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id has not the form of one"))?,
        trouble: Trouble {
            source,
            severity: row.severity.parse().map_err(|_| corrupt("unknown severity"))?,
            words: Words { title: row.title.clone(), text: row.text.clone() },
            service: row.service_id,
        },
        began_at: Timestamp::from_ms(row.began_at),
        ended_at: row.ended_at.map(Timestamp::from_ms),
    })
}
