//! Quotas whose refusal has an `upsell` member (contract 3.2, 3.3): their status, key and text.
//!
//! Quotas whose refusal is a field error (tags, published pages, intervals) are rules of their fields (`rule`). The store
//! counts the rows, in the transaction of the write.

use std::fmt;

use actix_web::http::StatusCode;

/// A limit of the plan; a request that would exceed it is refused as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanQuota {
    /// Services that are not paused.
    Services,
    /// Services, in any state.
    ServicesTotal,
    /// Custom domains of one page.
    CustomDomains,
    /// Status pages, published or not.
    Statuspages,
    /// Components of one status page.
    Components,
    /// Policies for automatic incidents.
    IncidentPolicies,
    /// Access scopes for tokens.
    AccessScopes,
    /// Series of recurring maintenances.
    MaintenanceSeries,
    /// Notification channels.
    NotificationChannels,
    /// SLA targets.
    SlaTargets,
    /// Escalation policies.
    EscalationPolicies,
    /// Contacts.
    Contacts,
    /// On-call schedules.
    OncallSchedules,
    /// Subscribers of one status page.
    Subscribers,
}

impl PlanQuota {
    /// Returns the key in contract 3.1.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::ServicesTotal => "services_total",
            Self::CustomDomains => "custom_domains",
            Self::Statuspages => "statuspages",
            Self::Components => "components",
            Self::IncidentPolicies => "incident_policies",
            Self::AccessScopes => "access_scopes",
            Self::MaintenanceSeries => "maintenance_series",
            Self::NotificationChannels => "notification_channels",
            Self::SlaTargets => "sla_targets",
            Self::EscalationPolicies => "escalation_policies",
            Self::Contacts => "contacts",
            Self::OncallSchedules => "oncall_schedules",
            Self::Subscribers => "subscribers",
        }
    }

    /// Returns the status: 403 for services and domains, 402 for other limits (contract 7, choice 10).
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Services | Self::CustomDomains => StatusCode::FORBIDDEN,
            Self::ServicesTotal
            | Self::Statuspages
            | Self::Components
            | Self::IncidentPolicies
            | Self::AccessScopes
            | Self::MaintenanceSeries
            | Self::NotificationChannels
            | Self::SlaTargets
            | Self::EscalationPolicies
            | Self::Contacts
            | Self::OncallSchedules
            | Self::Subscribers => StatusCode::PAYMENT_REQUIRED,
        }
    }
}

/// The error of a request that would exceed a quota of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct QuotaExceeded {
    /// The quota that would be exceeded.
    pub quota: PlanQuota,
    /// The limit of the plan.
    pub limit: u32,
    /// Number of rows that exist now.
    pub usage: u64,
}

impl fmt::Display for QuotaExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quota, limit, usage } = self;
        let (things, used) = match quota {
            PlanQuota::Services => ("active services", "are in use"),
            PlanQuota::ServicesTotal => ("services of any state", "exist"),
            PlanQuota::CustomDomains => ("custom domains per status page", "exist"),
            PlanQuota::Statuspages => ("status pages", "exist"),
            PlanQuota::Components => ("components per status page", "exist"),
            PlanQuota::IncidentPolicies => ("incident policies", "exist"),
            PlanQuota::AccessScopes => ("access scopes", "exist"),
            PlanQuota::MaintenanceSeries => ("series of maintenances", "exist"),
            PlanQuota::NotificationChannels => ("notification channels", "exist"),
            PlanQuota::SlaTargets => ("SLA targets", "exist"),
            PlanQuota::EscalationPolicies => ("escalation policies", "exist"),
            PlanQuota::Contacts => ("contacts", "exist"),
            PlanQuota::OncallSchedules => ("on-call schedules", "exist"),
            PlanQuota::Subscribers => ("subscribers per status page", "exist"),
        };
        write!(f, "The plan allows {limit} {things}; {usage} {used}.")
    }
}
