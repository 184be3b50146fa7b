//! The form for the password of a page. It says nothing about the page, and has no style of the page's owner: rules of a
//! style sheet can tell other servers what a visitor types.

use std::sync::LazyLock;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::pages::page_texts::{PageTexts, TextValue};

/// Path to which the form is sent.
pub(in crate::pages) const PASSWORD_PATH: &str = "/password";
/// Name of the field with the password.
pub(super) const PASSWORD_FIELD: &str = "password";
const STYLE: &str = concat!(include_str!("../templates/style.css"), include_str!("../templates/form.css"));
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
});
/// The form is the way to authenticate, which HTTP has no scheme for; a known scheme would make browsers ask themselves.
const CHALLENGE: &str = "Cookie form-action=\"/password\"";

/// Why the form is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormProblem {
    /// The password was wrong.
    Wrong,
    /// There were too many attempts.
    TooMany {
        /// Minutes to wait.
        minutes: i64,
    },
}

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordPage<'a> {
    words: &'a PageTexts,
    direction: &'static str,
    style: &'static str,
    action: &'static str,
    field: &'static str,
    problem: Option<String>,
}

/// Returns the form.
pub(super) fn answer(status: StatusCode, words: &PageTexts, problem: Option<FormProblem>) -> HttpResponse {
    let problem = problem.map(|problem| match problem {
        FormProblem::Wrong => words.text("password-wrong"),
        FormProblem::TooMany { minutes } => {
            words.filled("too-many-tries", &[TextValue::number("minutes", minutes)])
        }
    });
    let page = PasswordPage {
        words,
        direction: words.direction(),
        style: STYLE,
        action: PASSWORD_PATH,
        field: PASSWORD_FIELD,
        problem,
    };
    let html = match page.render() {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "cannot render the form for a password");
            String::new()
        }
    };
    let mut answer = HttpResponse::build(status);
    if status == StatusCode::UNAUTHORIZED {
        answer.insert_header((header::WWW_AUTHENTICATE, CHALLENGE));
    }
    answer
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY.as_str()))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        // Not "no-referrer": with that, browsers send "null" as the origin of the form.
        .insert_header((header::REFERRER_POLICY, "same-origin"))
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .insert_header(("x-robots-tag", "noindex, nofollow"))
        .insert_header((header::CONTENT_LANGUAGE, words.locale()))
        .content_type("text/html; charset=utf-8")
        .body(html)
}

/// Adds the time to wait to a response.
pub(super) fn after(mut answer: HttpResponse, wait: Duration) -> HttpResponse {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    answer
}

/// Returns the response for a visitor who has given the password: the cookie, and the way to the page.
pub(super) fn admitted(cookie: &str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, "/"))
        .insert_header((header::SET_COOKIE, cookie))
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_wait_is_rounded_up() {
        let wait = |wait| {
            let answer = after(HttpResponse::Ok().finish(), wait);
            answer.headers().get(header::RETRY_AFTER).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(wait(Duration::from_millis(1_001)), "2");
        assert_eq!(wait(Duration::from_millis(1)), "1");
        assert_eq!(wait(Duration::from_secs(900)), "900");
    }
}
