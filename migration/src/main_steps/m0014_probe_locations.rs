//! Remote locations, and the enrolments by which machines take them over.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, string, string_null};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let locations = Table::create()
            .table("probe_location")
            .col(string("code"))
            .col(string("name"))
            .col(string("place"))
            .col(string("country_code"))
            .col(boolean("is_enabled"))
            .col(string_null("enrolment"))
            .col(big_integer_null("enrolment_expires_at"))
            .col(big_integer_null("enrolled_at"))
            .col(string_null("user_key"))
            .col(string_null("sealing_key"))
            .col(big_integer("created_at"))
            .primary_key(Index::create().col("code"))
            .to_owned();
        manager.create_table(locations).await?;
        let once = Index::create()
            .name("probe_location_enrolment")
            .table("probe_location")
            .col("enrolment")
            .unique()
            .to_owned();
        manager.create_index(once).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("probe_location").to_owned()).await
    }
}
