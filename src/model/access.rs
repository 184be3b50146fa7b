//! Access and its limits: permissions (contract 2), plans and quotas (contract 3).

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::word_enum::words;

macro_rules! permissions {
    ($($variant:ident = $name:literal,)*;
        additions: $($addition:ident = $addition_name:literal,)*;
        operators: $($operator:ident = $operator_name:literal,)*) => {
        /// The permissions that a token can have: the 18 of contract 2.1, those added to the contract, and those of
        /// operators. There is no wildcard, and no permission implies another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Permission {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
            $(#[doc = concat!("`", $addition_name, "`")] $addition,)*
            $(#[doc = concat!("`", $operator_name, "`")] $operator,)*
        }

        impl Permission {
            /// The permissions of contract 2.1, in its order.
            pub const CONTRACT: &'static [Self] = &[$(Self::$variant,)*];

            /// Every permission in an organisation: those of the contract in its order, then those of the additions.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)* $(Self::$addition,)*];

            /// Permissions of operators, which concern the process and not an organisation. A token has one only
            /// if the permission was named when the token was created: "all" does not include it.
            pub const OPERATORS: &'static [Self] = &[$(Self::$operator,)*];

            /// The name of the permission in the API and in error texts, such as `services.view`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    $(Self::$addition => $addition_name,)*
                    $(Self::$operator => $operator_name,)*
                }
            }
        }
    };
}

permissions! {
    ServicesView = "services.view",
    ServicesCreate = "services.create",
    ServicesEdit = "services.edit",
    ServicesDelete = "services.delete",
    IncidentsView = "incidents.view",
    IncidentsCreate = "incidents.create",
    IncidentsEdit = "incidents.edit",
    IncidentsResolve = "incidents.resolve",
    IncidentsDelete = "incidents.delete",
    MaintenancesView = "maintenances.view",
    MaintenancesCreate = "maintenances.create",
    MaintenancesEdit = "maintenances.edit",
    MaintenancesDelete = "maintenances.delete",
    StatuspagesView = "statuspages.view",
    StatuspagesCreate = "statuspages.create",
    StatuspagesEdit = "statuspages.edit",
    StatuspagesDelete = "statuspages.delete",
    StatuspagesPublish = "statuspages.publish",
    ; additions:
    IncidentsAcknowledge = "incidents.acknowledge",
    IncidentPoliciesView = "incident_policies.view",
    IncidentPoliciesCreate = "incident_policies.create",
    IncidentPoliciesEdit = "incident_policies.edit",
    IncidentPoliciesDelete = "incident_policies.delete",
    AccessScopesView = "access_scopes.view",
    AccessScopesCreate = "access_scopes.create",
    AccessScopesEdit = "access_scopes.edit",
    AccessScopesDelete = "access_scopes.delete",
    ServicesSimulate = "services.simulate",
    NotificationChannelsView = "notification_channels.view",
    NotificationChannelsCreate = "notification_channels.create",
    NotificationChannelsEdit = "notification_channels.edit",
    NotificationChannelsDelete = "notification_channels.delete",
    NotificationsView = "notifications.view",
    NotificationsRedeliver = "notifications.redeliver",
    SlaTargetsView = "sla_targets.view",
    SlaTargetsCreate = "sla_targets.create",
    SlaTargetsEdit = "sla_targets.edit",
    SlaTargetsDelete = "sla_targets.delete",
    EscalationPoliciesView = "escalation_policies.view",
    EscalationPoliciesCreate = "escalation_policies.create",
    EscalationPoliciesEdit = "escalation_policies.edit",
    EscalationPoliciesDelete = "escalation_policies.delete",
    ContactsView = "contacts.view",
    ContactsCreate = "contacts.create",
    ContactsEdit = "contacts.edit",
    ContactsDelete = "contacts.delete",
    OncallView = "oncall.view",
    OncallEdit = "oncall.edit",
    OncallCover = "oncall.cover",
    SubscribersView = "subscribers.view",
    SubscribersCreate = "subscribers.create",
    SubscribersDelete = "subscribers.delete",
    ServicesPause = "services.pause",
    AuditLogView = "audit_log.view",
    TokensManage = "tokens.manage",
    UsersManage = "users.manage",
    ; operators:
    EngineView = "engine.view",
    EngineBackup = "engine.backup",
}

