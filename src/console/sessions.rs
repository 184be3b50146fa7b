//! Signing in and out: passwords, sessions and links that work once.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::console::session_cookie;
use crate::console::visit::{ConsoleVisit, SignedIn, UserVisit};
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::audit::{AuditActor, AuditEntry, AuditObject, FieldChange, ObjectViews};
use crate::model::console_session::{ConsoleLink, ConsoleSession, LINK_PREFIX, LinkPurpose, SESSION_PREFIX};
use crate::model::console_user::{ConsoleUser, UserRole};
use crate::model::password::Password;
use crate::model::token::TokenText;
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::visitor_limiter::{VisitorLimit, VisitorLimiter};
use crate::store::{Transaction, audit_entries, console_sessions, console_users, organisations};

const QUARTER_HOUR: Duration = Duration::from_secs(15 * 60);
/// Wrong passwords of one client, and for one address.
const TRIES: VisitorLimit = VisitorLimit { attempts: 10, window: QUARTER_HOUR };
/// Challenges that one client may ask for.
const CHALLENGES: VisitorLimit = VisitorLimit { attempts: 100, window: QUARTER_HOUR };
/// Longest description of a browser that is stored, in characters.
const BROWSER_LENGTH: usize = 255;
/// Compared with the password of an unknown user, so that the answer takes as long.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| Password::new(Id::random().to_string()).hash().unwrap_or_default());

/// Signs users in. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct SessionKeeper {
    /// Wrong sign-ins of a client, with passwords and passkeys.
    pub(super) clients: VisitorLimiter<IpAddr>,
    /// Challenges for passkeys that a client has asked for.
    pub(super) challenges: VisitorLimiter<IpAddr>,
    /// Wrong passwords for an e-mail address, by its hash.
    pub(super) addresses: VisitorLimiter<[u8; 32]>,
    pub(super) hashing: HeavyTasks,
}

/// Why somebody is not signed in.
#[derive(Debug)]
pub(super) enum SignInError {
    /// The e-mail address or the password is wrong.
    Wrong,
    /// There were too many tries; another one is possible after this time.
    TooMany(Duration),
    /// The database has failed.
    Failed(ApiError),
}

impl<E> From<E> for SignInError
where
    ApiError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Default for SessionKeeper {
    fn default() -> Self {
        Self {
            clients: VisitorLimiter::new(TRIES),
            challenges: VisitorLimiter::new(CHALLENGES),
            addresses: VisitorLimiter::new(TRIES),
            hashing: HeavyTasks::default(),
        }
    }
}

/// A link that can be used, with the user whom it is for.
#[derive(Debug)]
pub(super) struct OpenLink {
    pub(super) secret: TokenText,
    pub(super) link: ConsoleLink,
    /// `None` for the first user.
    pub(super) user: Option<ConsoleUser>,
}

/// What a person who follows a link has entered.
#[derive(Debug)]
pub(super) struct LinkAnswer {
    /// E-mail address in the form in which it is stored.
    pub(super) email: String,
    pub(super) password: String,
}

