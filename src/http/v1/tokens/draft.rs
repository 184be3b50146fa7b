//! Reads a token from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::confined_to::KnownScopes;
use crate::id::Id;
use crate::model::access::{ApiToken, Permission, PermissionSet, TOKEN_NAME_LENGTH, TokenHolder};

/// Reads tokens that a caller makes.
pub(super) struct TokenParser<'a> {
    /// The caller; the token gets at most what it has.
    pub(super) caller: &'a Caller,
    pub(super) scopes: &'a KnownScopes,
    pub(super) now: Timestamp,
}

impl TokenParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<ApiToken, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(TOKEN_NAME_LENGTH));
        let permissions = fields.required("permissions").and_then(|field| self.read_permissions(&field));
        let token = ApiToken {
            key: 0,
            id: Id::random(),
            organisation: self.caller.organisation.key,
            name: name.unwrap_or_default(),
            permissions: permissions.unwrap_or_default(),
            expires_at: self.caller.token.expires_at,
            created_at: self.now,
            access_scope: None,
            holder: TokenHolder::Program,
        };
        let token = self.read(body, &errors, token);
        errors.into_inner().into_result(token)
    }

    /// Reads the body of an update request, and returns the stored token with its changes. The changed token must not have
    /// more than the caller, whatever it had.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &ApiToken,
    ) -> Result<ApiToken, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(TOKEN_NAME_LENGTH));
        let permissions = fields.optional("permissions").and_then(|field| self.read_permissions(&field));
        let stored = stored.clone();
        let token = ApiToken {
            name: name.unwrap_or(stored.name),
            permissions: permissions.unwrap_or(stored.permissions),
            ..stored
        };
        let token = self.read(body, &errors, token);
        if permissions.is_none()
            && let Some(beyond) = token.permissions.iter().find(|one| !self.has(*one))
        {
            errors.add("permissions", FieldRule::PermissionNotHeld(beyond.as_str()));
        }
        errors.into_inner().into_result(token)
    }

    fn read(&self, body: &Map<String, Value>, errors: &ErrorCollector, token: ApiToken) -> ApiToken {
        let fields = BodyFields::new(body, "", errors);
        let expires_at = fields.nullable("expires_at").read(|field| self.read_expiry(&field));
        let expires_at = expires_at.or_stored(token.expires_at);
        if let Some(latest) = self.caller.token.expires_at
            && expires_at.is_none_or(|at| at > latest)
        {
            errors.add("expires_at", FieldRule::ExpiryBeyond(latest));
        }
        let access_scope = self.scopes.read(body, errors).or_stored(token.access_scope);
        ApiToken { expires_at, access_scope, ..token }
    }

    fn read_permissions(&self, field: &BodyField<'_>) -> Option<PermissionSet> {
        let entries = field.list(Permission::every().count())?;
        if entries.is_empty() {
            return field.refuse(FieldRule::MinItems(1));
        }
        let words: Vec<&str> = Permission::every().map(Permission::as_str).collect();
        let read = |entry: &BodyField<'_>| {
            let permission: Permission = entry.word(&words)?.parse().ok()?;
            if self.has(permission) {
                Some(permission)
            } else {
                entry.refuse(FieldRule::PermissionNotHeld(permission.as_str()))
            }
        };
        let found: Vec<Option<Permission>> = entries.iter().map(read).collect();
        found.into_iter().collect()
    }

    const fn has(&self, permission: Permission) -> bool {
        self.caller.token.permissions.contains(permission)
    }

    fn read_expiry(&self, field: &BodyField<'_>) -> Option<Timestamp> {
        let at = field.timestamp()?;
        if at > self.now { Some(at) } else { field.refuse(FieldRule::NotPast) }
    }
}
