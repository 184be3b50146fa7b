//! The calling token as it sees itself (contract 4.17).

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, list_of, named, timestamp};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::access::{Permission, Plan};
use crate::model::access_scope::AccessScope;
use crate::store::usage::PlanUsage;

/// The calling token.
#[derive(Serialize, ToSchema)]
#[schema(as = Me)]
pub(super) struct MeView<'a> {
    #[schema(schema_with = kind)]
    r#type: &'static str,
    #[schema(schema_with = permissions)]
    permissions: Vec<&'static str>,
    #[schema(inline)]
    organization: OrganisationView<'a>,
    #[schema(inline)]
    rate_limit: RateLimitView,
    #[schema(inline)]
    token: TokenView<'a>,
    /// The limits of the plan, by quota.
    #[schema(inline)]
    limits: LimitsView,
    #[schema(schema_with = access_scope, required)]
    access_scope: Option<NamedView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = expires_at)]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize, ToSchema)]
struct OrganisationView<'a> {
    #[schema(schema_with = id)]
    public_id: Id,
    name: &'a str,
    #[schema(schema_with = plan)]
    plan: &'static str,
    locales: Vec<&'a str>,
    default_locale: &'a str,
}

#[derive(Serialize, ToSchema)]
struct RateLimitView {
    #[schema(minimum = 1)]
    requests_per_minute: u32,
}

#[derive(Serialize, ToSchema)]
struct TokenView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    name: &'a str,
}

#[derive(Serialize, ToSchema)]
struct LimitsView {
    #[schema(inline)]
    services: QuotaView,
    #[schema(inline)]
    tags: QuotaView,
    #[schema(inline)]
    published_statuspages: QuotaView,
    #[schema(inline)]
    statuspages: QuotaView,
    #[schema(inline)]
    components: QuotaView,
    #[schema(inline)]
    custom_domains: QuotaView,
    #[schema(inline)]
    incident_policies: QuotaView,
    #[schema(inline)]
    access_scopes: QuotaView,
    #[schema(inline)]
    maintenance_series: QuotaView,
    #[schema(inline)]
    notification_channels: QuotaView,
    #[schema(inline)]
    sla_targets: QuotaView,
    #[schema(inline)]
    escalation_policies: QuotaView,
    #[schema(inline)]
    contacts: QuotaView,
    #[schema(inline)]
    oncall_schedules: QuotaView,
    #[schema(inline)]
    subscribers: QuotaView,
}

#[derive(Serialize, ToSchema)]
struct QuotaView {
    /// The limit of the plan; null if there is none.
    #[schema(required, minimum = 0)]
    limit: Option<u32>,
    /// The number of existing rows; null if they are counted per status page, or if the token is confined to an access
    /// scope.
    #[schema(required, minimum = 0)]
    usage: Option<u64>,
}

/// Data of a caller in addition to the token and its organisation.
#[derive(Clone, Copy)]
pub(super) struct CallerDetails<'a> {
    /// The access scope to which the token is confined, if any.
    pub(super) scope: Option<&'a AccessScope>,
    /// The organisation's usage of its plan, if the caller may know it.
    pub(super) usage: Option<PlanUsage>,
}

impl<'a> MeView<'a> {
    /// Creates the view of a caller; the rate limit is the same for every token.
    pub(super) fn of(caller: &'a Caller, requests_per_minute: u32, beside: CallerDetails<'a>) -> Self {
        let Caller { token, organisation, limits } = caller;
        let CallerDetails { scope, usage } = beside;
        let counted =
            |limit: Option<u32>, of: fn(PlanUsage) -> u64| QuotaView { limit, usage: usage.map(of) };
        let of_each_page = |limit: Option<u32>| QuotaView { limit, usage: None };
        Self {
            r#type: "user",
            permissions: token.permissions.iter().map(|permission| permission.as_str()).collect(),
            organization: OrganisationView {
                public_id: organisation.id,
                name: &organisation.name,
                plan: organisation.plan.as_str(),
                locales: organisation.locales.iter().map(String::as_str).collect(),
                default_locale: &organisation.default_locale,
            },
            rate_limit: RateLimitView { requests_per_minute },
            token: TokenView { id: token.id, name: &token.name },
            access_scope: scope.map(|scope| NamedView::new(scope.id, &scope.name)),
            limits: LimitsView {
                services: counted(limits.services, |usage| usage.services),
                tags: counted(limits.tags, |usage| usage.tags),
                published_statuspages: counted(limits.published_statuspages, |usage| {
                    usage.published_statuspages
                }),
                statuspages: counted(limits.statuspages, |usage| usage.statuspages),
                components: of_each_page(limits.components),
                custom_domains: of_each_page(limits.custom_domains),
                incident_policies: counted(limits.incident_policies, |usage| usage.incident_policies),
                access_scopes: counted(limits.access_scopes, |usage| usage.access_scopes),
                maintenance_series: counted(limits.maintenance_series, |usage| usage.maintenance_series),
                notification_channels: counted(limits.notification_channels, |usage| {
                    usage.notification_channels
                }),
                sla_targets: counted(limits.sla_targets, |usage| usage.sla_targets),
                escalation_policies: counted(limits.escalation_policies, |usage| usage.escalation_policies),
                contacts: counted(limits.contacts, |usage| usage.contacts),
                oncall_schedules: counted(limits.oncall_schedules, |usage| usage.oncall_schedules),
                subscribers: of_each_page(limits.subscribers),
            },
            expires_at: token.expires_at,
        }
    }
}

fn access_scope() -> ApiSchema {
    named("Named").nullable().says("The access scope that the token is confined to.")
}

fn kind() -> ApiSchema {
    enum_of(&["user"])
}

fn permissions() -> ApiSchema {
    let words: Vec<&str> = Permission::every().map(Permission::as_str).collect();
    list_of(enum_of(&words))
}

fn plan() -> ApiSchema {
    enum_of(Plan::WORDS)
}

fn expires_at() -> ApiSchema {
    timestamp().says("Only for a token that expires.")
}
