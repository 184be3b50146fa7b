//! Messages to subscribers of status pages, and how far the facts of a page have been queued for them.
//!
//! Facts that exist already are older than the first subscriber, so they count as queued.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, pk_auto, string, text_null,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const DELIVERY: &str = "subscriber_delivery";
const FACT_PAGE: &str = "subscriber_fact_page";
const POSITION: &str = "queue_position";
const UNQUEUED: &str = "subscriber_fact_page_unqueued";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(deliveries()).await?;
        let mut due = index("subscriber_delivery_due", DELIVERY, &["statuspage_id", "is_mail", "due_at"]);
        due.and_where(Expr::col("due_at").is_not_null());
        manager.create_index(due).await?;
        let mut once = index("subscriber_delivery_once", DELIVERY, &["subscriber_id", "fact_id"]);
        manager.create_index(once.unique().to_owned()).await?;
        let mut waiting = index("subscriber_delivery_waiting", DELIVERY, &["subscriber_id", "id"]);
        waiting.and_where(Expr::col("ended_at").is_null());
        manager.create_index(waiting).await?;
        for (name, columns) in [
            ("subscriber_delivery_by_page", ["statuspage_id"].as_slice()),
            ("subscriber_delivery_by_fact", &["fact_id"]),
            ("subscriber_delivery_by_end", &["ended_at"]),
        ] {
            manager.create_index(index(name, DELIVERY, columns)).await?;
        }
        let mut position = big_integer_null(POSITION);
        let column = Table::alter().table(FACT_PAGE).add_column(&mut position).to_owned();
        manager.alter_table(column).await?;
        let mut unqueued = index(UNQUEUED, FACT_PAGE, &["fact_id", "statuspage_id"]);
        unqueued.and_where(Expr::col(POSITION).is_not_null());
        manager.create_index(unqueued).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(UNQUEUED).table(FACT_PAGE).to_owned()).await?;
        manager.alter_table(Table::alter().table(FACT_PAGE).drop_column(POSITION).to_owned()).await?;
        manager.drop_table(Table::drop().table(DELIVERY).to_owned()).await
    }
}

fn deliveries() -> TableCreateStatement {
    let mut page = reference((DELIVERY, "statuspage_id"), "statuspage", ForeignKeyAction::Cascade);
    let mut subscriber = reference((DELIVERY, "subscriber_id"), "subscriber", ForeignKeyAction::Cascade);
    let mut fact = reference((DELIVERY, "fact_id"), "subscriber_fact", ForeignKeyAction::Cascade);
    Table::create()
        .table(DELIVERY)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("statuspage_id"))
        .col(big_integer("subscriber_id"))
        .col(big_integer_null("fact_id"))
        .col(boolean("is_mail"))
        .col(string("status"))
        .col(integer("tries"))
        .col(big_integer_null("due_at"))
        .col(big_integer("expires_at"))
        .col(big_integer_null("ended_at"))
        .col(text_null("detail"))
        .foreign_key(&mut page)
        .foreign_key(&mut subscriber)
        .foreign_key(&mut fact)
        .to_owned()
}