impl SessionKeeper {
    /// Returns the user of a request; `None` if nobody is signed in.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) async fn signed_in(&self, visit: &ConsoleVisit) -> Result<Option<SignedIn>, ApiError> {
        let state = visit.state();
        let main = state.databases.main.reader();
        let now = state.guard.judged_now().best;
        for secret in session_cookie::secrets(&visit.headers) {
            let Some(session) = console_sessions::find_by_hash(main, &secret.hash()).await? else { continue };
            if !session.is_valid(now) {
                continue;
            }
            let Some(user) = console_users::by_key(main, session.user).await? else { continue };
            let Some(organisation) = organisations::get(main, user.organisation).await? else { continue };
            if session.is_seen_again(now) {
                let transaction = state.databases.main.begin().await?;
                console_sessions::set_seen(&transaction, session.key, now).await?;
                transaction.commit().await?;
            }
            return Ok(Some(SignedIn {
                caller: caller_of(visit, &user, organisation),
                user,
                session: Some(session),
            }));
        }
        Ok(None)
    }

    /// Signs a user in with a password. Returns the secret of the session.
    ///
    /// # Errors
    /// One error for an unknown address and a wrong password, after the same time.
    pub(super) async fn sign_in(
        &self,
        visit: &ConsoleVisit,
        email: &str,
        password: &str,
    ) -> Result<TokenText, SignInError> {
        let counted = self.begin_try(visit, email)?;
        let main = visit.state().databases.main.reader();
        let user = console_users::by_email(main, email).await?;
        let stored = user.as_ref().and_then(|user| user.password_hash.clone());
        let (known, password) = (stored.is_some(), Password::new(password.to_owned()));
        let check = move || password.fits(stored.as_deref().unwrap_or(&NOBODY));
        let is_right = self.hashing.run(|| None, check).await.unwrap_or_default();
        let Some(user) = user.filter(|_| known && is_right) else { return Err(SignInError::Wrong) };
        self.give_back(counted);
        let transaction = visit.state().databases.main.begin().await?;
        organisations::lock(&transaction, user.organisation).await?;
        // A password that was replaced meanwhile begins no session.
        let present = console_users::by_key(&transaction, user.key).await?;
        let Some(user) = present.filter(|present| present.password_hash == user.password_hash) else {
            return Err(SignInError::Wrong);
        };
        let secret = begin_session(&transaction, visit, &user).await?;
        note(&transaction, visit, &user, "sign_in", Vec::new()).await?;
        transaction.commit().await?;
        Ok(secret)
    }

    /// Ends the session of a user, if there is one.
    pub(super) async fn sign_out(&self, visit: &ConsoleVisit, signed_in: &SignedIn) -> Result<(), ApiError> {
        let Some(session) = &signed_in.session else { return Ok(()) };
        let transaction = visit.state().databases.main.begin().await?;
        console_sessions::delete(&transaction, signed_in.user.key, session.id).await?;
        note(&transaction, visit, &signed_in.user, "sign_out", Vec::new()).await?;
        Ok(transaction.commit().await?)
    }

    /// Finds a link; `None` if it was used, has expired or never existed.
    pub(super) async fn find_link(
        &self,
        visit: &ConsoleVisit,
        text: &str,
    ) -> Result<Option<OpenLink>, ApiError> {
        let state = visit.state();
        let main = state.databases.main.reader();
        let Some(secret) = TokenText::parse(LINK_PREFIX, text) else { return Ok(None) };
        let Some(link) = console_sessions::find_link(main, &secret.hash()).await? else { return Ok(None) };
        if state.guard.judged_now().best >= link.expires_at {
            return Ok(None);
        }
        let user = match link.user {
            Some(key) => console_users::by_key(main, key).await?,
            None => None,
        };
        Ok((link.user.is_none() || user.is_some()).then_some(OpenLink { secret, link, user }))
    }

    /// Uses a link: stores the password, for a new owner if it is the first user, ends the earlier sessions and begins one.
    /// Returns its secret; `None` if the link was used meanwhile, or another user has the address.
    pub(super) async fn use_link(
        &self,
        visit: &ConsoleVisit,
        open: OpenLink,
        answer: LinkAnswer,
    ) -> Result<Option<TokenText>, ApiError> {
        let LinkAnswer { email, password } = answer;
        let hash = self.hashing.run(|| None, move || Password::new(password).hash().ok()).await.flatten();
        let hash =
            hash.ok_or_else(|| ApiError::Internal(anyhow::anyhow!("a password could not be hashed")))?;
        let state = visit.state();
        let transaction = state.databases.main.begin().await?;
        organisations::lock(&transaction, open.link.organisation).await?;
        if !console_sessions::take_link(&transaction, &open.secret.hash()).await? {
            return Ok(None);
        }
        let now = state.now();
        let user = match open.link.user {
            Some(key) => {
                // The role may have been changed since the link was found.
                let user = console_users::by_key(&transaction, key).await?;
                let Some(user) = user else { return Ok(None) };
                let user = ConsoleUser { password_hash: Some(hash), updated_at: now, ..user };
                console_users::update(&transaction, &user).await?;
                console_sessions::delete_all_of(&transaction, user.key).await?;
                user
            }
            // The first user was created meanwhile, by another link.
            None if console_users::is_there_any(&transaction).await? => return Ok(None),
            None if console_users::by_email(&transaction, &email).await?.is_some() => return Ok(None),
            None => {
                let user = ConsoleUser::new(open.link.organisation, &email, UserRole::Owner, now);
                console_users::insert(&transaction, ConsoleUser { password_hash: Some(hash), ..user }).await?
            }
        };
        let action = if open.link.purpose == LinkPurpose::FirstUser { "create" } else { "set_password" };
        let changes = ObjectViews { kind: "user", old: &Value::Null, new: &json!({"email": user.email}) };
        let changes = if action == "create" { changes.changes(&[]) } else { Vec::new() };
        note(&transaction, visit, &user, action, changes).await?;
        let secret = begin_session(&transaction, visit, &user).await?;
        transaction.commit().await?;
        Ok(Some(secret))
    }

    /// Stores a changed profile of the user, and with a new password ends all other sessions. Returns false if the present
    /// password is wrong.
    pub(super) async fn change_password(
        &self,
        visit: &ConsoleVisit,
        signed_in: &SignedIn,
        present: &str,
        password: &str,
    ) -> Result<bool, SignInError> {
        let counted = self.begin_try(visit, &signed_in.user.email)?;
        let (present, password) = (Password::new(present.to_owned()), Password::new(password.to_owned()));
        let stored = signed_in.user.password_hash.clone().unwrap_or_else(|| NOBODY.clone());
        let check = move || present.fits(&stored).then(|| password.hash().ok()).flatten();
        let Some(hash) = self.hashing.run(|| None, check).await.flatten() else { return Ok(false) };
        self.give_back(counted);
        let state = visit.state();
        let transaction = state.databases.main.begin().await?;
        organisations::lock(&transaction, signed_in.user.organisation).await?;
        let present = console_users::by_key(&transaction, signed_in.user.key).await?;
        // The password may have been replaced meanwhile.
        let is_same = |present: &ConsoleUser| present.password_hash == signed_in.user.password_hash;
        let Some(user) = present.filter(is_same) else { return Ok(false) };
        let user = ConsoleUser { password_hash: Some(hash), updated_at: state.now(), ..user };
        console_users::update(&transaction, &user).await?;
        for session in console_sessions::of_user(&transaction, user.key).await? {
            if signed_in.session.as_ref().is_none_or(|own| own.id != session.id) {
                console_sessions::delete(&transaction, user.key, session.id).await?;
            }
        }
        note(&transaction, visit, &user, "set_password", Vec::new()).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

impl SessionKeeper {
    /// Stores name, language and shortcuts of the user.
    pub(super) async fn change_profile(
        &self,
        visit: &UserVisit,
        name: String,
        language: Option<String>,
        has_shortcuts: bool,
    ) -> Result<(), ApiError> {
        let state = visit.visit.state();
        let transaction = state.databases.main.begin().await?;
        organisations::lock(&transaction, visit.signed_in.user.organisation).await?;
        let user = console_users::by_key(&transaction, visit.signed_in.user.key).await?;
        let before = user.ok_or(ApiError::NotFound)?;
        let after = ConsoleUser { name, language, has_shortcuts, ..before.clone() };
        if after == before {
            return Ok(());
        }
        let (old, new) = (profile_of(&before), profile_of(&after));
        let changes = ObjectViews { kind: "user", old: &old, new: &new }.changes(&[]);
        let after = ConsoleUser { updated_at: state.now(), ..after };
        console_users::update(&transaction, &after).await?;
        note(&transaction, &visit.visit, &after, "update", changes).await?;
        Ok(transaction.commit().await?)
    }

    /// Ends another session of the user.
    pub(super) async fn end_session(&self, visit: &UserVisit, id: Id) -> Result<(), ApiError> {
        let transaction = visit.visit.state().databases.main.begin().await?;
        if !console_sessions::delete(&transaction, visit.signed_in.user.key, id).await? {
            return Err(ApiError::NotFound);
        }
        note(&transaction, &visit.visit, &visit.signed_in.user, "end_session", Vec::new()).await?;
        Ok(transaction.commit().await?)
    }
}

/// Returns a user as the API knows callers.
pub(super) fn caller_of(visit: &ConsoleVisit, user: &ConsoleUser, organisation: Organisation) -> Caller {
    let limits = visit.state().plans.limits(&organisation);
    Caller { token: user.token(organisation.self_hosted), limits, organisation }
}

pub(super) async fn begin_session(
    transaction: &Transaction,
    visit: &ConsoleVisit,
    user: &ConsoleUser,
) -> Result<TokenText, ApiError> {
    let now = visit.state().now();
    let secret = TokenText::random(SESSION_PREFIX);
    let session = ConsoleSession {
        key: 0,
        id: Id::random(),
        user: user.key,
        address: visit.client.to_string(),
        browser: visit.header("user-agent").chars().take(BROWSER_LENGTH).collect(),
        created_at: now,
        seen_at: now,
    };
    console_sessions::insert(transaction, session, &secret.hash()).await?;
    Ok(secret)
}

/// Returns what a user changes in the own profile.
fn profile_of(user: &ConsoleUser) -> Value {
    json!({"name": user.name, "language": user.language, "shortcuts": user.has_shortcuts})
}

/// Writes to the audit log what a user has done with the own account.
pub(super) async fn note(
    transaction: &Transaction,
    visit: &ConsoleVisit,
    user: &ConsoleUser,
    action: &str,
    changes: Vec<FieldChange>,
) -> Result<(), ApiError> {
    let entry = AuditEntry {
        id: Id::random(),
        organisation: user.organisation,
        at: visit.state().now(),
        actor: AuditActor::of(&user.token(false)),
        address: Some(visit.client.to_string()),
        action: action.to_owned(),
        object: AuditObject {
            kind: "user".into(),
            id: Some(user.id.to_string()),
            name: Some(user.name.clone()),
        },
        changes,
        request_id: Some(visit.request_id.clone()),
    };
    Ok(audit_entries::insert(transaction, &entry).await?)
}
