//! SLA targets: agreed availabilities of a service, or of all services with a tag.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, integer, integer_null, pk_auto, string, text, text_null,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut organisation =
            reference(("sla_target", "organisation_id"), "organisation", ForeignKeyAction::Cascade);
        let mut service = reference(("sla_target", "service_id"), "service", ForeignKeyAction::Cascade);
        let mut tag = reference(("sla_target", "tag_id"), "tag", ForeignKeyAction::Restrict);
        let targets = Table::create()
            .table("sla_target")
            .col(pk_auto("id").big_integer())
            .col(string("public_id").unique_key())
            .col(big_integer("organisation_id"))
            .col(text("name"))
            .col(big_integer_null("service_id"))
            .col(big_integer_null("tag_id"))
            .col(integer("objective"))
            .col(string("period"))
            .col(integer_null("rolling_days"))
            .col(string("time_zone"))
            .col(text_null("business_hours"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut organisation)
            .foreign_key(&mut service)
            .foreign_key(&mut tag)
            .to_owned();
        manager.create_table(targets).await?;
        let by_organisation =
            index("sla_target_by_organisation", "sla_target", &["organisation_id", "created_at"]);
        manager.create_index(by_organisation).await?;
        manager.create_index(index("sla_target_by_service", "sla_target", &["service_id"])).await?;
        manager.create_index(index("sla_target_by_tag", "sla_target", &["tag_id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("sla_target").to_owned()).await
    }
}
