//! Notices: events that are not incidents. `lifecycle` starts and ends them and writes their messages in the same
//! transaction, by functions of `row_changes`.

pub mod row_changes;

use crate::store::connection::StoreConnection;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use watchkeeper_entities::notice::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

/// Returns true if there is an open notice for this subject.
pub async fn is_open(connection: &dyn StoreConnection, subject: &NoticeSubject) -> Result<bool, MainError> {
    Ok(find_lasting(connection, subject).await?.is_some())
}

/// The open notice for a subject; `None` if there is none.
pub async fn find_lasting(
    connection: &dyn StoreConnection,
    subject: &NoticeSubject,
) -> Result<Option<Notice>, MainError> {
    let wanted = lasting()
        .filter(Column::Event.eq(subject.event.as_str()))
        .filter(Column::Source.eq(subject.name.as_str()))
        .filter(Column::OrganisationId.eq(subject.organisation));
    wanted.one(&connection).await?.as_ref().map(from_row).transpose()
}

fn lasting() -> Select<Entity> {
    Entity::find().filter(Column::EndedAt.is_null())
}

/// The open notices for an event, of all organisations.
pub async fn lasting_of(
    connection: &dyn StoreConnection,
    event: NotificationEvent,
) -> Result<Vec<Notice>, MainError> {
    let rows = lasting().filter(Column::Event.eq(event.as_str())).order_by_asc(Column::Id);
    rows.all(&connection).await?.iter().map(from_row).collect()
}

/// The notices on this page of the list, newest first, and their total number. `lasts`: true = only open ones, false =
/// only ended ones, `None` = all.
pub async fn list(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    lasts: Option<bool>,
    window: PageWindow,
) -> Result<(Vec<Notice>, u64), MainError> {
    let mut wanted = Entity::find().filter(Column::OrganisationId.eq(visibility.organisation()));
    wanted = match lasts {
        None => wanted,
        Some(true) => wanted.filter(Column::EndedAt.is_null()),
        Some(false) => wanted.filter(Column::EndedAt.is_not_null()),
    };
    let total = wanted.clone().count(&connection).await?;
    let rows = wanted.order_by_desc(Column::Id).offset(window.offset).limit(window.limit);
    let notices = rows.all(&connection).await?.iter().map(from_row).collect::<Result<_, _>>()?;
    Ok((notices, total))
}

/// Returns true if a notice ended before this time.
pub async fn has_old(connection: &dyn StoreConnection, ended_before: Timestamp) -> Result<bool, MainError> {
    let old = Entity::find().filter(Column::EndedAt.lt(ended_before.ms()));
    Ok(old.one(&connection).await?.is_some())
}

/// Deletes the notices that ended before this time; returns their number.
pub async fn forget(connection: &dyn StoreConnection, ended_before: Timestamp) -> Result<u64, MainError> {
    let old = Entity::delete_many().filter(Column::EndedAt.lt(ended_before.ms()));
    Ok(old.exec(&connection).await?.rows_affected)
}

fn to_row(notice: &Notice) -> ActiveModel {
    let NoticeCondition { subject, severity, words, service } = &notice.trouble;
    ActiveModel {
        id: Set(notice.key),
        public_id: Set(notice.id.to_string()),
        organisation_id: Set(subject.organisation),
        event: Set(subject.event.to_string()),
        source: Set(subject.name.clone()),
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
    let subject = NoticeSubject {
        organisation: row.organisation_id,
        event: row.event.parse().map_err(|_| corrupt("unknown event"))?,
        name: row.source.clone(),
    };
    Ok(Notice {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        trouble: NoticeCondition {
            subject,
            severity: row.severity.parse().map_err(|_| corrupt("unknown severity"))?,
            words: NoticeText { title: row.title.clone(), text: row.text.clone() },
            service: row.service_id,
        },
        began_at: Timestamp::from_ms(row.began_at),
        ended_at: row.ended_at.map(Timestamp::from_ms),
    })
}
