//! Access scopes, their tags, and the column that confines a token to a scope.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_auto, string, text};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(access_scope()).await?;
        let by_name = ["organisation_id", "folded_name"];
        manager
            .create_index(index("access_scope_by_name", "access_scope", &by_name).unique().to_owned())
            .await?;
        manager.create_table(access_scope_tag()).await?;
        manager
            .create_index(index("access_scope_tag_by_tag", "access_scope_tag", &["tag_id"]).to_owned())
            .await?;
        // No foreign key, because SQLite could not drop the column again. A scope without a row shows nothing, so a token
        // can never see more than it should.
        let column = big_integer_null("access_scope_id");
        manager.alter_table(Table::alter().table("token").add_column(column).to_owned()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("token").drop_column("access_scope_id").to_owned()).await?;
        for table in ["access_scope_tag", "access_scope"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn access_scope() -> TableCreateStatement {
    let owner =
        &mut reference(("access_scope", "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    Table::create()
        .table("access_scope")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("name"))
        .col(text("folded_name"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(owner)
        .to_owned()
}

/// The table of the tags of scopes. Its foreign key prevents the deletion of a tag that belongs to a scope.
fn access_scope_tag() -> TableCreateStatement {
    let scope = ("access_scope_tag", "access_scope_id");
    let scope = &mut reference(scope, "access_scope", ForeignKeyAction::Cascade);
    let tag = &mut reference(("access_scope_tag", "tag_id"), "tag", ForeignKeyAction::NoAction);
    Table::create()
        .table("access_scope_tag")
        .col(big_integer("access_scope_id"))
        .col(big_integer("tag_id"))
        .primary_key(Index::create().col("access_scope_id").col("tag_id"))
        .foreign_key(scope)
        .foreign_key(tag)
        .to_owned()
}