impl Permission {
    /// Every permission: those in an organisation, then those of operators.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.iter().chain(Self::OPERATORS).copied()
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that is not the name of a permission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown permission '{0}'")]
pub struct UnknownPermission(pub String);

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, UnknownPermission> {
        Self::every().find(|p| p.as_str() == text).ok_or_else(|| UnknownPermission(text.into()))
    }
}

/// A set of permissions, stored with one bit for each permission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PermissionSet(u64);

impl PermissionSet {
    /// Every permission in an organisation.
    #[must_use]
    pub fn all() -> Self {
        Permission::ALL.iter().copied().collect()
    }

    /// Returns true if the set holds `permission`.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & (1_u64 << permission as u32) != 0
    }

    /// Returns the set with the permissions of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The permissions of the set in the order of [`Permission::every`].
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::every().filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | 1_u64 << permission as u32))
    }
}

words! {
    /// The plans of contract 3.1.
    #[strum(parse_err_ty = UnknownPlan, parse_err_fn = UnknownPlan::of)]
    pub enum Plan {
        /// No API access.
        Free,
        /// No API access.
        Solo,
        /// With API access.
        Team,
        /// With API access; the plan of a self-hosted installation.
        Business,
    }
}

impl Plan {
    /// The default limits of the plan (contract 3.1); the configuration can replace them.
    #[must_use]
    pub const fn default_limits(self) -> PlanLimits {
        let counts = match self {
            Self::Free => [5, 10, 1, 2, 25, 0, 2, 0, 1, 2, 2, 1, 2, 1, 100],
            Self::Solo => [10, 25, 1, 3, 50, 1, 5, 1, 3, 5, 5, 2, 5, 1, 500],
            Self::Team => [50, 200, 5, 20, 250, 1, 20, 10, 20, 20, 20, 20, 50, 10, 5_000],
            Self::Business => [250, 1000, 25, 100, 1000, 5, 100, 50, 100, 100, 100, 100, 500, 50, 25_000],
        };
        let (min_interval_seconds, retention_days) = match self {
            Self::Free => (300, 7),
            Self::Solo => (60, 30),
            Self::Team => (30, 90),
            Self::Business => (30, 365),
        };
        PlanLimits {
            api_access: matches!(self, Self::Team | Self::Business),
            services: Some(counts[0]),
            tags: Some(counts[1]),
            published_statuspages: Some(counts[2]),
            statuspages: Some(counts[3]),
            components: Some(counts[4]),
            custom_domains: Some(counts[5]),
            incident_policies: Some(counts[6]),
            access_scopes: Some(counts[7]),
            maintenance_series: Some(counts[8]),
            notification_channels: Some(counts[9]),
            sla_targets: Some(counts[10]),
            escalation_policies: Some(counts[11]),
            contacts: Some(counts[12]),
            oncall_schedules: Some(counts[13]),
            subscribers: Some(counts[14]),
            min_interval_seconds,
            retention_days,
        }
    }
}

/// The error for a text that is not the name of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown plan '{0}'; allowed: free, solo, team, business")]
pub struct UnknownPlan(pub String);

impl UnknownPlan {
    fn of(text: &str) -> Self {
        Self(text.into())
    }
}

/// The limits of an organisation's plan; `None` = unlimited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLimits {
    /// True if tokens of the organisation may use the API; otherwise only `/v1/me` answers.
    pub api_access: bool,
    /// Maximum number of services that are not paused.
    pub services: Option<u32>,
    /// Maximum number of tags with source `user`.
    pub tags: Option<u32>,
    /// Maximum number of published status pages.
    pub published_statuspages: Option<u32>,
    /// Maximum number of status pages, published or not.
    pub statuspages: Option<u32>,
    /// Maximum number of components of one status page.
    pub components: Option<u32>,
    /// Maximum number of custom domains of one status page.
    pub custom_domains: Option<u32>,
    /// Maximum number of incident policies, the rules by which incidents are opened automatically.
    pub incident_policies: Option<u32>,
    /// Maximum number of access scopes, the sets of tags to which tokens can be confined.
    pub access_scopes: Option<u32>,
    /// Maximum number of maintenance series, the rules by which recurring maintenances are created.
    pub maintenance_series: Option<u32>,
    /// Maximum number of notification channels.
    pub notification_channels: Option<u32>,
    /// Maximum number of SLA targets.
    pub sla_targets: Option<u32>,
    /// Maximum number of escalation policies.
    pub escalation_policies: Option<u32>,
    /// Maximum number of contacts, the people who can be notified.
    pub contacts: Option<u32>,
    /// Maximum number of on-call schedules.
    pub oncall_schedules: Option<u32>,
    /// Maximum number of subscribers of one status page.
    pub subscribers: Option<u32>,
    /// Smallest permitted `interval_seconds` of a service.
    pub min_interval_seconds: u32,
    /// The number of days for which results are kept.
    pub retention_days: u32,
}

