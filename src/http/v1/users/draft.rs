//! Reads a user from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::confined_to::KnownScopes;
use crate::model::console_user::{ConsoleUser, NAME_LENGTH, UserRole, stored_email};

/// Reads users whom a caller manages.
pub(super) struct UserParser<'a> {
    /// The caller; the user gets at most what it has.
    pub(super) caller: &'a Caller,
    pub(super) scopes: &'a KnownScopes,
    pub(super) now: Timestamp,
}

impl UserParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<ConsoleUser, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let email = fields.required("email").and_then(|field| read_email(&field)).unwrap_or_default();
        let role = fields.required("role").and_then(|field| self.read_role(&field));
        let organisation = self.caller.organisation.key;
        let user = ConsoleUser::new(organisation, &email, role.unwrap_or(UserRole::Viewer), self.now);
        let user = self.read(body, &errors, user);
        if let Some(end) = self.caller.token.expires_at {
            errors.add("role", FieldRule::CallerExpires(end));
        }
        errors.into_inner().into_result(user)
    }

    /// Reads the body of an update request, and returns the stored user with the changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &ConsoleUser,
    ) -> Result<ConsoleUser, FieldErrors> {
        refuse_beyond(self.caller, stored)?;
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let email = fields.optional("email").and_then(|field| read_email(&field));
        let role = fields.optional("role").and_then(|field| self.read_role(&field));
        let before = stored.clone();
        let user =
            ConsoleUser { email: email.unwrap_or(before.email), role: role.unwrap_or(before.role), ..before };
        let mut user = self.read(body, &errors, user);
        if user != *stored {
            user.updated_at = self.now;
        }
        errors.into_inner().into_result(user)
    }

    fn read(&self, body: &Map<String, Value>, errors: &ErrorCollector, user: ConsoleUser) -> ConsoleUser {
        let fields = BodyFields::new(body, "", errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let access_scope = self.scopes.read(body, errors).or_stored(user.access_scope);
        ConsoleUser { name: name.unwrap_or(user.name), access_scope, ..user }
    }

    fn read_role(&self, field: &BodyField<'_>) -> Option<UserRole> {
        let role = field.word(UserRole::WORDS)?.parse().ok()?;
        if is_within(self.caller, role) { Some(role) } else { field.refuse(FieldRule::RoleBeyond) }
    }
}

/// Checks that a user has no more than the caller, who could otherwise act as the user, or for longer than the caller.
pub(super) fn refuse_beyond(caller: &Caller, user: &ConsoleUser) -> Result<(), FieldErrors> {
    if let Some(end) = caller.token.expires_at {
        return Err(FieldErrors::of("role", FieldRule::CallerExpires(end)));
    }
    let is_within = is_within(caller, user.role);
    if is_within { Ok(()) } else { Err(FieldErrors::of("role", FieldRule::RoleBeyond)) }
}

/// Returns true if the caller has every permission that the role has in its organisation.
fn is_within(caller: &Caller, role: UserRole) -> bool {
    let permissions = role.permissions(caller.organisation.self_hosted);
    permissions.iter().all(|permission| caller.token.permissions.contains(permission))
}

fn read_email(field: &BodyField<'_>) -> Option<String> {
    stored_email(field.string()?).or_else(|| field.refuse(FieldRule::Email))
}
