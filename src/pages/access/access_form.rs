//! The forms that ask a visitor for the password of a page, or for an e-mail address. They say nothing about the page, and
//! have no style of the page's owner: rules of a style sheet can tell other servers what a visitor types.

use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::pages::access::access_route::{ADDRESS_PATH, PASSWORD_PATH};
use crate::pages::page_texts::PageTexts;

/// Name of the field with the password.
pub(super) const PASSWORD_FIELD: &str = "password";
/// Name of the field with the e-mail address.
pub(super) const ADDRESS_FIELD: &str = "address";
const STYLE: &str = concat!(
    include_str!("../../html_kit/palette.css"),
    include_str!("../templates/style.css"),
    include_str!("../templates/form.css")
);
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
});

/// A document that asks for something, or says what was done.
#[derive(Template)]
#[template(path = "access.html")]
pub(super) struct AccessForm<'a> {
    words: &'a PageTexts,
    direction: &'static str,
    style: &'static str,
    title: String,
    text: Option<String>,
    /// Path to which the form is sent; `None` = that of the document.
    action: Option<&'static str>,
    problem: Option<String>,
    field: Option<FormField>,
    /// Text of the button; `None` if there is nothing to send.
    button: Option<String>,
}

/// A field of a form.
struct FormField {
    name: &'static str,
    kind: &'static str,
    label: String,
    autocomplete: &'static str,
    /// Maximum number of characters.
    length: usize,
}

impl<'a> AccessForm<'a> {
    fn titled(words: &'a PageTexts, title: &str) -> Self {
        Self {
            direction: words.direction(),
            style: STYLE,
            title: words.text(title),
            text: None,
            action: None,
            problem: None,
            field: None,
            button: None,
            words,
        }
    }

    /// The form for the password.
    pub(super) fn password(words: &'a PageTexts, problem: Option<String>) -> Self {
        let field = FormField {
            name: PASSWORD_FIELD,
            kind: "password",
            label: words.text("password"),
            autocomplete: "current-password",
            length: 255,
        };
        Self {
            action: Some(PASSWORD_PATH),
            problem,
            field: Some(field),
            button: Some(words.text("password-button")),
            ..Self::titled(words, "password-needed")
        }
    }

    /// The form for the e-mail address.
    pub(super) fn address(words: &'a PageTexts, problem: Option<String>) -> Self {
        let field = FormField {
            name: ADDRESS_FIELD,
            kind: "email",
            label: words.text("access-address"),
            autocomplete: "email",
            length: 254,
        };
        Self {
            text: Some(words.text("access-intro")),
            action: Some(ADDRESS_PATH),
            problem,
            field: Some(field),
            button: Some(words.text("access-button")),
            ..Self::titled(words, "access-needed")
        }
    }

    /// The answer to an address, whether or not it is on the list.
    pub(super) fn sent(words: &'a PageTexts) -> Self {
        Self { text: Some(words.text("access-sent-text")), ..Self::titled(words, "access-sent") }
    }

    /// The document of a link, with a button that opens the page.
    pub(super) fn link(words: &'a PageTexts) -> Self {
        Self {
            text: Some(words.text("access-open-text")),
            button: Some(words.text("password-button")),
            ..Self::titled(words, "access-open")
        }
    }

    /// Returns the document.
    pub(super) fn answer(&self, status: StatusCode) -> HttpResponse {
        let html = match self.render() {
            Ok(html) => html,
            Err(error) => {
                tracing::error!(%error, "cannot render the form for access to a page");
                String::new()
            }
        };
        let mut answer = HttpResponse::build(status);
        if let Some(action) = self.action.filter(|_| status == StatusCode::UNAUTHORIZED) {
            // The form is the way to authenticate, which HTTP has no scheme for; a known scheme would make browsers ask
            // themselves.
            answer.insert_header((header::WWW_AUTHENTICATE, format!("Cookie form-action=\"{action}\"")));
        }
        answer
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY.as_str()))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            // Not "no-referrer": with that, browsers send "null" as the origin of the form.
            .insert_header((header::REFERRER_POLICY, "same-origin"))
            .insert_header((header::CACHE_CONTROL, "private, no-store"))
            .insert_header(("x-robots-tag", "noindex, nofollow"))
            .insert_header((header::CONTENT_LANGUAGE, self.words.locale()))
            .content_type("text/html; charset=utf-8")
            .body(html)
    }
}

/// Returns the response for a visitor who has proven that they may read the page: the cookie, and the way to the page.
pub(super) fn admitted(cookie: &str) -> HttpResponse {
    let mut answer = to_page();
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// Returns the response that leads to the page.
pub(super) fn to_page() -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, "/"))
        .insert_header((header::CACHE_CONTROL, "private, no-store"))
        .finish()
}
