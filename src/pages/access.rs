//! Access to pages that are protected by a password: who has given it, how often an address may try, and the form.
//!
//! A visitor without access gets the same answer for every path of the page. A right password is rewarded with a signed
//! cookie; the server stores nothing about visitors.

mod form_body;
pub(super) mod page_pass;
pub mod password_attempts;
pub(super) mod password_form;

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::model::password::Password;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::Statuspage;
use crate::pages::access::form_body::{FormRefusal, has_foreign_origin, read_field};
use crate::pages::access::page_pass::PagePass;
use crate::pages::access::password_attempts::PasswordAttempts;
use crate::pages::access::password_form::{FormProblem, PASSWORD_FIELD};
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::page_texts::PageTexts;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;

const MINUTE: u64 = 60;

/// Checks passwords of pages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PasswordDoor {
    /// Signs the cookies of visitors; its key is that of the installation, so a cookie counts on every node.
    pub sealer: SecretSealer,
    /// Source of the wall time.
    pub clock: Clock,
    /// Attempts to give a password.
    pub attempts: PasswordAttempts,
    /// Computes the hashes of passwords.
    pub hashing: HeavyTasks,
}

impl PasswordDoor {
    /// Returns true if the visitor has given the present password of the page.
    pub(super) fn admits(&self, page: &Statuspage, visit: &PageVisit) -> bool {
        PagePass::of(&self.sealer, page).is_some_and(|pass| pass.is_in(&visit.headers, self.clock.now()))
    }

    /// Returns the answer for a visitor without access.
    pub(super) fn refuse(&self, snapshot: &PageSnapshot, visit: &PageVisit) -> HttpResponse {
        password_form::answer(StatusCode::UNAUTHORIZED, &texts(snapshot, visit), None)
    }

    /// Answers a request with a password.
    pub(super) async fn try_password(
        &self,
        snapshot: &PageSnapshot,
        visit: &PageVisit,
        payload: Payload,
    ) -> HttpResponse {
        let (page, texts) = (&snapshot.page, texts(snapshot, visit));
        if has_foreign_origin(&visit.headers) {
            return password_form::answer(StatusCode::FORBIDDEN, &texts, None);
        }
        let given = match read_field(&visit.headers, payload, PASSWORD_FIELD).await {
            Ok(given) => given,
            Err(refusal) => return password_form::answer(status_of(refusal), &texts, None),
        };
        let counted = match self.attempts.begin(page.key, visit.client, Instant::now()) {
            Ok(counted) => counted,
            Err(wait) => {
                let problem = FormProblem::TooMany { minutes: minutes(wait) };
                let answer = password_form::answer(StatusCode::TOO_MANY_REQUESTS, &texts, Some(problem));
                return password_form::after(answer, wait);
            }
        };
        if !self.is_right(page, given).await {
            return password_form::answer(StatusCode::UNAUTHORIZED, &texts, Some(FormProblem::Wrong));
        }
        self.attempts.give_back(counted);
        let pass = PagePass::of(&self.sealer, page);
        pass.map_or_else(
            || self.refuse(snapshot, visit),
            |pass| password_form::admitted(&pass.cookie(self.clock.now(), visit.is_secure())),
        )
    }

    async fn is_right(&self, page: &Statuspage, given: String) -> bool {
        let Some(stored) = page.password_hash.clone() else { return false };
        let password = Password::new(given);
        self.hashing.run(|| None, move || password.fits(&stored)).await.unwrap_or_default()
    }
}

/// Returns the texts in the visitor's language. It does not depend on the path, so that all paths have the same answer.
fn texts(snapshot: &PageSnapshot, visit: &PageVisit) -> PageTexts {
    PageTexts::of(&visit.language(None, &snapshot.languages()).locale)
}

/// Returns the minutes to wait, rounded up.
fn minutes(wait: Duration) -> i64 {
    i64::try_from(wait.as_secs().div_ceil(MINUTE)).unwrap_or(i64::MAX).max(1)
}

const fn status_of(refusal: FormRefusal) -> StatusCode {
    match refusal {
        FormRefusal::Malformed => StatusCode::BAD_REQUEST,
        FormRefusal::NotAForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        FormRefusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        FormRefusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
    }
}
