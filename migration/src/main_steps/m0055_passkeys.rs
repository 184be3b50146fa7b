//! Passkeys of users of the console, and the challenges that devices have to sign.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, blob, pk_auto, string, text, var_binary};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const PASSKEY: &str = "passkey";
const CHALLENGE: &str = "passkey_challenge";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(passkeys()).await?;
        manager.create_table(challenges()).await?;
        manager.create_index(index("passkey_by_user", PASSKEY, &["user_id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [CHALLENGE, PASSKEY] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn passkeys() -> TableCreateStatement {
    Table::create()
        .table(PASSKEY)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("user_id"))
        .col(text("name"))
        .col(var_binary("credential", 1_023).unique_key())
        .col(blob("public_key"))
        .col(big_integer("sign_count"))
        .col(big_integer("created_at"))
        .col(big_integer_null("last_used_at"))
        .foreign_key(&mut reference((PASSKEY, "user_id"), "token", ForeignKeyAction::Cascade))
        .to_owned()
}

fn challenges() -> TableCreateStatement {
    Table::create()
        .table(CHALLENGE)
        .col(pk_auto("id").big_integer())
        .col(var_binary("hash", 32).unique_key())
        .col(big_integer_null("user_id"))
        .col(big_integer("expires_at"))
        .foreign_key(&mut reference((CHALLENGE, "user_id"), "token", ForeignKeyAction::Cascade))
        .to_owned()
}
