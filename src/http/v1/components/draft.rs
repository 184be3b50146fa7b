//! Reads a component from a request body (contract 4.14.2). Fields are read in the order of the table, and every error is
//! collected; nothing is stored.
//!
//! Fields that are missing in the body keep their values. Rules between fields are checked on the result: a group that is
//! still linked to a service is refused on `service_id`, whichever of the two fields was sent.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::translated::{read_nullable_translated, read_translated};
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::component::tree::ComponentTree;
use crate::model::component::{
    Component, ComponentKey, DEPTH_MAX, DESCRIPTION_LENGTH, NAME_LENGTH, ORDER_MAX, order_behind,
};
use crate::model::service::ServiceKey;
use crate::model::translated_text::TranslatedText;

/// Database keys for the ids in a body; `None` for an id that does not exist in the organisation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ComponentLinks {
    /// Key of the service in `service_id`.
    pub(super) service: Option<ServiceKey>,
    /// Key of the tag in `sync_tag_id`.
    pub(super) tag: Option<i64>,
    /// True if the component in `parent_id` exists, on this or another page.
    pub(super) parent_exists: bool,
}

/// Reads components of one page.
pub(super) struct ComponentParser<'a> {
    /// The organisation that owns the page.
    pub(super) organisation: &'a Organisation,
    /// All components of the page.
    pub(super) components: &'a [Component],
    /// Database keys for the ids in the body.
    pub(super) links: ComponentLinks,
}

impl ComponentParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(
        &self,
        body: &Map<String, Value>,
        page: i64,
        now: Timestamp,
    ) -> Result<Component, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| self.read_name(&field));
        // A missing name has added an error, so the component with this name is not returned.
        let name = name.unwrap_or_else(|| TranslatedText::single(&self.organisation.default_locale, ""));
        let mut component = Component { has_own_name: true, ..Component::new(page, name, now) };
        self.read(&fields, &mut component);
        if !fields.has("display_order") {
            let siblings = self.components.iter().filter(|other| other.parent == component.parent);
            component.display_order = order_behind(siblings.map(|sibling| sibling.display_order).max());
        }
        errors.into_inner().into_result(component)
    }

    /// Reads the body of an update request, and returns the stored component with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &Component,
    ) -> Result<Component, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let mut component = stored.clone();
        if let Some(name) = fields.optional("name").and_then(|field| self.read_name(&field)) {
            component.has_own_name |= name != stored.name;
            component.name = name;
        }
        self.read(&fields, &mut component);
        errors.into_inner().into_result(component)
    }

    fn read_name(&self, field: &BodyField<'_>) -> Option<TranslatedText> {
        read_translated(field, NAME_LENGTH, self.organisation)
    }

    /// Reads all fields except the name.
    fn read(&self, fields: &BodyFields<'_>, component: &mut Component) {
        let description =
            read_nullable_translated(fields.nullable("description"), DESCRIPTION_LENGTH, self.organisation);
        component.description = description.or_stored(component.description.take());
        self.read_is_group(fields, component);
        self.read_service(fields, component);
        self.read_parent(fields, component);
        for (name, flag) in [
            ("is_visible", &mut component.is_visible),
            ("show_uptime_bars", &mut component.show_uptime_bars),
            ("hide_operational_children", &mut component.hide_operational_children),
            ("default_open", &mut component.default_open),
            ("sync_new_visible", &mut component.sync_new_visible),
        ] {
            *flag = fields.optional(name).and_then(|field| field.boolean()).unwrap_or(*flag);
        }
        let order = fields.optional("display_order").and_then(|field| field.integer(0..=ORDER_MAX.into()));
        let order = order.and_then(|order| i32::try_from(order).ok());
        component.display_order = order.unwrap_or(component.display_order);
        self.read_sync_tag(fields, component);
    }

    fn read_is_group(&self, fields: &BodyFields<'_>, component: &mut Component) {
        let sent = fields.optional("is_group").and_then(|field| field.boolean());
        match sent {
            Some(true) if component.is_sync_managed => fields.refuse("is_group", FieldRule::Managed),
            Some(false) if component.is_group && self.has_children(component) => {
                fields.refuse("is_group", FieldRule::GroupChildren);
            }
            Some(is_group) => component.is_group = is_group,
            None => {}
        }
    }

    fn has_children(&self, component: &Component) -> bool {
        self.components.iter().any(|other| other.parent == Some(component.key))
    }

    fn read_service(&self, fields: &BodyFields<'_>, component: &mut Component) {
        let stored = component.service;
        let given = fields.nullable("service_id");
        let was_sent = !matches!(given, FieldPatch::Absent);
        let linked = given.read(|field| {
            let id = read_id(&field)?;
            self.links.service.or_else(|| unknown(&field, "service", id))
        });
        let is_unreadable = was_sent && matches!(linked, FieldPatch::Absent);
        component.service = linked.or_stored(stored);
        component.has_lost_service &= !was_sent;
        if component.is_sync_managed && component.service != stored {
            fields.refuse("service_id", FieldRule::Managed);
        } else if component.is_group && component.service.is_some() && !is_unreadable {
            fields.refuse("service_id", FieldRule::GroupService);
        }
    }

    fn read_parent(&self, fields: &BodyFields<'_>, component: &mut Component) {
        let stored = component.parent;
        let parent = fields.nullable("parent_id").read(|field| self.find_group(&field));
        component.parent = parent.or_stored(stored);
        let tree = ComponentTree::of(self.components);
        let is_stored = component.key != 0;
        if component.is_sync_managed && component.parent != stored {
            fields.refuse("parent_id", FieldRule::Managed);
        } else if is_stored && component.parent.is_some_and(|parent| tree.is_within(parent, component.key)) {
            fields.refuse("parent_id", FieldRule::ParentCycle);
        } else if component.is_group {
            let below = if is_stored { tree.height_below(component.key) } else { 0 };
            if tree.depth(component.parent) + 1 + below > DEPTH_MAX {
                fields.refuse("parent_id", FieldRule::ParentDepth);
            }
        }
    }

    /// Returns the key of the group of this page whose id is sent.
    fn find_group(&self, field: &BodyField<'_>) -> Option<ComponentKey> {
        let id = read_id(field)?;
        match self.components.iter().find(|component| component.id == id) {
            Some(group) if group.is_group => Some(group.key),
            Some(_) => field.refuse(FieldRule::ParentGroup),
            None if self.links.parent_exists => field.refuse(FieldRule::ParentGroup),
            None => unknown(field, "component", id),
        }
    }

    fn read_sync_tag(&self, fields: &BodyFields<'_>, component: &mut Component) {
        let given = fields.nullable("sync_tag_id");
        let followed = given.read(|field| {
            let id = read_id(&field)?;
            self.links.tag.or_else(|| unknown(&field, "tag", id))
        });
        component.sync_tag = followed.or_stored(component.sync_tag);
        if !component.is_group && component.sync_tag.is_some() {
            fields.refuse("sync_tag_id", FieldRule::SyncGroup);
        }
    }
}

fn unknown<T>(field: &BodyField<'_>, kind: &'static str, id: Id) -> Option<T> {
    field.refuse(FieldRule::UnknownId { kind, id: id.to_string() })
}
