//! Adds the events of services that join an incident and of incidents that worsen to channels that have exactly the events
//! of a new channel.
//!
//! The events of a channel are JSON. The new events are in a separate member, which earlier versions ignore, so they can
//! still read the channel while the nodes of a cluster are upgraded one after the other.

use sea_orm_migration::prelude::*;

const BEFORE: &str = r#"{"events":["incident.opened","incident.reopened","incident.resolved","certificate.expiring","location.impaired","monitor.trouble","sla.burning","oncall.gap"],"#;
const ADDED: &str = r#""added_events":["incident.service_joined","incident.worsened"],"#;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        replace_start(manager, BEFORE, &format!("{BEFORE}{ADDED}")).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        replace_start(manager, &format!("{BEFORE}{ADDED}"), BEFORE).await
    }
}

/// Replaces the start of the routing of channels, whose form is the same in every version.
async fn replace_start(manager: &SchemaManager<'_>, before: &str, after: &str) -> Result<(), DbErr> {
    let replaced = Func::cust("replace").arg(Expr::col("routing")).arg(before).arg(after);
    let update = Query::update()
        .table("notification_channel")
        .value("routing", replaced)
        .and_where(Expr::col("routing").like(format!("{before}%")))
        .to_owned();
    manager.execute(update).await
}
