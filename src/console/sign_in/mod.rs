//! The documents for people who are not signed in: the form to sign in, and the form behind a link that works once.

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};
use askama::Template;

use crate::console::form_data::FormData;
use crate::console::frame::ConsoleFrame;
use crate::console::screen_error::{ScreenError, message};
use crate::console::sessions::{LinkAnswer, OpenLink, SessionKeeper, SignInError};
use crate::console::visit::ConsoleVisit;
use crate::console::{answer, session_cookie};
use crate::model::console_user::stored_email;
use crate::model::password::PASSWORD_LENGTH;
use crate::model::token::TokenText;
use crate::store::console_users;

/// Path of the form to sign in, below `/console`.
pub(super) const SIGN_IN: &str = "/sign-in";
/// Path behind a link that works once.
pub(super) const WELCOME: &str = "/welcome";

#[derive(Template)]
#[template(path = "sign_in/sign_in.html")]
struct SignInDocument<'a> {
    frame: ConsoleFrame,
    email: &'a str,
    next: &'a str,
    problem: Option<String>,
    /// True while the installation has no user, so that nobody can sign in.
    has_no_user: bool,
}

#[derive(Template)]
#[template(path = "sign_in/welcome.html")]
struct WelcomeDocument<'a> {
    frame: ConsoleFrame,
    ticket: &'a str,
    /// The address of the user; `None` for the first user, who enters it.
    known_email: Option<&'a str>,
    email: &'a str,
    problem: Option<String>,
}

/// What was entered behind a link and refused.
struct RefusedEntry<'a> {
    email: &'a str,
    problem: String,
}

/// Answers a request for one of these documents; `None` for any other path.
pub(super) async fn answer(
    sessions: &SessionKeeper,
    visit: &ConsoleVisit,
    form: Option<&FormData>,
) -> Option<HttpResponse> {
    let shown = match (visit.path.as_str(), form) {
        (SIGN_IN, None) => show(visit, None, &FormData::default()).await,
        (SIGN_IN, Some(form)) => sign_in(sessions, visit, form).await,
        (WELCOME, None) => welcome(sessions, visit, visit.query.text("ticket"), None).await,
        (WELCOME, Some(form)) => welcome(sessions, visit, form.text("ticket"), Some(form)).await,
        _ => return None,
    };
    Some(shown.unwrap_or_else(|error| error.of_stranger(visit)))
}

/// Leads somebody who is not signed in to the form, and from there back.
pub(super) fn demand(visit: &ConsoleVisit) -> HttpResponse {
    if visit.method == Method::POST {
        return message(visit, StatusCode::UNAUTHORIZED, "signed-out");
    }
    let next = visit.query.encoded_with("", "");
    let next = if next.is_empty() { visit.path.clone() } else { format!("{}?{next}", visit.path) };
    let query = FormData::default().encoded_with("next", &next);
    answer::see_other(&if query.is_empty() { SIGN_IN.to_owned() } else { format!("{SIGN_IN}?{query}") })
}

/// Leads somebody who is signed in already from the form to where they wanted to go.
pub(super) fn lead_back(visit: &ConsoleVisit) -> HttpResponse {
    answer::see_other(own_path(visit.query.text("next")))
}

async fn show(
    visit: &ConsoleVisit,
    problem: Option<String>,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts();
    let main = visit.state().databases.main.reader();
    let has_no_user =
        !console_users::is_there_any(main).await.map_err(crate::http::kit::error::ApiError::from)?;
    let frame = ConsoleFrame::without_user(texts, texts.text("sign-in")).with_passkeys();
    let next = if form.has("next") { form.text("next") } else { visit.query.text("next") };
    let status = if problem.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let document = SignInDocument { frame, email: form.text("email"), next, problem, has_no_user };
    Ok(answer::document(status, document.render()?, &visit.headers))
}

