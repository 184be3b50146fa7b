//! Certificates of custom domains: the accounts at certificate authorities, the certificates, and the answers to running
//! challenges.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, integer, string, text, text_null};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLES: [&str; 3] = ["acme_challenge", "domain_certificate", "acme_account"];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(acme_account()).await?;
        manager.create_table(domain_certificate()).await?;
        manager
            .create_index(index("domain_certificate_by_revision", "domain_certificate", &["revision"]))
            .await?;
        manager.create_table(acme_challenge()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in TABLES {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn acme_account() -> TableCreateStatement {
    Table::create()
        .table("acme_account")
        .col(string("directory_url").primary_key())
        .col(text("credentials"))
        .col(big_integer("created_at"))
        .to_owned()
}

fn domain_certificate() -> TableCreateStatement {
    Table::create()
        .table("domain_certificate")
        .col(big_integer("custom_domain_id").primary_key())
        .col(string("directory_url"))
        .col(text_null("sealed"))
        .col(big_integer_null("not_before"))
        .col(big_integer_null("not_after"))
        .col(big_integer("revision"))
        .col(integer("failures"))
        .col(text_null("last_error"))
        .col(big_integer("due_at"))
        .foreign_key(&mut reference(
            ("domain_certificate", "custom_domain_id"),
            "custom_domain",
            ForeignKeyAction::Cascade,
        ))
        .to_owned()
}

fn acme_challenge() -> TableCreateStatement {
    Table::create()
        .table("acme_challenge")
        .col(string("token").primary_key())
        .col(string("hostname"))
        .col(text("key_authorization"))
        .col(big_integer("created_at"))
        .to_owned()
}
