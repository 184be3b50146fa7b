//! Status pages, their components, and slugs that are held after they were given up.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, boolean, integer, pk_auto, string, string_null, text, text_null,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(statuspage()).await?;
        manager
            .create_index(
                index(
                    "statuspage_by_organisation",
                    "statuspage",
                    &["organisation_id", "created_at", "public_id"],
                )
                .to_owned(),
            )
            .await?;
        manager.create_table(component()).await?;
        manager
            .create_index(index("component_by_statuspage", "component", &["statuspage_id"]).to_owned())
            .await?;
        manager.create_index(index("component_by_service", "component", &["service_id"]).to_owned()).await?;
        manager.create_index(index("component_by_parent", "component", &["parent_id"]).to_owned()).await?;
        manager.create_index(index("component_by_tag", "component", &["sync_tag_id"]).to_owned()).await?;
        manager.create_table(slug_hold()).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["slug_hold", "component", "statuspage"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn statuspage() -> TableCreateStatement {
    Table::create()
        .table("statuspage")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(text("name"))
        .col(string("slug").unique_key())
        .col(boolean("is_published"))
        .col(text_null("supported_locales"))
        .col(string_null("default_locale"))
        .col(string_null("primary_color"))
        .col(string_null("secondary_color"))
        .col(text_null("custom_css"))
        .col(text_null("imprint_url"))
        .col(text_null("privacy_policy_url"))
        .col(boolean("show_logo"))
        .col(string("logo_size"))
        .col(boolean("show_affected_services"))
        .col(boolean("show_unlinked_services"))
        .col(boolean("show_incident_history"))
        .col(boolean("status_json_includes_hidden"))
        .col(text("seo"))
        .col(string("access_type"))
        .col(text_null("password_hash"))
        .col(text("email_whitelist"))
        .col(text("subscriber_channels"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut reference(
            ("statuspage", "organisation_id"),
            "organisation",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn component() -> TableCreateStatement {
    Table::create()
        .table("component")
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("statuspage_id"))
        .col(big_integer_null("parent_id"))
        .col(big_integer_null("service_id"))
        .col(big_integer_null("sync_tag_id"))
        .col(text("name"))
        .col(boolean("has_own_name"))
        .col(text_null("description"))
        .col(boolean("is_group"))
        .col(boolean("is_visible"))
        .col(boolean("show_uptime_bars"))
        .col(boolean("hide_operational_children"))
        .col(boolean("default_open"))
        .col(boolean("sync_new_visible"))
        .col(boolean("is_sync_managed"))
        .col(integer("display_order"))
        .col(big_integer("created_at"))
        .foreign_key(&mut reference(("component", "statuspage_id"), "statuspage", ForeignKeyAction::Cascade))
        .foreign_key(&mut reference(("component", "parent_id"), "component", ForeignKeyAction::Cascade))
        .foreign_key(&mut reference(("component", "service_id"), "service", ForeignKeyAction::SetNull))
        .foreign_key(&mut reference(("component", "sync_tag_id"), "tag", ForeignKeyAction::Restrict))
        .to_owned()
}

fn slug_hold() -> TableCreateStatement {
    Table::create()
        .table("slug_hold")
        .col(string("slug"))
        .col(big_integer("organisation_id"))
        .col(big_integer("freed_at"))
        .primary_key(Index::create().col("slug"))
        .foreign_key(&mut reference(
            ("slug_hold", "organisation_id"),
            "organisation",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}
