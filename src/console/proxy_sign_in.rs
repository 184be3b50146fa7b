//! Users whom a trusted proxy has signed in: it names their e-mail address in a header, and they need no session.
//!
//! The header counts only if the connection itself comes from an address in `trusted_proxies`; `X-Forwarded-For` has no
//! say in that. It is for the console alone: the API knows only bearer tokens.

use std::net::IpAddr;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName};
use serde_json::{Value, json};

use crate::config::choice::ProxyUserRole;
use crate::console::screen_error::{ScreenError, message, message_about};
use crate::console::sessions::{caller_of, note};
use crate::console::visit::{ConsoleVisit, SignedIn};
use crate::http::kit::error::ApiError;
use crate::model::audit::ObjectViews;
use crate::model::console_user::{ConsoleUser, USERS_MAX, UserRole, stored_email};
use crate::store::{console_users, organisations};

/// What a trusted proxy says about the user of a request.
#[derive(Debug, PartialEq, Eq)]
enum ProxyClaim {
    /// Nothing: the user signs in here.
    Nothing,
    /// The user has this e-mail address, in the form in which it is stored.
    User(String),
    /// Something other than one e-mail address.
    Malformed,
}

/// Why a user whom the proxy names is not signed in.
#[derive(Debug)]
pub(super) enum ProxyRefusal {
    /// The header has several values, or none is an e-mail address.
    Malformed,
    /// There is no user with this address.
    Unknown(String),
    /// The database has failed.
    Failed(ApiError),
}

impl<E> From<E> for ProxyRefusal
where
    ApiError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl ProxyRefusal {
    /// Returns the document that says what to do.
    pub(super) fn document(self, visit: &ConsoleVisit) -> HttpResponse {
        match self {
            Self::Malformed => message(visit, StatusCode::FORBIDDEN, "proxy-malformed"),
            Self::Unknown(email) => message_about(visit, StatusCode::FORBIDDEN, "proxy-unknown", &email),
            Self::Failed(error) => ScreenError::from(error).of_stranger(visit),
        }
    }
}

/// Returns the user whom a trusted proxy names; `None` if it names nobody.
///
/// # Errors
/// When the named user is refused, or the database fails.
pub(super) async fn signed_in(visit: &ConsoleVisit) -> Result<Option<SignedIn>, ProxyRefusal> {
    let state = visit.state();
    let config = &state.config;
    let Some(header) = &config.console.proxy_user_header else { return Ok(None) };
    let is_trusted = |peer: IpAddr| config.trusted_proxies.iter().any(|proxy| proxy.contains(peer));
    if !visit.peer.is_some_and(is_trusted) {
        return Ok(None);
    }
    let email = match claim_in(&visit.headers, header) {
        ProxyClaim::Nothing => return Ok(None),
        ProxyClaim::Malformed => return Err(ProxyRefusal::Malformed),
        ProxyClaim::User(email) => email,
    };
    let main = state.databases.main.reader();
    let user = match (console_users::by_email(main, &email).await?, config.console.proxy_user_role) {
        (Some(user), _) => Some(user),
        (None, Some(role)) => create(visit, &email, role).await?,
        (None, None) => None,
    };
    let Some(user) = user else { return Err(ProxyRefusal::Unknown(email)) };
    let Some(organisation) = organisations::get(main, user.organisation).await? else {
        return Err(ProxyRefusal::Unknown(email));
    };
    Ok(Some(SignedIn { caller: caller_of(visit, &user, organisation), user, session: None }))
}

/// Reads the header. An empty value is as none: some proxies send it for people whom they have not signed in.
fn claim_in(headers: &HeaderMap, header: &str) -> ProxyClaim {
    let Ok(name) = header.parse::<HeaderName>() else { return ProxyClaim::Nothing };
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (None, _) => ProxyClaim::Nothing,
        (Some(value), None) if value.is_empty() => ProxyClaim::Nothing,
        (Some(value), None) => {
            let email = value.to_str().ok().and_then(stored_email);
            email.map_or(ProxyClaim::Malformed, ProxyClaim::User)
        }
        (Some(_), Some(_)) => ProxyClaim::Malformed,
    }
}

/// Creates a user whom the proxy names. Returns `None` if there are several organisations, because an owner has to decide
/// in which one, or if the organisation has too many users.
async fn create(
    visit: &ConsoleVisit,
    email: &str,
    role: ProxyUserRole,
) -> Result<Option<ConsoleUser>, ApiError> {
    let transaction = visit.state().databases.main.begin().await?;
    let all = organisations::list(&transaction).await?;
    let [organisation] = all.as_slice() else { return Ok(None) };
    organisations::lock(&transaction, organisation.key).await?;
    // Another request of the same user may have been quicker.
    if let Some(user) = console_users::by_email(&transaction, email).await? {
        return Ok(Some(user));
    }
    if console_users::count(&transaction, organisation.key).await? >= USERS_MAX {
        return Ok(None);
    }
    let user = ConsoleUser::new(organisation.key, email, user_role(role), visit.state().now());
    let user = console_users::insert(&transaction, user).await?;
    let new = json!({"email": user.email, "role": user.role.as_str()});
    let changes = ObjectViews { kind: "user", old: &Value::Null, new: &new }.changes(&[]);
    note(&transaction, visit, &user, "create", changes).await?;
    transaction.commit().await?;
    Ok(Some(user))
}

const fn user_role(role: ProxyUserRole) -> UserRole {
    match role {
        ProxyUserRole::Owner => UserRole::Owner,
        ProxyUserRole::Editor => UserRole::Editor,
        ProxyUserRole::Responder => UserRole::Responder,
        ProxyUserRole::Viewer => UserRole::Viewer,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[], "nothing")]
    #[case(&[""], "nothing")]
    #[case(&["Anna@Example.com"], "anna@example.com")]
    #[case(&["anna@example.com, ben@example.com"], "malformed")]
    #[case(&["anna@example.com,ben@example.com"], "malformed")]
    #[case(&["anna@example.com", "ben@example.com"], "malformed")]
    #[case(&["anna@example.com", "anna@example.com"], "malformed")]
    #[case(&["", "anna@example.com"], "malformed")]
    #[case(&["anna"], "malformed")]
    #[case(&["änna@example.com"], "malformed")]
    fn a_proxy_names_one_user(#[case] values: &[&str], #[case] expected: &str) {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::from_static("x-forwarded-email"), value);
        }
        let found = match claim_in(&headers, "X-Forwarded-Email") {
            ProxyClaim::Nothing => "nothing".to_owned(),
            ProxyClaim::User(email) => email,
            ProxyClaim::Malformed => "malformed".to_owned(),
        };
        assert_eq!(found, expected);
    }
}
