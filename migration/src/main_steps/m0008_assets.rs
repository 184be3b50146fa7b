//! Files of status pages: logos and icons.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, pk_auto, string};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(asset()).await?;
        manager
            .create_index(
                index("asset_by_statuspage", "asset", &["statuspage_id", "kind"]).unique().to_owned(),
            )
            .await?;
        manager.create_index(index("asset_by_hash", "asset", &["hash"]).to_owned()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["asset"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn asset() -> TableCreateStatement {
    Table::create()
        .table("asset")
        .col(pk_auto("id").big_integer())
        .col(big_integer("statuspage_id"))
        .col(string("kind"))
        .col(string("content_type"))
        .col(string("hash"))
        .col(blob("bytes"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference(("asset", "statuspage_id"), "statuspage", ForeignKeyAction::Cascade))
        .to_owned()
}
