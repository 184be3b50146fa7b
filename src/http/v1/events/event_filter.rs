//! The selection of events that a client requests: `types`, `service_id`, `tag`, `statuspage_id`.

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::event::EventType;
use crate::model::visibility::Visibility;
use crate::store::service_selection::ServiceSelection;

/// Permissions of the route, of which a token needs at least one.
pub(in crate::http::v1) const ONE_OF: &[Permission] =
    &[Permission::ServicesView, Permission::IncidentsView, Permission::MaintenancesView];

/// Returns the permission to read the resource of this type of event.
const fn required_permission(kind: EventType) -> Permission {
    match kind {
        EventType::StatusChange | EventType::Result => Permission::ServicesView,
        EventType::Incident => Permission::IncidentsView,
        EventType::Maintenance => Permission::MaintenancesView,
    }
}

/// The selection of events that a client requests.
#[derive(Clone, Debug)]
pub(super) struct EventFilter {
    types: Vec<EventType>,
    pub(super) selection: ServiceSelection,
    /// True if the requested tag cannot exist, so that no service is selected.
    pub(super) selects_nothing: bool,
}

impl EventFilter {
    /// Reads the selection. Missing permissions are reported before invalid parameters.
    ///
    /// # Errors
    ///
    /// 403 if a requested type needs a permission that the token lacks, or if no type remains; 422 for invalid parameters.
    pub(super) fn read(query: &QueryString, caller: &Caller) -> Result<Self, ApiError> {
        let mut errors = FieldErrors::default();
        let types = read_types(query, caller, &mut errors)?;
        let page = read_id(query, "statuspage_id", &mut errors);
        if query.contains("statuspage_id") {
            caller.require(Permission::StatuspagesView)?;
        }
        let service = read_id(query, "service_id", &mut errors);
        let tag = query.single("tag", &mut errors).map(str::parse);
        let selects_nothing = matches!(tag, Some(Err(_)));
        let selection = ServiceSelection { service, tag: tag.and_then(Result::ok), statuspage: page };
        errors.into_result(Self { types, selection, selects_nothing }).map_err(ApiError::Fields)
    }

    /// Returns true if events of this type are selected.
    pub(super) fn has(&self, kind: EventType) -> bool {
        self.types.contains(&kind)
    }

    /// Returns the key of a subscription, equal for all clients with the same selection, visibility and language.
    pub(super) fn key(&self, visibility: Visibility, language: &str) -> String {
        format!("{visibility:?} {language} {self:?}")
    }
}

fn read_types(
    query: &QueryString,
    caller: &Caller,
    errors: &mut FieldErrors,
) -> Result<Vec<EventType>, ApiError> {
    let Some(items) = query.list("types").filter(|items| !items.is_empty()) else {
        let may = |kind: &EventType| caller.require(required_permission(*kind)).is_ok();
        let types: Vec<EventType> = EventType::ALL.into_iter().filter(may).collect();
        return if types.is_empty() { Err(ApiError::Forbidden(ONE_OF[0])) } else { Ok(types) };
    };
    let mut types = Vec::new();
    for item in items {
        match item.text.parse::<EventType>() {
            Ok(kind) => types.push(kind),
            Err(_) => errors.add(item.path("types"), FieldRule::unknown_word(EventType::WORDS)),
        }
    }
    types.sort_unstable_by_key(|kind| *kind as u8);
    types.dedup();
    types.iter().try_for_each(|kind| caller.require(required_permission(*kind)))?;
    Ok(types)
}

fn read_id(query: &QueryString, name: &'static str, errors: &mut FieldErrors) -> Option<Id> {
    let id = query.single(name, errors)?.parse().ok();
    if id.is_none() {
        errors.add(name, FieldRule::IdForm);
    }
    id
}
