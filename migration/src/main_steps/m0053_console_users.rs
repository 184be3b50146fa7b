//! Users of the console with their sessions and links, and the keys of walls. A user acts through a row of `token` of its
//! own, which no bearer token opens.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, pk_auto, string, string_null, text, var_binary,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const USER: &str = "console_user";
const SESSION: &str = "console_session";
const LINK: &str = "console_link";
const WALL_KEY: &str = "wall_key";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let holder = string("holder").default("program").to_owned();
        manager.alter_table(Table::alter().table("token").add_column(holder).to_owned()).await?;
        for table in [users(), sessions(), links(), wall_keys()] {
            manager.create_table(table).await?;
        }
        manager.create_index(index("console_session_by_user", SESSION, &["user_id"])).await?;
        manager.create_index(index("wall_key_by_organisation", WALL_KEY, &["organisation_id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [WALL_KEY, LINK, SESSION, USER] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        manager.alter_table(Table::alter().table("token").drop_column("holder").to_owned()).await
    }
}

fn users() -> TableCreateStatement {
    Table::create()
        .table(USER)
        .col(big_integer("token_id").primary_key())
        .col(string("email").unique_key())
        .col(string_null("password_hash"))
        .col(string("role"))
        .col(string_null("language"))
        .col(boolean("has_shortcuts"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut reference((USER, "token_id"), "token", ForeignKeyAction::Cascade))
        .to_owned()
}

fn sessions() -> TableCreateStatement {
    Table::create()
        .table(SESSION)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("user_id"))
        .col(var_binary("hash", 32).unique_key())
        .col(string("address"))
        .col(text("browser"))
        .col(big_integer("created_at"))
        .col(big_integer("seen_at"))
        .foreign_key(&mut reference((SESSION, "user_id"), "token", ForeignKeyAction::Cascade))
        .to_owned()
}

fn links() -> TableCreateStatement {
    Table::create()
        .table(LINK)
        .col(pk_auto("id").big_integer())
        .col(var_binary("hash", 32).unique_key())
        .col(big_integer("organisation_id"))
        .col(big_integer_null("user_id"))
        .col(string("purpose"))
        .col(big_integer("created_at"))
        .col(big_integer("expires_at"))
        .foreign_key(&mut reference((LINK, "organisation_id"), "organisation", ForeignKeyAction::Cascade))
        .foreign_key(&mut reference((LINK, "user_id"), "token", ForeignKeyAction::Cascade))
        .to_owned()
}

fn wall_keys() -> TableCreateStatement {
    Table::create()
        .table(WALL_KEY)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(string("name"))
        .col(var_binary("hash", 32).unique_key())
        .col(big_integer_null("access_scope_id"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference((WALL_KEY, "organisation_id"), "organisation", ForeignKeyAction::Cascade))
        .to_owned()
}
