//! Components as clients see them (contract 4.14.1): stored data, and statuses derived from services, maintenances and
//! incidents.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::kit::languages::AnswerLanguage;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, integer, map_of, named, string, string_or_null, translations,
};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::component::status::{ComponentStatus, DerivedStatus};
use crate::model::component::{Component, ORDER_MAX};
use crate::model::service_outline::ServiceOutline;
use crate::model::translated_text::TranslatedText;

/// A component or a group.
#[derive(Serialize, ToSchema)]
#[schema(as = Component)]
pub(in crate::http::v1) struct ComponentView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    name: &'a str,
    #[schema(schema_with = translations)]
    name_translations: &'a TranslatedText,
    #[schema(schema_with = string_or_null, required)]
    description: Option<&'a str>,
    #[schema(schema_with = translations_or_null, required)]
    description_translations: Option<&'a TranslatedText>,
    #[schema(schema_with = stored_status)]
    status: &'static str,
    #[schema(schema_with = effective_status, required)]
    effective_status: Option<&'static str>,
    is_group: bool,
    is_visible: bool,
    #[schema(schema_with = display_order)]
    display_order: i32,
    #[schema(schema_with = parent_id, required)]
    parent_id: Option<Id>,
    #[schema(schema_with = service, required)]
    service: Option<NamedView<'a>>,
    show_uptime_bars: bool,
    hide_operational_children: bool,
    default_open: bool,
    #[schema(schema_with = sync_tag_id, required)]
    sync_tag_id: Option<Id>,
    sync_new_visible: bool,
    /// True if a synced group created the component.
    is_sync_managed: bool,
}

/// Data of a component in addition to its own row.
#[derive(Clone, Copy, Default)]
pub(super) struct ComponentDetails<'a> {
    /// Statuses derived from the current state of services, incidents and maintenances.
    pub(super) derived: Option<&'a DerivedStatus>,
    pub(super) service: Option<&'a ServiceOutline>,
    pub(super) parent: Option<Id>,
    /// The tag that the group follows.
    pub(super) sync_tag: Option<Id>,
}

impl<'a> ComponentView<'a> {
    /// Creates the view of a component.
    pub(super) fn of(
        component: &'a Component,
        beside: ComponentDetails<'a>,
        languages: &AnswerLanguage,
    ) -> Self {
        let ComponentDetails { derived, service, parent, sync_tag } = beside;
        let status = derived.map_or(ComponentStatus::Operational, |derived| derived.status);
        let effective = derived.and_then(|derived| derived.effective);
        let description = component.description.as_ref();
        Self {
            id: component.id,
            name: languages.text(&component.name),
            name_translations: &component.name,
            description: description.map(|text| languages.text(text)),
            description_translations: description,
            status: status.as_str(),
            effective_status: effective.map(ComponentStatus::as_str),
            is_group: component.is_group,
            is_visible: component.is_visible,
            display_order: component.display_order,
            parent_id: parent,
            service: service.map(|service| NamedView::new(service.id, &service.name)),
            show_uptime_bars: component.show_uptime_bars,
            hide_operational_children: component.hide_operational_children,
            default_open: component.default_open,
            sync_tag_id: sync_tag,
            sync_new_visible: component.sync_new_visible,
            is_sync_managed: component.is_sync_managed,
        }
    }
}

/// The position of a component among its siblings.
pub(super) fn display_order() -> ApiSchema {
    integer().range(0, ORDER_MAX.unsigned_abs())
}

fn translations_or_null() -> ApiSchema {
    map_of(string()).nullable()
}

fn status() -> ApiSchema {
    enum_of(&ComponentStatus::ALL.map(ComponentStatus::as_str))
}

fn stored_status() -> ApiSchema {
    status().says("Stored; visitors do not see it.")
}

fn effective_status() -> ApiSchema {
    status().nullable().says("What visitors see; null when hidden.")
}

fn parent_id() -> ApiSchema {
    id().nullable().says("The group that it belongs to.")
}

fn service() -> ApiSchema {
    named("Named").nullable().says("Written as `service_id`.")
}

fn sync_tag_id() -> ApiSchema {
    id().nullable().says("On a group: services with this tag fill it.")
}
