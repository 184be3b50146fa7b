//! Incident policies, and a default one for every existing organisation: services that are down or unstable get an
//! internal incident.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, integer_null, pk_auto, string, string_null, text,
};
use sea_orm_migration::sea_orm::DbBackend;

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut organisation =
            reference(("incident_policy", "organisation_id"), "organisation", ForeignKeyAction::Cascade);
        let mut tag = reference(("incident_policy", "tag_id"), "tag", ForeignKeyAction::Restrict);
        let policies = Table::create()
            .table("incident_policy")
            .col(pk_auto("id").big_integer())
            .col(string("public_id").unique_key())
            .col(big_integer("organisation_id"))
            .col(integer("position"))
            .col(text("name"))
            .col(big_integer_null("tag_id"))
            .col(integer("open_after_seconds"))
            .col(integer_null("resolve_after_seconds"))
            .col(string_null("down_severity"))
            .col(string_null("degraded_severity"))
            .col(string_null("unstable_severity"))
            .col(boolean("publish"))
            .col(string("group_by"))
            .col(integer("group_window_seconds"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut organisation)
            .foreign_key(&mut tag)
            .to_owned();
        manager.create_table(policies).await?;
        let by_organisation =
            index("incident_policy_by_organisation", "incident_policy", &["organisation_id", "position"]);
        manager.create_index(by_organisation).await?;
        manager.create_index(index("incident_policy_by_tag", "incident_policy", &["tag_id"])).await?;
        give_default(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("incident_policy").to_owned()).await
    }
}

/// Inserts for every organisation the policy with which new ones are created.
async fn give_default(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    // 21 characters of the alphabet of public ids.
    let id = match manager.get_database_backend() {
        DbBackend::Postgres => "'A' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 20)",
        _ => "'A' || substr(hex(randomblob(10)), 1, 20)",
    };
    let policy = format!(
        "INSERT INTO incident_policy (public_id, organisation_id, position, name, open_after_seconds, \
        resolve_after_seconds, down_severity, unstable_severity, publish, group_by, group_window_seconds, created_at, \
        updated_at) SELECT {id}, id, 1, 'Default', 0, 60, 'major', 'minor', FALSE, 'tag_or_parent', 60, created_at, \
        created_at FROM organisation"
    );
    manager.get_connection().execute_unprepared(&policy).await?;
    Ok(())
}
