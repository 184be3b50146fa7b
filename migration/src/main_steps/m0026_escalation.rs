//! Escalation policies, and the progress of open incidents in the policies that they follow.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, integer, integer_null, pk_auto, string, text,
};

use super::{index, reference};

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(policies()).await?;
        let in_order =
            index("escalation_policy_by_organisation", "escalation_policy", &["organisation_id", "position"]);
        manager.create_index(in_order).await?;
        manager.create_table(escalations()).await?;
        manager.create_index(index("escalation_by_due", "escalation", &["due_at"])).await?;
        manager.create_index(index("escalation_by_policy", "escalation", &["policy_id"])).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["escalation", "escalation_policy"] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn policies() -> TableCreateStatement {
    let table = "escalation_policy";
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(pk_auto("id").big_integer())
        .col(string("public_id").unique_key())
        .col(big_integer("organisation_id"))
        .col(integer("position"))
        .col(text("name"))
        .col(text("assignment"))
        .col(text("steps"))
        .col(integer_null("repeat_after_seconds"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .foreign_key(&mut organisation)
        .to_owned()
}

fn escalations() -> TableCreateStatement {
    let table = "escalation";
    let mut incident = reference((table, "incident_id"), "incident", ForeignKeyAction::Cascade);
    let mut organisation = reference((table, "organisation_id"), "organisation", ForeignKeyAction::Cascade);
    let mut policy = reference((table, "policy_id"), "escalation_policy", ForeignKeyAction::Cascade);
    Table::create()
        .table(table)
        .col(big_integer("incident_id").primary_key())
        .col(big_integer("organisation_id"))
        .col(big_integer("policy_id"))
        .col(integer("round"))
        .col(integer("next_step"))
        .col(big_integer_null("due_at"))
        .foreign_key(&mut incident)
        .foreign_key(&mut organisation)
        .foreign_key(&mut policy)
        .to_owned()
}