/// Number of services, in any state, that a plan allows for each active service that it allows.
const TOTAL_PER_ACTIVE: u32 = 4;

impl PlanLimits {
    /// The limits of the organisation that a self-hosted installation creates: unlimited counts, and checks as often as
    /// every second.
    #[must_use]
    pub const fn self_hosted() -> Self {
        Self {
            api_access: true,
            services: None,
            tags: None,
            published_statuspages: None,
            statuspages: None,
            components: None,
            custom_domains: None,
            incident_policies: None,
            access_scopes: None,
            maintenance_series: None,
            notification_channels: None,
            sla_targets: None,
            escalation_policies: None,
            contacts: None,
            oncall_schedules: None,
            subscribers: None,
            min_interval_seconds: 1,
            retention_days: 365,
        }
    }

    /// Maximum number of services including paused ones; `None` = unlimited.
    #[must_use]
    pub fn services_of_any_state(&self) -> Option<u32> {
        self.services.map(|active| active.saturating_mul(TOTAL_PER_ACTIVE))
    }
}

/// An organisation: the owner of services, tokens, status pages and all other resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organisation {
    /// Database key.
    pub key: i64,
    /// The id that clients see (`public_id` of contract 4.17).
    pub id: Id,
    /// Display name.
    pub name: String,
    /// The plan that sets the limits of the organisation.
    pub plan: Plan,
    /// True if the first start of a self-hosted installation created it; all counts are then unlimited (contract 3.1).
    pub self_hosted: bool,
    /// Codes of the languages of the organisation, at least one.
    pub locales: Vec<String>,
    /// The default language, one of `locales`.
    pub default_locale: String,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Permitted number of characters of the name of a token.
pub const TOKEN_NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of tokens that the API makes for an organisation.
pub const TOKENS_MAX: u64 = 1_000;

/// An API token: an organisation-wide service account. The secret itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// Database key.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of its organisation.
    pub organisation: i64,
    /// Display name.
    pub name: String,
    /// The permissions of the token.
    pub permissions: PermissionSet,
    /// The time at which the token expires; `None` = never.
    pub expires_at: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Database key of the access scope to which the token is confined; `None` = the token sees the whole organisation.
    pub access_scope: Option<i64>,
    /// Who acts through the token.
    pub holder: TokenHolder,
}

words! {
    /// Who acts through a token.
    pub enum TokenHolder {
        /// A program that knows the text of the token.
        Program,
        /// A user of the console; the token has no text.
        Person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_has_18_permissions_and_each_parses_back() {
        assert_eq!(Permission::CONTRACT.len(), 18);
        assert!(Permission::ALL.starts_with(Permission::CONTRACT));
        for permission in Permission::every() {
            assert_eq!(permission.as_str().parse(), Ok(permission));
        }
        for permission in Permission::OPERATORS {
            assert!(!PermissionSet::all().contains(*permission), "{permission} is given by name alone");
        }
        assert_eq!("services.*".parse::<Permission>(), Err(UnknownPermission("services.*".into())));
    }

    #[test]
    fn no_permission_implies_another() {
        let set: PermissionSet = [Permission::ServicesEdit].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [Permission::ServicesEdit]);
        assert!(!set.contains(Permission::ServicesView));
        assert_eq!(PermissionSet::all().iter().count(), Permission::ALL.len());
    }

    /// The plans whose tokens may call the API (contract 3.1).
    #[test]
    fn only_team_and_business_have_api_access() {
        let with_access = Plan::ALL.into_iter().filter(|plan| plan.default_limits().api_access);
        assert_eq!(with_access.collect::<Vec<_>>(), [Plan::Team, Plan::Business]);
    }
}
