//! The access scope to which a token, a user or a wall is confined: read by its id, shown with its name.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::rule::FieldRule;
use crate::http::openapi::shape::{ApiSchema, id, named};
use crate::http::v1::named::NamedView;
use crate::model::access_scope::AccessScope;
use crate::store::{StoreConnection, access_scopes};

/// Name of the member that chooses an access scope.
const MEMBER: &str = "access_scope_id";

/// The access scopes of an organisation.
#[derive(Debug)]
pub(super) struct KnownScopes(HashMap<i64, AccessScope>);

impl KnownScopes {
    /// Reads the scopes of the caller's organisation.
    pub(super) async fn of(connection: &dyn StoreConnection, caller: &Caller) -> Result<Self, ApiError> {
        let all = access_scopes::all(connection, caller.organisation.key).await?;
        Ok(Self(all.into_iter().map(|scope| (scope.key, scope)).collect()))
    }

    /// Reads the chosen scope of a body: the key of its row.
    pub(super) fn read(&self, body: &Map<String, Value>, errors: &ErrorCollector) -> FieldPatch<i64> {
        let fields = BodyFields::new(body, "", errors);
        fields.nullable(MEMBER).read(|field| {
            let id = read_id(&field)?;
            let known = self.0.values().find(|scope| scope.id == id).map(|scope| scope.key);
            known.or_else(|| field.refuse(FieldRule::UnknownId { kind: "access scope", id: id.to_string() }))
        })
    }

    /// Returns the scope with this key as clients see it.
    pub(super) fn view(&self, key: Option<i64>) -> Option<NamedView<'_>> {
        let scope = self.0.get(&key?)?;
        Some(NamedView::new(scope.id, &scope.name))
    }
}

/// The member that chooses an access scope, in bodies.
pub(super) fn chosen_scope() -> ApiSchema {
    id().nullable().says("The access scope; null for the whole organisation.")
}

/// The access scope in views.
pub(super) fn shown_scope() -> ApiSchema {
    named("Named").nullable().says("The access scope; null for the whole organisation.")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::clock::Timestamp;
    use crate::id::Id;

    const ID: &str = "8rumoia4tHtM30RLo1EcP";

    fn known() -> KnownScopes {
        let at = Timestamp::from_ms(0);
        let (name, id): (String, Id) = ("Shop".into(), ID.parse().unwrap());
        let scope = AccessScope { key: 7, id, organisation: 1, name, created_at: at, updated_at: at };
        KnownScopes(HashMap::from([(7, scope)]))
    }

    #[rstest]
    #[case(json!({}), FieldPatch::Absent, &[])]
    #[case(json!({"access_scope_id": null}), FieldPatch::Null, &[])]
    #[case(json!({"access_scope_id": ID}), FieldPatch::Value(7), &[])]
    #[case(json!({"access_scope_id": "x"}), FieldPatch::Absent, &["access_scope_id: This is not a valid ID."])]
    #[case(json!({"access_scope_id": "AAAAAAAAAAAAAAAAAAAAA"}), FieldPatch::Absent,
        &["access_scope_id: No access scope with the ID AAAAAAAAAAAAAAAAAAAAA exists."])]
    fn a_scope_is_chosen_by_its_id(
        #[case] body: Value,
        #[case] chosen: FieldPatch<i64>,
        #[case] refused: &[&str],
    ) {
        let errors = ErrorCollector::default();
        assert_eq!(known().read(body.as_object().unwrap(), &errors), chosen);
        let found = errors.into_inner();
        let found: Vec<String> = found.iter().map(|(path, rule)| format!("{path}: {rule}")).collect();
        assert_eq!(found, refused);
    }
}
