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

/// Tags and services named in a body, with the keys of the existing ones.
#[derive(Debug, Default)]
pub(super) struct RoutingLinks {
    tags: HashMap<Id, i64>,
    services: HashMap<Id, i64>,
}

impl RoutingLinks {
    /// Looks up those that the body names and the caller sees.
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

    /// Reads `tag_ids`; unknown tags are refused.
    pub(super) fn read_tags(&self, fields: &BodyFields<'_>) -> Option<Vec<ResourceReference>> {
        read_links(fields, "tag_ids", TAGS_MAX, &LinkableRows { kind: "tag", keys: &self.tags })
    }

    /// Reads `service_ids`; unknown services are refused.
    pub(super) fn read_services(&self, fields: &BodyFields<'_>) -> Option<Vec<ResourceReference>> {
        read_links(
            fields,
            "service_ids",
            SERVICES_MAX,
            &LinkableRows { kind: "service", keys: &self.services },
        )
    }
}

/// Rows that a body may name.
pub(super) struct LinkableRows<'a> {
    /// Kind of the rows, for error texts.
    pub(super) kind: &'static str,
    /// Database keys by id.
    pub(super) keys: &'a HashMap<Id, i64>,
}

/// Reads a list of ids, of which unknown ones are refused; `None` without the member.
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

/// Well-formed ids in a list of a body; the reader of the body reports errors.
fn named(body: &Map<String, Value>, name: &str, most: usize) -> Vec<Id> {
    let ignored = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &ignored);
    let ids = fields.skippable(name).and_then(|field| LinkedIds::read(&field, most, NullEntries::Refused));
    ids.map(|ids| ids.ids()).unwrap_or_default()
}
