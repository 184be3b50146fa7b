//! The settings of a user (name, password, language, shortcuts, passkeys, sessions), and links to those of the organisation.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::console::answer;
use crate::console::console_texts::{ConsoleTexts, LANGUAGES};
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::passkeys::AddPasskeyError;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::changes::line_with_object;
use crate::console::screens::resources::view::{ListLink, lists_of};
use crate::console::sessions::{SessionKeeper, SignInError};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::console_session::ConsoleSession;
use crate::model::console_user::NAME_LENGTH;
use crate::model::passkey::UserPasskey;
use crate::model::password::PASSWORD_LENGTH;
use crate::store::{console_sessions, passkeys};

#[derive(Template)]
#[template(path = "screens/settings/settings.html")]
struct SettingsDocument {
    frame: ConsoleFrame,
    lists: Vec<ListLink>,
    email: String,
    name: String,
    role: String,
    languages: Vec<LanguageChoice>,
    has_shortcuts: bool,
    /// True if adding and removing a passkey needs the present password.
    has_password: bool,
    /// Id of the user, by which devices find the passkey for a sign-in.
    user_handle: Id,
    passkeys: Vec<PasskeyRow>,
    /// Credential ids in base64, with blanks between them, so that a device makes no second passkey.
    known_passkeys: String,
    sessions: Vec<SessionRow>,
    changes: Vec<String>,
    problem: Option<String>,
}

struct LanguageChoice {
    code: &'static str,
    /// In the language itself.
    name: String,
    is_chosen: bool,
}

struct PasskeyRow {
    id: Id,
    name: String,
    dates: String,
}

struct SessionRow {
    id: Id,
    address: String,
    browser: String,
    seen_at: String,
    is_own: bool,
}

/// Shows the settings.
pub(super) async fn show(visit: &UserVisit, problem: Option<String>) -> Result<HttpResponse, ScreenError> {
    let (texts, user) = (visit.texts, &visit.signed_in.user);
    let state = visit.visit.state();
    let sessions = console_sessions::of_user(state.databases.main.reader(), user.key).await;
    let sessions = sessions.map_err(ApiError::from)?;
    let passkeys = passkeys::of_user(state.databases.main.reader(), user.key).await;
    let passkeys = passkeys.map_err(ApiError::from)?;
    let row = |session: &ConsoleSession| SessionRow {
        id: session.id,
        address: session.address.clone(),
        browser: session.browser.clone(),
        seen_at: time(&session.seen_at.to_string()),
        is_own: visit.signed_in.session.as_ref().is_some_and(|own| own.id == session.id),
    };
    let changes = match visit.may(Permission::AuditLogView) {
        true => visit.get("/v1/audit-log?per_page=20").await.or_else(none_if_confined)?,
        false => Value::Null,
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let document = SettingsDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Settings, texts.text("nav-settings")).with_passkeys(),
        lists: lists_of(visit, ConsoleSection::Settings, "/settings"),
        email: user.email.clone(),
        name: user.name.clone(),
        role: texts.text(&format!("word-{}", user.role.as_str())),
        languages: LANGUAGES
            .into_iter()
            .map(|code| LanguageChoice {
                code,
                name: texts.text(&format!("language-{code}")),
                is_chosen: user.language.as_deref() == Some(code),
            })
            .collect(),
        has_shortcuts: user.has_shortcuts,
        has_password: user.password_hash.is_some(),
        user_handle: user.id,
        passkeys: passkeys.iter().map(|passkey| passkey_row(texts, passkey)).collect(),
        known_passkeys: known_passkeys(&passkeys),
        sessions: sessions.iter().filter(|session| session.is_valid(state.now())).map(row).collect(),
        changes: changes["data"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|entry| line_with_object(texts, entry))
            .collect(),
        problem,
    };
    Ok(answer::document(status, document.render()?, &visit.visit.headers))
}

fn passkey_row(texts: ConsoleTexts, passkey: &UserPasskey) -> PasskeyRow {
    let (text, at) = match passkey.last_used_at {
        Some(used) => ("passkey-used", used),
        None => ("passkey-unused-yet", passkey.created_at),
    };
    let dates = texts.about(text, &time(&at.to_string()));
    PasskeyRow { id: passkey.id, name: passkey.name.clone(), dates }
}

fn known_passkeys(passkeys: &[UserPasskey]) -> String {
    let ids = passkeys.iter().map(|passkey| STANDARD.encode(&passkey.credential));
    ids.collect::<Vec<_>>().join(" ")
}

fn none_if_confined(error: ApiError) -> Result<Value, ApiError> {
    if matches!(error, ApiError::Confined) { Ok(Value::Null) } else { Err(error) }
}

