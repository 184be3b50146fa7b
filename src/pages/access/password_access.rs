//! The password of a page.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use crate::model::password::Password;
use crate::model::statuspage::Statuspage;
use crate::pages::access::access_form::PASSWORD_FIELD;
use crate::pages::access::page_access::{PageAccess, refusal, texts};
use crate::pages::access::page_pass::AccessProof;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;

impl PageAccess {
    /// Answers a request with a password.
    pub(super) async fn try_password(&self, snapshot: &PageSnapshot, visit: &PageVisit) -> HttpResponse {
        let (given, counted) =
            match self.take_field(snapshot, visit, PASSWORD_FIELD, &self.attempts.passwords).await {
                Ok(taken) => taken,
                Err(refusal) => return refusal,
            };
        let Some(proof) = self.proof_of(&snapshot.page, given).await else {
            return refusal(snapshot, &texts(snapshot, visit), StatusCode::UNAUTHORIZED, "password-wrong");
        };
        self.attempts.passwords.give_back(counted);
        self.admit(&snapshot.page, visit, &proof)
    }

    /// Returns the proof of a password; `None` if it is wrong.
    async fn proof_of(&self, page: &Statuspage, given: String) -> Option<AccessProof> {
        let stored = page.password_hash.clone()?;
        let (password, hash) = (Password::new(given), stored.clone());
        let is_right = self.hashing.run(|| None, move || password.fits(&hash)).await.unwrap_or_default();
        is_right.then_some(AccessProof::Password(stored))
    }
}
