//! The contact whom a message is for. When a contact is deleted, `store` ends its messages, because SQLite cannot add a
//! foreign key to an existing table.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::big_integer_null;

use super::index;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "notification_delivery";
const INDEX: &str = "notification_delivery_by_contact";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let contact = big_integer_null("contact_id");
        manager.alter_table(Table::alter().table(TABLE).add_column(contact).to_owned()).await?;
        manager.create_index(index(INDEX, TABLE, &["contact_id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(INDEX).table(TABLE).to_owned()).await?;
        manager.alter_table(Table::alter().table(TABLE).drop_column("contact_id").to_owned()).await
    }
}
