//! Messages that wait for the end of quiet hours, or for a digest: what decides about them is read here, and they are released.

use sea_orm::sea_query::{Expr, ExprTrait as _};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, UpdateMany};
use watchkeeper_entities::notification_delivery::{Column, Entity};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::Event;
use crate::model::notification::digest::{HeldBy, RecentMessages, WINDOW_MS};
use crate::model::notification::line::Line;
use crate::store::MainError;
use crate::store::notifications::lines::in_line;

/// What a channel was told lately, if it is told at most `most` messages one by one.
///
/// # Errors
/// When the database fails.
pub async fn recent(
    connection: &impl ConnectionTrait,
    channel: i64,
    most: u32,
    now: Timestamp,
) -> Result<RecentMessages, MainError> {
    if !are_more_recent(connection, channel, now.plus_ms(-WINDOW_MS), most).await? {
        return Ok(RecentMessages::default());
    }
    Ok(RecentMessages { are_many: true, digest_at: digest_due(connection, channel, now).await? })
}

/// Returns true if a channel was told at least `most` messages since then.
async fn are_more_recent(
    connection: &impl ConnectionTrait,
    channel: i64,
    since: Timestamp,
    most: u32,
) -> Result<bool, MainError> {
    let recent: Vec<i64> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::CreatedAt.gt(since.ms()))
        .filter(Column::Event.ne(Event::Digest.as_str()))
        .limit(u64::from(most))
        .into_tuple()
        .all(connection)
        .await?;
    Ok(recent.len() >= usize::try_from(most).unwrap_or(usize::MAX))
}

/// The time at which the next digest of a channel is due, if messages wait for one.
async fn digest_due(
    connection: &impl ConnectionTrait,
    channel: i64,
    now: Timestamp,
) -> Result<Option<Timestamp>, MainError> {
    let first: Option<Option<i64>> = Entity::find()
        .select_only()
        .column_as(Column::HeldUntil.min(), "first")
        .filter(Column::ChannelId.eq(channel))
        .filter(Column::HeldBy.eq(HeldBy::Digest.as_str()))
        .filter(Column::HeldUntil.gt(now.ms()))
        .filter(Column::EndedAt.is_null())
        .into_tuple()
        .one(connection)
        .await?;
    Ok(first.flatten().map(Timestamp::from_ms))
}

/// Lets go what waits in a line of a channel: all of it, or what is about one subject.
///
/// # Errors
/// When the database fails.
pub async fn let_go(
    connection: &impl ConnectionTrait,
    (channel, line): (i64, Line),
    subject: Option<&str>,
    now: Timestamp,
) -> Result<(), MainError> {
    let held = || {
        let held = held().filter(Column::ChannelId.eq(channel)).filter(in_line(line));
        subject.into_iter().fold(held, |held, subject| held.filter(Column::Subject.eq(subject)))
    };
    free(connection, held, now).await
}

/// Lets go what waits for the end of a contact's quiet hours.
///
/// # Errors
/// When the database fails.
pub async fn let_go_of_contact(
    connection: &impl ConnectionTrait,
    contact: i64,
    now: Timestamp,
) -> Result<(), MainError> {
    free(connection, || held().filter(Column::ContactId.eq(contact)), now).await
}

fn held() -> UpdateMany<Entity> {
    Entity::update_many().filter(Column::HeldUntil.is_not_null()).filter(Column::EndedAt.is_null())
}

/// Lets go what is held of these.
async fn free(
    connection: &impl ConnectionTrait,
    held: impl Fn() -> UpdateMany<Entity>,
    now: Timestamp,
) -> Result<(), MainError> {
    let due = held().col_expr(Column::DueAt, Expr::value(now.ms()));
    due.filter(Column::DueAt.gt(now.ms())).exec(connection).await?;
    let free = held()
        .col_expr(Column::HeldUntil, Expr::value(None::<i64>))
        .col_expr(Column::HeldBy, Expr::value(None::<String>));
    free.exec(connection).await?;
    Ok(())
}

/// Messages about a subject that are held and were never tried.
pub(super) fn untried(subject: Id) -> Condition {
    Condition::all()
        .add(Column::Subject.eq(subject.as_str()))
        .add(Column::HeldUntil.is_not_null())
        .add(Column::EndedAt.is_null())
        .add(Column::Tries.eq(0))
}

/// The time at which a message that waits for no other one is due: now, or when nothing holds it any more.
pub(super) fn due_from(now: Timestamp) -> sea_orm::sea_query::SimpleExpr {
    let held = Expr::col((Entity, Column::HeldUntil));
    Expr::case(held.clone().gt(now.ms()), held).finally(now.ms()).into()
}
