//! Users of the console: people who sign in with an e-mail address and a password, and act with the permissions of a role.
//!
//! A user acts through an [`ApiToken`] that no bearer token opens, so permissions, access scopes, rate limits and
//! idempotency keys are those of a token.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::{ApiToken, Permission, PermissionSet, TokenHolder};
use crate::model::email::is_address;
use crate::model::word_enum::words;

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of users of an organisation.
pub const USERS_MAX: u64 = 1_000;

words! {
    /// Roles of users: fixed sets of permissions.
    pub enum UserRole {
        /// May do everything, also manage users and tokens.
        Owner,
        /// May change everything except users, tokens and access scopes.
        Editor,
        /// May handle incidents, pause services, and change who is on duty.
        Responder,
        /// May only read.
        Viewer,
    }
}

/// Permissions of owners only.
const OWNERS: [Permission; 5] = [
    Permission::UsersManage,
    Permission::TokensManage,
    Permission::AccessScopesCreate,
    Permission::AccessScopesEdit,
    Permission::AccessScopesDelete,
];
/// Permissions of responders beyond those of viewers.
const RESPONDERS: [Permission; 7] = [
    Permission::IncidentsCreate,
    Permission::IncidentsAcknowledge,
    Permission::IncidentsEdit,
    Permission::IncidentsResolve,
    Permission::ServicesPause,
    Permission::NotificationsRedeliver,
    Permission::OncallCover,
];
/// Permissions to read that viewers and responders do not have: addresses of subscribers, and the audit log.
const PRIVATE: [Permission; 2] = [Permission::SubscribersView, Permission::AuditLogView];

impl UserRole {
    /// Returns the permissions of the role. In a self-hosted organisation the owner is the operator as well.
    #[must_use]
    pub fn permissions(self, is_self_hosted: bool) -> PermissionSet {
        let reads = |permission: &Permission| {
            permission.as_str().ends_with(".view") && !PRIVATE.contains(permission)
                || *permission == Permission::ServicesSimulate
        };
        let all = Permission::ALL.iter().copied();
        match self {
            Self::Owner if is_self_hosted => Permission::every().collect(),
            Self::Owner => all.collect(),
            Self::Editor => all.filter(|permission| !OWNERS.contains(permission)).collect(),
            Self::Responder => all.filter(reads).chain(RESPONDERS).collect(),
            Self::Viewer => all.filter(reads).collect(),
        }
    }
}

/// A user of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleUser {
    /// Database key, that of the token through which the user acts; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation.
    pub organisation: i64,
    /// Display name, 1 to 255 characters.
    pub name: String,
    /// E-mail address in lower case, unique in the installation.
    pub email: String,
    /// Argon2id hash of the password; `None` until the user has chosen one.
    pub password_hash: Option<String>,
    /// Role of the user.
    pub role: UserRole,
    /// Database key of the access scope to which the user is confined; `None` = the whole organisation.
    pub access_scope: Option<i64>,
    /// Code of the language of the console; `None` = as the browser prefers.
    pub language: Option<String>,
    /// Whether single letters are shortcuts (WCAG 2.1.4).
    pub has_shortcuts: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl ConsoleUser {
    /// Creates a user who has no password yet.
    #[must_use]
    pub fn new(organisation: i64, email: &str, role: UserRole, now: Timestamp) -> Self {
        Self {
            key: 0,
            id: Id::random(),
            organisation,
            name: email.split('@').next().unwrap_or(email).to_owned(),
            email: email.to_owned(),
            password_hash: None,
            role,
            access_scope: None,
            language: None,
            has_shortcuts: true,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the token through which the user acts.
    #[must_use]
    pub fn token(&self, is_self_hosted: bool) -> ApiToken {
        ApiToken {
            key: self.key,
            id: self.id,
            organisation: self.organisation,
            name: self.name.clone(),
            permissions: self.role.permissions(is_self_hosted),
            expires_at: None,
            created_at: self.created_at,
            access_scope: self.access_scope,
            holder: TokenHolder::Person,
        }
    }
}

/// Returns an e-mail address as it is stored: without blanks around it, in lower case. `None` if it is not an address.
#[must_use]
pub fn stored_email(text: &str) -> Option<String> {
    let address = text.trim();
    (is_address(address) && address.is_ascii()).then(|| address.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// What each role may do, a row a permission that tells roles apart.
    #[rstest]
    #[case("services.view", "owner editor responder viewer")]
    #[case("services.simulate", "owner editor responder viewer")]
    #[case("services.pause", "owner editor responder")]
    #[case("incidents.acknowledge", "owner editor responder")]
    #[case("incidents.edit", "owner editor responder")]
    #[case("incidents.resolve", "owner editor responder")]
    #[case("oncall.cover", "owner editor responder")]
    #[case("services.edit", "owner editor")]
    #[case("services.delete", "owner editor")]
    #[case("oncall.edit", "owner editor")]
    #[case("statuspages.publish", "owner editor")]
    #[case("incidents.delete", "owner editor")]
    #[case("subscribers.view", "owner editor")]
    #[case("audit_log.view", "owner editor")]
    #[case("access_scopes.edit", "owner")]
    #[case("tokens.manage", "owner")]
    #[case("users.manage", "owner")]
    #[case("engine.view", "")]
    fn a_role_is_a_set_of_permissions(#[case] permission: &str, #[case] roles: &str) {
        let permission: Permission = permission.parse().unwrap();
        let having = UserRole::ALL.into_iter().filter(|role| role.permissions(false).contains(permission));
        assert_eq!(having.map(UserRole::as_str).collect::<Vec<_>>().join(" "), roles);
    }

    #[test]
    fn the_owner_of_a_self_hosted_organisation_is_its_operator() {
        let with_engine =
            UserRole::ALL.into_iter().filter(|role| role.permissions(true).contains(Permission::EngineView));
        assert_eq!(with_engine.collect::<Vec<_>>(), [UserRole::Owner]);
    }

    #[rstest]
    #[case(" Ana@Example.COM ", Some("ana@example.com"))]
    #[case("ana", None)]
    #[case("änne@example.com", None)]
    fn an_address_is_stored_in_one_form(#[case] text: &str, #[case] stored: Option<&str>) {
        assert_eq!(stored_email(text).as_deref(), stored);
    }
}
