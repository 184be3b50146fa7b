//! Signing in with passkeys, and adding and removing them. The rules are in `model::passkey`.
//!
//! The script asks for a challenge, which works once, lets the browser answer it, and sends the answer as a form. The origin
//! of the document that asked is stored with the challenge. What the request with the answer says of its origin does not count.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::console::form_data::FormData;
use crate::console::origin::{OwnOrigin, own_origin};
use crate::console::sessions::{SessionKeeper, SignInError, begin_session, note};
use crate::console::visit::{ConsoleVisit, UserVisit};
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::audit::ObjectViews;
use crate::model::console_user::NAME_LENGTH;
use crate::model::passkey::assertion::{AssertionAnswer, check_assertion};
use crate::model::passkey::registration::{RegistrationAnswer, check_registration};
use crate::model::passkey::{CHALLENGE_PREFIX, PASSKEYS_MAX, PasskeyRefusal, RelyingParty, UserPasskey};
use crate::model::token::TokenText;
use crate::pages::visitor_limiter::network_of;
use crate::store::passkeys::NewChallenge;
use crate::store::{console_users, organisations, passkeys};

/// Why a passkey is not added.
#[derive(Debug)]
pub(super) enum AddPasskeyError {
    /// The name is empty or too long.
    Name,
    /// The user has as many passkeys as possible.
    TooMany,
    /// The answer of the device is refused, or its challenge has expired.
    Refused,
    /// The database has failed.
    Failed(ApiError),
}

impl<E> From<E> for AddPasskeyError
where
    ApiError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A challenge that was given out, and came back with an answer.
struct AnsweredChallenge {
    text: TokenText,
    /// The origin for which it was given out.
    own: OwnOrigin,
    is_configured: bool,
}

impl AnsweredChallenge {
    /// Takes the challenge of a form, which is used up whatever becomes of the answer. `None` if it is not valid for this user,
    /// or for a sign-in.
    async fn take(
        visit: &ConsoleVisit,
        form: &FormData,
        user: Option<i64>,
    ) -> Result<Option<Self>, ApiError> {
        let text = TokenText::parse(CHALLENGE_PREFIX, form.exact("challenge"));
        let Some(text) = text else { return Ok(None) };
        let state = visit.state();
        let now = state.guard.judged_now().best;
        let transaction = state.databases.main.begin().await?;
        let origin = passkeys::take_challenge(&transaction, user, &text.hash(), now).await?;
        transaction.commit().await?;
        let configured = configured_origin(visit);
        let own = origin.and_then(|origin| OwnOrigin::parse(&origin));
        // The configuration may have been changed since the challenge was given out.
        let own = own.filter(|own| configured.as_ref().is_none_or(|configured| configured == own));
        Ok(own.map(|own| Self { text, own, is_configured: configured.is_some() }))
    }

    fn relying_party(&self) -> RelyingParty<'_> {
        RelyingParty {
            origin: &self.own.origin,
            is_configured: self.is_configured,
            host: &self.own.host,
            challenge: self.text.expose().as_bytes(),
        }
    }
}

/// The origin of `public_api_url`; `None` if it is not configured.
fn configured_origin(visit: &ConsoleVisit) -> Option<OwnOrigin> {
    visit.state().config.public_api_url.as_deref().and_then(OwnOrigin::parse)
}

/// The origin for which a challenge is given out: that of the document, which must be the configured one if there is one.
fn origin_of_challenge(visit: &ConsoleVisit) -> Option<OwnOrigin> {
    let own = own_origin(&visit.headers)?;
    if let Some(configured) = configured_origin(visit).filter(|configured| *configured != own) {
        let (used, configured) = (own.origin, configured.origin);
        tracing::warn!(%used, %configured, "passkeys work only at the origin of public_api_url");
        return None;
    }
    Some(own)
}

/// The bytes of a field, which are sent in base64. Empty if it is malformed; then the answer is refused.
fn bytes(form: &FormData, field: &str) -> Vec<u8> {
    STANDARD.decode(form.exact(field)).unwrap_or_default()
}

impl SessionKeeper {
    /// Returns a new challenge for a user who adds a passkey, or for a sign-in.
    ///
    /// # Errors
    /// The time to wait, when the client has asked for too many; [`SignInError::Wrong`] at an origin that is not the console's.
    pub(super) async fn new_challenge(
        &self,
        visit: &ConsoleVisit,
        user: Option<i64>,
    ) -> Result<TokenText, SignInError> {
        let counted = self.challenges.begin(network_of(visit.client), Instant::now());
        counted.map_err(SignInError::TooMany)?;
        let own = origin_of_challenge(visit).ok_or(SignInError::Wrong)?;
        let text = TokenText::random(CHALLENGE_PREFIX);
        let challenge = NewChallenge { hash: text.hash(), user, origin: &own.origin };
        let transaction = visit.state().databases.main.begin().await?;
        passkeys::insert_challenge(&transaction, &challenge, visit.state().now()).await?;
        transaction.commit().await?;
        Ok(text)
    }

