//! Usage of an organisation's plan: the counts in `GET /v1/me` (contract 4.17).

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use watchkeeper_entities::statuspage;

use crate::store::error::MainError;
use crate::store::maintenances::series;
use crate::store::oncall::schedules;
use crate::store::{
    access_scopes, contacts, escalation_policies, incident_policies, notification_channels, services,
    sla_targets, tags,
};

/// The resources of one organisation that its quotas limit, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanUsage {
    /// Number of services that are not paused.
    pub services: u64,
    /// Number of tags that members have created.
    pub tags: u64,
    /// Number of status pages, published or not.
    pub statuspages: u64,
    /// Number of published status pages.
    pub published_statuspages: u64,
    /// Number of incident policies.
    pub incident_policies: u64,
    /// Number of access scopes.
    pub access_scopes: u64,
    /// Number of maintenance series.
    pub maintenance_series: u64,
    /// Number of notification channels.
    pub notification_channels: u64,
    /// Number of SLA targets.
    pub sla_targets: u64,
    /// Number of escalation policies.
    pub escalation_policies: u64,
    /// Number of contacts.
    pub contacts: u64,
    /// Number of on-call schedules.
    pub oncall_schedules: u64,
}

/// Counts the resources of the organisation that its quotas limit.
pub async fn count(connection: &dyn StoreConnection, organisation: i64) -> Result<PlanUsage, MainError> {
    let pages = statuspage::Entity::find().filter(statuspage::Column::OrganisationId.eq(organisation));
    let published = pages.clone().filter(statuspage::Column::IsPublished.eq(true));
    Ok(PlanUsage {
        services: services::count_active(connection, organisation).await?,
        tags: tags::count_user(connection, organisation).await?,
        statuspages: pages.count(&connection).await?,
        published_statuspages: published.count(&connection).await?,
        incident_policies: incident_policies::count(connection, organisation).await?,
        access_scopes: access_scopes::count(connection, organisation).await?,
        maintenance_series: series::count(connection, organisation).await?,
        notification_channels: notification_channels::count(connection, organisation).await?,
        sla_targets: sla_targets::count(connection, organisation).await?,
        escalation_policies: escalation_policies::count(connection, organisation).await?,
        contacts: contacts::count(connection, organisation).await?,
        oncall_schedules: schedules::count(connection, organisation).await?,
    })
}
