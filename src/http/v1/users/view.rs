//! Users of the console, their sessions and passkeys, as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, string, text_in, timestamp, timestamp_or_null, url,
};
use crate::http::v1::confined_to::{KnownScopes, shown_scope};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::console_session::ConsoleSession;
use crate::model::console_user::{ConsoleUser, NAME_LENGTH, UserRole};
use crate::model::passkey::UserPasskey;

/// A user of the console.
#[derive(Serialize, ToSchema)]
#[schema(as = User)]
pub(super) struct UserView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = email)]
    email: &'a str,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = role)]
    role: &'static str,
    #[schema(schema_with = shown_scope, required)]
    access_scope: Option<NamedView<'a>>,
    /// False until the user has chosen a password.
    has_password: bool,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

/// A user with a link to choose a password.
#[derive(Serialize, ToSchema)]
#[schema(as = LinkedUser)]
pub(super) struct LinkedUserView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    pub(super) user: UserView<'a>,
    #[schema(schema_with = link)]
    pub(super) link: &'a str,
}

/// A browser in which a user has signed in.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(super) struct SessionView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    /// Address of the client that signed in.
    address: &'a str,
    /// What the browser calls itself.
    browser: &'a str,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = seen_at)]
    seen_at: Timestamp,
}

/// A passkey by which a user signs in.
#[derive(Serialize, ToSchema)]
#[schema(as = Passkey)]
pub(super) struct PasskeyView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = last_used_at, required)]
    last_used_at: Option<Timestamp>,
}

impl<'a> UserView<'a> {
    /// Creates the view of a user.
    pub(super) fn of(user: &'a ConsoleUser, scopes: &'a KnownScopes) -> Self {
        Self {
            id: user.id,
            email: &user.email,
            name: &user.name,
            role: user.role.as_str(),
            access_scope: scopes.view(user.access_scope),
            has_password: user.password_hash.is_some(),
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

impl<'a> SessionView<'a> {
    /// Creates the view of a session.
    pub(super) fn of(session: &'a ConsoleSession) -> Self {
        Self {
            id: session.id,
            address: &session.address,
            browser: &session.browser,
            created_at: session.created_at,
            seen_at: session.seen_at,
        }
    }
}

impl<'a> PasskeyView<'a> {
    /// Creates the view of a passkey.
    pub(super) fn of(passkey: &'a UserPasskey) -> Self {
        Self {
            id: passkey.id,
            name: &passkey.name,
            created_at: passkey.created_at,
            last_used_at: passkey.last_used_at,
        }
    }
}

pub(super) fn email() -> ApiSchema {
    string().says("By which the user signs in; unique in the installation.").example("anna@example.com")
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn role() -> ApiSchema {
    enum_of(UserRole::WORDS)
}

fn link() -> ApiSchema {
    url()
        .says("By this address the user chooses a password. It works once, and is shown only in this answer.")
}

fn last_used_at() -> ApiSchema {
    timestamp_or_null().says("Time of the last sign-in with it; null before the first.")
}

fn seen_at() -> ApiSchema {
    timestamp().says("Time of the last request, exact to a minute.")
}
