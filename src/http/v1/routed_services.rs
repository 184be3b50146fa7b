//! Reads the services of a notification channel or an escalation policy: `applies_to`, `tag_ids` and `service_ids`.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::http::gate::auth::Caller;
use crate::http::gate::write::WriteTransaction;
use crate::http::kit::error::ApiError;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::linked_ids::{LinkedIds, NullEntries};
use crate::id::Id;
use crate::model::notification::routing::{ResourceReference, SERVICES_MAX, TAGS_MAX};
use crate::store::{id_lookup, tags};

pub(super) const APPLIES_TO: [&str; 2] = ["all", "selected"];

/// The database keys of the tags and services that a body names, by id.
#[derive(Debug, Default)]
pub(super) struct RoutingLinks {
    tags: HashMap<Id, i64>,
    services: HashMap<Id, i64>,
}

impl RoutingLinks {
    /// Looks up the tags and services that the body names and the caller sees.
    pub(super) async fn find(
        body: &Map<String, Value>,
        write: &WriteTransaction,
        caller: &Caller,
    ) -> Result<Self, ApiError> {
        let mut found = Self::default();
        let tag_ids = named(body, "tag_ids", TAGS_MAX);
        for tag in tags::find_all(&**write, caller.visibility(), &tag_ids, &[]).await? {
            found.tags.insert(tag.id, tag.row);
        }
        let service_ids = named(body, "service_ids", SERVICES_MAX);
        found.services = id_lookup::services_by_id(&**write, caller.visibility(), &service_ids).await?;
        Ok(found)
    }

    /// Reads `tag_ids`; an unknown tag is an error.
    pub(super) fn read_tags(&self, fields: &BodyFields<'_>) -> Option<Vec<ResourceReference>> {
        read_links(fields, "tag_ids", TAGS_MAX, &LinkableRows { kind: "tag", keys: &self.tags })
    }

    /// Reads `service_ids`; an unknown service is an error.
    pub(super) fn read_services(&self, fields: &BodyFields<'_>) -> Option<Vec<ResourceReference>> {
        read_links(
            fields,
            "service_ids",
            SERVICES_MAX,
            &LinkableRows { kind: "service", keys: &self.services },
        )
    }
}

/// Rows that a body may reference.
pub(super) struct LinkableRows<'a> {
    /// Kind of the rows, for error texts.
    pub(super) kind: &'static str,
    /// Database keys by id.
    pub(super) keys: &'a HashMap<Id, i64>,
}

/// Reads a list of ids; an unknown id is an error. `None` if the body does not have the member, or the list is invalid.
pub(super) fn read_links(
    fields: &BodyFields<'_>,
    name: &str,
    most: usize,
    known: &LinkableRows<'_>,
) -> Option<Vec<ResourceReference>> {
    let field = fields.optional(name)?;
    let ids = LinkedIds::read(&field, most, NullEntries::Refused)?;
    let keys = ids.resolve(known.kind, known.keys, field.errors());
    Some(ids.ids().into_iter().zip(keys).map(|(id, key)| ResourceReference { key, id }).collect())
}

/// Returns the well-formed ids in a list of a body. Errors are reported by the reader of the body.
fn named(body: &Map<String, Value>, name: &str, most: usize) -> Vec<Id> {
    let ignored = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &ignored);
    let ids = fields.skippable(name).and_then(|field| LinkedIds::read(&field, most, NullEntries::Refused));
    ids.map(|ids| ids.ids()).unwrap_or_default()
}
