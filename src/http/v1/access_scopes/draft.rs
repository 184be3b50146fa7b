//! Reads an access scope from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::tags::entries::{Entries, TagEntry, read_entries};
use crate::id::Id;
use crate::model::access_scope::{AccessScope, NAME_LENGTH, TAGS_MAX};
use crate::model::tag::{Tag, TagName};
use crate::store::{Transaction, tags};

/// The contents of a valid body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AccessScopeDraft {
    name: Option<String>,
    /// Database keys of the tags.
    tags: Option<Vec<i64>>,
}

impl AccessScopeDraft {
    /// Reads the body of a create request.
    ///
    /// # Errors
    ///
    /// 422 with all invalid members.
    pub(super) async fn read_new(
        body: &Map<String, Value>,
        transaction: &Transaction,
        caller: &Caller,
    ) -> Result<Self, ApiError> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH));
        let tags = fields.required("tags").is_some();
        read(body, transaction, caller, name, errors, tags).await
    }

    /// Reads the body of an update request.
    ///
    /// # Errors
    ///
    /// 422 with all invalid members.
    pub(super) async fn read_changes(
        body: &Map<String, Value>,
        transaction: &Transaction,
        caller: &Caller,
    ) -> Result<Self, ApiError> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let tags = fields.optional("tags").is_some();
        read(body, transaction, caller, name, errors, tags).await
    }

    /// Returns the new scope, and the database keys of its tags.
    pub(super) fn scope(self, organisation: i64, now: Timestamp) -> (AccessScope, Vec<i64>) {
        let name = self.name.unwrap_or_default();
        let (created_at, updated_at) = (now, now);
        let scope = AccessScope { key: 0, id: Id::random(), organisation, name, created_at, updated_at };
        (scope, self.tags.unwrap_or_default())
    }

    /// Returns the stored scope with the changes, and the database keys of its tags; `tags` are its stored tags. `None` when
    /// nothing changes.
    pub(super) fn apply_to(
        self,
        stored: &AccessScope,
        tags: &[Tag],
        now: Timestamp,
    ) -> Option<(AccessScope, Vec<i64>)> {
        let name = self.name.unwrap_or_else(|| stored.name.clone());
        let before: Vec<i64> = tags.iter().map(|tag| tag.row).collect();
        let after = self.tags.unwrap_or_else(|| before.clone());
        let is_same = before.len() == after.len() && before.iter().all(|row| after.contains(row));
        let changed = AccessScope { name, updated_at: now, ..stored.clone() };
        (!is_same || changed.name != stored.name).then_some((changed, after))
    }
}

/// Reads the tags if the body has the member `tags`, and combines all fields.
async fn read(
    body: &Map<String, Value>,
    transaction: &Transaction,
    caller: &Caller,
    name: Option<String>,
    errors: ErrorCollector,
    has_tags: bool,
) -> Result<AccessScopeDraft, ApiError> {
    let mut tags = None;
    if has_tags {
        let (entries, found) = read_entries(body, TAGS_MAX);
        errors.extend(found);
        if let Some(entries) = entries {
            let ids: Vec<Id> = entries.iter().flatten().filter_map(TagEntry::id).collect();
            let names: Vec<TagName> = entries.iter().flatten().filter_map(TagEntry::name).cloned().collect();
            let known = tags::find_all(transaction, caller.visibility(), &ids, &names).await?;
            tags = Some(resolve(&entries, &known, &errors));
        }
    }
    Ok(errors.into_inner().into_result(AccessScopeDraft { name, tags })?)
}

/// Returns the database keys of the tags that the entries name, without repetitions.
fn resolve(entries: &Entries, known: &[Tag], errors: &ErrorCollector) -> Vec<i64> {
    let mut rows = Vec::new();
    if entries.is_empty() {
        errors.add("tags", FieldRule::MinItems(1));
    }
    for (index, entry) in entries.iter().enumerate() {
        let found = entry.clone().and_then(|wanted| match wanted.find(known) {
            Some(tag) => Ok(tag.row),
            None => Err(wanted.unknown()),
        });
        match found {
            Ok(row) if !rows.contains(&row) => rows.push(row),
            Ok(_) => {}
            Err(rule) => errors.add(format!("tags.{index}"), rule),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const ID: &str = "8rumoia4tHtM30RLo1EcP";

    fn known() -> Vec<Tag> {
        let tag = |row: i64, name: &str| Tag {
            row,
            ..Tag::new(1, name.parse().unwrap(), None, Timestamp::from_ms(0))
        };
        vec![Tag { id: ID.parse().unwrap(), ..tag(1, "env:prod") }, tag(2, "env")]
    }

    /// Database keys of the tags, or the invalid fields.
    #[rstest]
    #[case(json!(["env:prod"]), &[1], &[])]
    #[case(json!([ID, "ENV=prod", "env"]), &[1, 2], &[])]
    #[case(json!([]), &[], &["tags: Send at least 1 entries."])]
    #[case(json!(["env:Prod"]), &[], &["tags.0: No tag with the ID or name env:Prod exists."])]
    #[case(
        json!(["env", "AAAAAAAAAAAAAAAAAAAAA", null]),
        &[2],
        &[
            "tags.1: No tag with the ID or name AAAAAAAAAAAAAAAAAAAAA exists.",
            "tags.2: This field must not be null.",
        ]
    )]
    fn entries_name_tags_that_exist(#[case] sent: Value, #[case] rows: &[i64], #[case] refused: &[&str]) {
        let body = json!({ "tags": sent });
        let (entries, _) = read_entries(body.as_object().unwrap(), TAGS_MAX);
        let errors = ErrorCollector::default();
        assert_eq!(resolve(&entries.unwrap(), &known(), &errors), rows);
        let found = errors.into_inner();
        let found: Vec<String> = found.iter().map(|(path, rule)| format!("{path}: {rule}")).collect();
        assert_eq!(found, refused);
    }
}