async fn sign_in(
    sessions: &SessionKeeper,
    visit: &ConsoleVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let (signed_in, wrong) = match form.text("what") {
        "passkey-challenge" => return challenge(sessions, visit).await,
        "passkey" => (sessions.sign_in_with_passkey(visit, form).await, "passkey-wrong"),
        _ => {
            let email = form.text("email").to_ascii_lowercase();
            (sessions.sign_in(visit, &email, form.exact("password")).await, "sign-in-wrong")
        }
    };
    match signed_in {
        Ok(secret) => Ok(admitted(visit, &secret, own_path(form.text("next")))),
        Err(SignInError::Wrong) => show(visit, Some(visit.texts().text(wrong)), form).await,
        Err(SignInError::TooMany(wait)) => {
            let minutes = wait.as_secs().div_ceil(60);
            let problem = visit.texts().counted("sign-in-too-many", minutes);
            let mut answer = show(visit, Some(problem), form).await?;
            *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            Ok(answer)
        }
        Err(SignInError::Failed(error)) => Err(error.into()),
    }
}

/// Gives the script a challenge for a sign-in with a passkey.
async fn challenge(sessions: &SessionKeeper, visit: &ConsoleVisit) -> Result<HttpResponse, ScreenError> {
    match sessions.new_challenge(visit, None).await {
        Ok(text) => Ok(answer::text(StatusCode::OK, text.expose())),
        Err(SignInError::Failed(error)) => Err(error.into()),
        Err(SignInError::TooMany(wait)) => {
            let text = visit.texts().counted("sign-in-too-many", wait.as_secs().div_ceil(60));
            Ok(answer::text(StatusCode::TOO_MANY_REQUESTS, &text))
        }
        Err(SignInError::Wrong) => {
            Ok(answer::text(StatusCode::FORBIDDEN, &visit.texts().text("passkey-elsewhere")))
        }
    }
}

/// Shows the form behind a link, or uses the link.
async fn welcome(
    sessions: &SessionKeeper,
    visit: &ConsoleVisit,
    ticket: &str,
    form: Option<&FormData>,
) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts();
    let Some(open) = sessions.find_link(visit, ticket).await? else {
        return Ok(message(visit, StatusCode::GONE, "link-gone"));
    };
    let Some(form) = form else { return show_welcome(visit, &open, ticket, None) };
    let known = open.user.as_ref().map(|user| user.email.clone());
    let email = known.or_else(|| stored_email(form.text("email")));
    let password = form.exact("password").to_owned();
    let Some(email) = email else {
        let problem = texts.text("email-malformed");
        return show_welcome(
            visit,
            &open,
            ticket,
            Some(&RefusedEntry { email: form.text("email"), problem }),
        );
    };
    if !PASSWORD_LENGTH.contains(&password.chars().count()) {
        let problem = texts.text("password-length");
        return show_welcome(
            visit,
            &open,
            ticket,
            Some(&RefusedEntry { email: form.text("email"), problem }),
        );
    }
    let is_first = open.user.is_none();
    match sessions.use_link(visit, open, LinkAnswer { email, password }).await? {
        Some(secret) => Ok(admitted(visit, &secret, if is_first { "/services/new" } else { "" })),
        None => Ok(message(visit, StatusCode::GONE, "link-gone")),
    }
}

fn show_welcome(
    visit: &ConsoleVisit,
    open: &OpenLink,
    ticket: &str,
    refused: Option<&RefusedEntry<'_>>,
) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts();
    let frame = ConsoleFrame::without_user(texts, texts.text("welcome"));
    let known_email = open.user.as_ref().map(|user| user.email.as_str());
    let email = refused.map_or("", |refused| refused.email);
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let problem = refused.map(|refused| refused.problem.clone());
    let document = WelcomeDocument { frame, ticket, known_email, email, problem };
    Ok(answer::document(status, document.render()?, &visit.headers))
}

/// Gives the browser the secret of its session, and leads it to a path of the console.
fn admitted(visit: &ConsoleVisit, secret: &TokenText, path: &str) -> HttpResponse {
    answer::with_cookie(answer::see_other(path), &session_cookie::set(secret, visit.is_secure))
}

/// Returns a path below `/console`; that of the first screen for anything else.
fn own_path(next: &str) -> &str {
    let is_path =
        next.starts_with('/') && !next.starts_with("//") && next.bytes().all(|byte| byte.is_ascii_graphic());
    if is_path && !next.contains('\\') { next } else { "" }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/services?q=status%3Adown", "/services?q=status%3Adown")]
    #[case("", "")]
    #[case("//evil.example", "")]
    #[case("https://evil.example", "")]
    #[case("/a\\b", "")]
    #[case("/a b", "")]
    fn the_way_back_stays_in_the_console(#[case] next: &str, #[case] path: &str) {
        assert_eq!(own_path(next), path);
    }
}
