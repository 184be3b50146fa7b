//! Status pages, and what belongs to one.

use crate::console::frame::ConsoleSection as Section;
use crate::console::screens::resources::api_lists::{PAGES, SERVICES, TAGS};
use crate::console::screens::resources::spec::{
    FieldKind as Kind, ResourceSpec, action, field, needed, on_creation, state,
};
use crate::model::access::Permission as May;
use crate::model::statuspage::word::AccessType;
use crate::model::statuspage::word::PageColorScheme;
use crate::model::statuspage::word::SubscriberChannel;

pub(super) static STATUSPAGES: ResourceSpec = ResourceSpec {
    name: "statuspages",
    section: Section::Statuspages,
    screen: "/statuspages",
    api: PAGES,
    view: May::StatuspagesView,
    create: Some(May::StatuspagesCreate),
    edit: Some(May::StatuspagesEdit),
    delete: Some(May::StatuspagesDelete),
    columns: &["name", "is_published", "url", "access_type"],
    fields: &[
        needed("name", Kind::Text),
        field("slug", Kind::Text),
        field("access_type", Kind::Word(AccessType::WORDS)),
        field("password", Kind::Secret),
        field("email_whitelist", Kind::Lines),
        field("appearance", Kind::Word(PageColorScheme::WORDS)),
        field("primary_color", Kind::Text),
        field("secondary_color", Kind::Text),
        field("subscriber_channels", Kind::Words(SubscriberChannel::WORDS)),
        field("imprint_url", Kind::Text),
        field("privacy_policy_url", Kind::Text),
        field("custom_css", Kind::Long),
        field("show_locations", Kind::Flag),
        field("show_sla", Kind::Flag),
    ],
    actions: &[
        action("publish", May::StatuspagesPublish, &[]).only_if(&[state("is_published", &["false"])]),
        action("unpublish", May::StatuspagesPublish, &[]).only_if(&[state("is_published", &["true"])]),
    ],
    lists: &["components", "domains", "subscribers"],
};

pub(super) static COMPONENTS: ResourceSpec = ResourceSpec {
    name: "components",
    section: Section::Statuspages,
    screen: "/statuspages/{id}/components",
    api: "/v1/statuspages/{id}/components",
    view: May::StatuspagesView,
    create: Some(May::StatuspagesEdit),
    edit: Some(May::StatuspagesEdit),
    delete: Some(May::StatuspagesEdit),
    columns: &["name", "is_group", "status", "display_order"],
    fields: &[
        needed("name", Kind::Text),
        field("description", Kind::Long),
        on_creation("is_group", Kind::Flag),
        field("service_id", Kind::Reference(SERVICES)),
        field("parent_id", Kind::Text),
        field("display_order", Kind::Number),
        field("sync_tag_id", Kind::Reference(TAGS)),
        field("show_uptime_bars", Kind::Flag),
        field("hide_operational_children", Kind::Flag),
    ],
    actions: &[],
    lists: &[],
};

pub(super) static DOMAINS: ResourceSpec = ResourceSpec {
    name: "domains",
    section: Section::Statuspages,
    screen: "/statuspages/{id}/domains",
    api: "/v1/statuspages/{id}/custom-domains",
    view: May::StatuspagesView,
    create: Some(May::StatuspagesEdit),
    edit: None,
    delete: Some(May::StatuspagesEdit),
    columns: &["hostname", "status", "dns_records", "certificate"],
    fields: &[needed("hostname", Kind::Text)],
    actions: &[
        action("verify", May::StatuspagesEdit, &[]).only_if(&[state("status", &["pending_verification"])])
    ],
    lists: &[],
};

pub(super) static SUBSCRIBERS: ResourceSpec = ResourceSpec {
    name: "subscribers",
    section: Section::Statuspages,
    screen: "/statuspages/{id}/subscribers",
    api: "/v1/statuspages/{id}/subscribers",
    view: May::SubscribersView,
    create: Some(May::SubscribersCreate),
    edit: None,
    delete: Some(May::SubscribersDelete),
    columns: &["address", "channel", "status", "language", "confirmed_at"],
    fields: &[
        needed("channel", Kind::Word(SubscriberChannel::WORDS)),
        needed("address", Kind::Text),
        field("language", Kind::Text),
        field("skip_confirmation", Kind::Flag),
    ],
    actions: &[],
    lists: &[],
};
