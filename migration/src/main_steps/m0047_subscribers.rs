//! Subscribers of status pages, and the components that they have chosen.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, pk_auto, string, string_null, text, text_null,
    var_binary,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const SUBSCRIBER: &str = "subscriber";
const COMPONENT: &str = "subscriber_component";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(subscribers()).await?;
        let mut unique = index("subscriber_of_address", SUBSCRIBER, &["statuspage_id", "address_hash"]);
        manager.create_index(unique.unique().to_owned()).await?;
        manager.create_index(index("subscriber_by_page", SUBSCRIBER, &["statuspage_id", "id"])).await?;
        let mut waiting = index("subscriber_waiting", SUBSCRIBER, &["asked_at"]);
        waiting.and_where(Expr::col("status").eq("pending"));
        manager.create_index(waiting).await?;
        manager.create_table(components()).await?;
        manager.create_index(index("subscriber_component_by_component", COMPONENT, &["component_id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [COMPONENT, SUBSCRIBER] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn subscribers() -> TableCreateStatement {
    Table::create()
        .table(SUBSCRIBER)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("statuspage_id"))
        .col(string("channel"))
        .col(text("address"))
        .col(text_null("sealed_address"))
        .col(var_binary("address_hash", 32))
        .col(boolean("is_for_all"))
        .col(string("language"))
        .col(string("status"))
        .col(text_null("disabled_reason"))
        .col(integer("refusals"))
        .col(string_null("secret"))
        .col(string("origin"))
        .col(big_integer_null("asked_at"))
        .col(big_integer_null("confirmed_at"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference((SUBSCRIBER, "statuspage_id"), "statuspage", ForeignKeyAction::Cascade))
        .to_owned()
}

fn components() -> TableCreateStatement {
    let mut subscriber = reference((COMPONENT, "subscriber_id"), SUBSCRIBER, ForeignKeyAction::Cascade);
    let mut component = reference((COMPONENT, "component_id"), "component", ForeignKeyAction::Cascade);
    Table::create()
        .table(COMPONENT)
        .col(big_integer("subscriber_id"))
        .col(big_integer("component_id"))
        .primary_key(Index::create().col("subscriber_id").col("component_id"))
        .foreign_key(&mut subscriber)
        .foreign_key(&mut component)
        .to_owned()
}
