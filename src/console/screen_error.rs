//! Documents for requests that cannot be answered otherwise: refused, unknown, or failed.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template as _;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection, MessageDocument};
use crate::console::visit::{ConsoleVisit, UserVisit};
use crate::http::kit::error::ApiError;

/// Why a screen is not shown.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScreenError {
    /// The API has refused, or has failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// There is no such screen.
    #[error("there is no such screen")]
    Unknown,
    /// The path has no form.
    #[error("the path has no form")]
    WrongMethod,
    /// A template could not be filled.
    #[error(transparent)]
    Template(#[from] askama::Error),
}

impl ScreenError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Api(error) => error.status(),
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Template(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the message for the user.
    fn message(&self, texts: ConsoleTexts) -> String {
        match self {
            Self::Api(ApiError::Forbidden(permission)) => {
                texts.about("error-permission", permission.as_str())
            }
            Self::Api(ApiError::NotFound) | Self::Unknown => texts.text("error-unknown"),
            Self::Api(ApiError::Unavailable) => texts.text("error-unavailable"),
            Self::Api(error) if error.status().is_server_error() => texts.text("error-failed"),
            Self::Api(error) => texts.of_refusal(error),
            Self::WrongMethod => texts.text("error-unknown"),
            Self::Template(_) => texts.text("error-failed"),
        }
    }

    /// Returns the document for a signed-in user.
    pub(super) fn of_user(self, visit: &UserVisit) -> HttpResponse {
        let status = self.noted();
        let title = visit.texts.text(title_of(status));
        let frame = ConsoleFrame::of(visit, ConsoleSection::Overview, title);
        render(frame, self.message(visit.texts), status, &visit.visit)
    }

    /// Returns the document for somebody who is not signed in.
    pub(super) fn of_stranger(self, visit: &ConsoleVisit) -> HttpResponse {
        let (status, texts) = (self.noted(), visit.texts());
        let frame = ConsoleFrame::without_user(texts, texts.text(title_of(status)));
        render(frame, self.message(texts), status, visit)
    }

    /// Returns the status, and writes an internal error to the log.
    fn noted(&self) -> StatusCode {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "cannot show a screen of the console");
        }
        status
    }
}

/// Returns a document with a fixed message, for somebody who may not be signed in.
pub(super) fn message(visit: &ConsoleVisit, status: StatusCode, name: &str) -> HttpResponse {
    let texts = visit.texts();
    let frame = ConsoleFrame::without_user(texts, texts.text(title_of(status)));
    render(frame, texts.text(&format!("error-{name}")), status, visit)
}

/// Returns a document with a message about a subject, for somebody who may not be signed in.
pub(super) fn message_about(
    visit: &ConsoleVisit,
    status: StatusCode,
    name: &str,
    subject: &str,
) -> HttpResponse {
    let texts = visit.texts();
    let frame = ConsoleFrame::without_user(texts, texts.text(title_of(status)));
    render(frame, texts.about(&format!("error-{name}"), subject), status, visit)
}

fn render(frame: ConsoleFrame, message: String, status: StatusCode, visit: &ConsoleVisit) -> HttpResponse {
    let html = MessageDocument { frame, message }.render().unwrap_or_default();
    answer::document(status, html, &visit.headers)
}

const fn title_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "title-not-found",
        StatusCode::FORBIDDEN => "title-forbidden",
        StatusCode::OK => "sign-out",
        StatusCode::SERVICE_UNAVAILABLE => "title-unavailable",
        StatusCode::TOO_MANY_REQUESTS => "title-too-many",
        _ => "title-failed",
    }
}