    /// Signs a user in with a passkey. Returns the secret of the session.
    ///
    /// # Errors
    /// One error for an unknown passkey and a refused answer; the reason is in the log.
    pub(super) async fn sign_in_with_passkey(
        &self,
        visit: &ConsoleVisit,
        form: &FormData,
    ) -> Result<TokenText, SignInError> {
        let counted = self.clients.begin(network_of(visit.client), Instant::now());
        let counted = counted.map_err(SignInError::TooMany)?;
        let challenge = AnsweredChallenge::take(visit, form, None).await?.ok_or(SignInError::Wrong)?;
        let main = &visit.state().databases.main;
        let known = passkeys::by_credential(main.reader(), &bytes(form, "rawId")).await?;
        let Some(known) = known else { return Err(SignInError::Wrong) };
        let user = console_users::by_key(main.reader(), known.user).await?.ok_or(SignInError::Wrong)?;
        let transaction = main.begin().await?;
        organisations::lock(&transaction, user.organisation).await?;
        // The counter may have risen, or the passkey been removed, since it was read.
        let passkey = passkeys::by_credential(&transaction, &known.credential).await?;
        let user = console_users::by_key(&transaction, known.user).await?;
        let (Some(passkey), Some(user)) = (passkey, user) else { return Err(SignInError::Wrong) };
        let [client_data, authenticator_data, signature, user_handle] =
            ["clientDataJSON", "authenticatorData", "signature", "userHandle"]
                .map(|field| bytes(form, field));
        let answer = AssertionAnswer {
            client_data: &client_data,
            authenticator_data: &authenticator_data,
            signature: &signature,
            user_handle: &user_handle,
        };
        let handle = user.id.as_str().as_bytes();
        let checked = check_assertion(&answer, &passkey, handle, &challenge.relying_party());
        let sign_count = checked.map_err(|refusal| {
            log_refusal(refusal, &user.id);
            SignInError::Wrong
        })?;
        self.clients.give_back(counted);
        passkeys::set_used(&transaction, passkey.key, sign_count, visit.state().now()).await?;
        let secret = begin_session(&transaction, visit, &user).await?;
        note(&transaction, visit, &user, "sign_in", Vec::new()).await?;
        transaction.commit().await?;
        Ok(secret)
    }

    /// Adds a passkey of the user.
    pub(super) async fn add_passkey(
        &self,
        visit: &UserVisit,
        form: &FormData,
    ) -> Result<(), AddPasskeyError> {
        let name = form.text("name").to_owned();
        if !NAME_LENGTH.contains(&name.chars().count()) || name.contains('\0') {
            return Err(AddPasskeyError::Name);
        }
        let (visit, user) = (&visit.visit, &visit.signed_in.user);
        let challenge = AnsweredChallenge::take(visit, form, Some(user.key)).await?;
        let challenge = challenge.ok_or(AddPasskeyError::Refused)?;
        let (client_data, attestation) = (bytes(form, "clientDataJSON"), bytes(form, "attestationObject"));
        let answer = RegistrationAnswer { client_data: &client_data, attestation: &attestation };
        let made = check_registration(&answer, &challenge.relying_party()).map_err(|refusal| {
            log_refusal(refusal, &user.id);
            AddPasskeyError::Refused
        })?;
        let transaction = visit.state().databases.main.begin().await?;
        organisations::lock(&transaction, user.organisation).await?;
        if passkeys::of_user(&transaction, user.key).await?.len() >= PASSKEYS_MAX {
            return Err(AddPasskeyError::TooMany);
        }
        if passkeys::by_credential(&transaction, &made.id).await?.is_some() {
            return Err(AddPasskeyError::Refused);
        }
        let passkey = UserPasskey {
            key: 0,
            id: Id::random(),
            user: user.key,
            name,
            credential: made.id,
            public_key: made.public_key,
            sign_count: made.sign_count,
            origin: challenge.own.origin,
            created_at: visit.state().now(),
            last_used_at: None,
        };
        passkeys::insert(&transaction, &passkey).await?;
        let new = json!({"passkey": passkey.name});
        let changes = ObjectViews { kind: "user", old: &Value::Null, new: &new }.changes(&[]);
        note(&transaction, visit, user, "add_passkey", changes).await?;
        Ok(transaction.commit().await?)
    }

    /// Removes a passkey of the user.
    ///
    /// # Errors
    /// 404 if there is none with this id, or not any more: then nothing is noted.
    pub(super) async fn remove_passkey(&self, visit: &UserVisit, id: Id) -> Result<(), ApiError> {
        let (visit, user) = (&visit.visit, &visit.signed_in.user);
        let transaction = visit.state().databases.main.begin().await?;
        organisations::lock(&transaction, user.organisation).await?;
        let all = passkeys::of_user(&transaction, user.key).await?;
        let passkey = all.iter().find(|passkey| passkey.id == id).ok_or(ApiError::NotFound)?;
        if !passkeys::delete(&transaction, user.key, id).await? {
            return Err(ApiError::NotFound);
        }
        let old = json!({"passkey": passkey.name});
        let changes = ObjectViews { kind: "user", old: &old, new: &Value::Null }.changes(&[]);
        note(&transaction, visit, user, "remove_passkey", changes).await?;
        Ok(transaction.commit().await?)
    }
}

fn log_refusal(refusal: PasskeyRefusal, user: &Id) {
    tracing::warn!(%refusal, %user, "the answer of a device with a passkey was refused");
}