/// Changes what the form says.
pub(super) async fn change(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    match form.text("what") {
        "profile" => profile(sessions, visit, form).await,
        "password" => password(sessions, visit, form).await,
        "session" => end_session(sessions, visit, form).await,
        "passkey-challenge" => passkey_challenge(sessions, visit, form).await,
        "passkey-add" => add_passkey(sessions, visit, form).await,
        "passkey-remove" => remove_passkey(sessions, visit, form).await,
        _ => Err(ScreenError::Unknown),
    }
}

async fn profile(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let name = form.text("name").to_owned();
    if !NAME_LENGTH.contains(&name.chars().count()) || name.contains('\0') {
        return show(visit, Some(visit.texts.text("name-length"))).await;
    }
    let language = LANGUAGES.into_iter().find(|code| *code == form.text("language")).map(str::to_owned);
    let has_shortcuts = form.text("shortcuts") == "true";
    sessions.change_profile(visit, name, language, has_shortcuts).await?;
    Ok(answer::see_other("/settings?done=changed"))
}

async fn password(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let (present, new) = (form.exact("present"), form.exact("password"));
    if !PASSWORD_LENGTH.contains(&new.chars().count()) {
        return show(visit, Some(visit.texts.text("password-length"))).await;
    }
    match sessions.change_password(&visit.visit, &visit.signed_in, present, new).await {
        Ok(true) => Ok(answer::see_other("/settings?done=changed")),
        Ok(false) | Err(SignInError::Wrong) => show(visit, Some(visit.texts.text("password-wrong"))).await,
        Err(SignInError::TooMany(wait)) => show(visit, Some(too_many(visit, wait))).await,
        Err(SignInError::Failed(error)) => Err(error.into()),
    }
}

async fn end_session(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let id: Id = form.text("id").parse().map_err(|_| ScreenError::Unknown)?;
    sessions.end_session(visit, id).await?;
    Ok(answer::see_other("/settings?done=changed"))
}

/// Gives the script a challenge for a new passkey, for the present password. The challenge is the proof of the password when the
/// answer of the device is sent.
async fn passkey_challenge(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    match sessions.check_password(visit, form.exact("present")).await {
        Ok(()) => {}
        Err(SignInError::Failed(error)) => return Err(error.into()),
        Err(SignInError::TooMany(wait)) => {
            return Ok(answer::text(StatusCode::TOO_MANY_REQUESTS, &too_many(visit, wait)));
        }
        Err(SignInError::Wrong) => {
            return Ok(answer::text(StatusCode::FORBIDDEN, &visit.texts.text("password-wrong")));
        }
    }
    match sessions.new_challenge(&visit.visit, Some(visit.signed_in.user.key)).await {
        Ok(text) => Ok(answer::text(StatusCode::OK, text.expose())),
        Err(SignInError::Failed(error)) => Err(error.into()),
        Err(SignInError::TooMany(wait)) => {
            Ok(answer::text(StatusCode::TOO_MANY_REQUESTS, &too_many(visit, wait)))
        }
        Err(SignInError::Wrong) => {
            Ok(answer::text(StatusCode::FORBIDDEN, &visit.texts.text("passkey-elsewhere")))
        }
    }
}

/// Says when another try is possible.
fn too_many(visit: &UserVisit, wait: Duration) -> String {
    visit.texts.counted("sign-in-too-many", wait.as_secs().div_ceil(60))
}

async fn add_passkey(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let problem = match sessions.add_passkey(visit, form).await {
        Ok(()) => return Ok(answer::see_other("/settings?done=changed")),
        Err(AddPasskeyError::Failed(error)) => return Err(error.into()),
        Err(AddPasskeyError::Name) => "name-length",
        Err(AddPasskeyError::TooMany) => "passkey-too-many",
        Err(AddPasskeyError::Refused) => "passkey-refused",
    };
    show(visit, Some(visit.texts.text(problem))).await
}

async fn remove_passkey(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let id: Id = form.text("id").parse().map_err(|_| ScreenError::Unknown)?;
    match sessions.check_password(visit, form.exact("present")).await {
        Ok(()) => {}
        Err(SignInError::Wrong) => return show(visit, Some(visit.texts.text("password-wrong"))).await,
        Err(SignInError::TooMany(wait)) => return show(visit, Some(too_many(visit, wait))).await,
        Err(SignInError::Failed(error)) => return Err(error.into()),
    }
    sessions.remove_passkey(visit, id).await?;
    Ok(answer::see_other("/settings?done=changed"))
}

fn time(exact: &str) -> String {
    format!("{} {} UTC", &exact[..10], &exact[11..16])
}
