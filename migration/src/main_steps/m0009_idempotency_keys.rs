//! Idempotency keys, under which POST requests may be sent again.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, small_integer_null, string, text_null, var_binary};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(idempotency_key()).await?;
        manager
            .create_index(
                index("idempotency_key_by_acceptance", "idempotency_key", &["accepted_at"]).to_owned(),
            )
            .await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["idempotency_key"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn idempotency_key() -> TableCreateStatement {
    Table::create()
        .table("idempotency_key")
        .col(big_integer("token_id"))
        .col(string("key"))
        .col(var_binary("fingerprint", 32))
        .col(string("claim"))
        .col(big_integer("leased_until"))
        .col(big_integer("accepted_at"))
        .col(small_integer_null("status"))
        .col(text_null("location"))
        .col(text_null("language"))
        .col(text_null("body"))
        .primary_key(Index::create().col("token_id").col("key"))
        .foreign_key(&mut reference(("idempotency_key", "token_id"), "token", ForeignKeyAction::Cascade))
        .to_owned()
}
