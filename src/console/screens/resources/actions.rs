//! Actions on a resource, such as to publish a page or to test a channel.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template as _;
use serde_json::Value;

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::label_of;
use crate::console::screens::resources::filled_form::FormProblems;
use crate::console::screens::resources::input::body_of;
use crate::console::screens::resources::spec::{ActionSpec, FieldTime};
use crate::console::screens::resources::view::SecretDocument;
use crate::console::screens::resources::{ResourceRequest, has_secret};
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;

impl ResourceRequest<'_> {
    /// Runs an action.
    pub(super) async fn act(
        &self,
        id: &str,
        name: &str,
        form: &FormData,
    ) -> Result<HttpResponse, ScreenError> {
        let action: &ActionSpec =
            self.spec.actions.iter().find(|action| action.name == name).ok_or(ScreenError::Unknown)?;
        self.require(Some(action.permission))?;
        let body = match body_of(action.fields, form, FieldTime::Creation) {
            Ok(body) => body,
            Err(malformed) => return self.show_refused(id, self.malformed(&malformed)).await,
        };
        let target = format!("{}/{id}/{name}", self.api());
        match self.visit.write(HttpVerb::Post, &target, &body, None).await {
            Ok(answer) if has_secret(&answer["data"]) => self.done(&answer["data"], "changed"),
            Ok(answer) if name == "test" => self.tested(id, &answer["data"]).await,
            Ok(_) => Ok(answer::see_other(&format!("{}/{id}?done=done", self.screen()))),
            Err(ApiError::Fields(errors)) => {
                let texts = errors.iter().map(|(field, rule)| {
                    format!("{}: {}", label_of(self.visit.texts, field), self.visit.texts.of_rule(rule))
                });
                let problems = FormProblems::general(texts.collect::<Vec<_>>().join(" "));
                self.show_refused(id, problems).await
            }
            Err(error @ (ApiError::Conflict(_) | ApiError::VerifyCooldown(_))) => {
                self.show_refused(id, FormProblems::general(self.visit.texts.of_refusal(&error))).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Shows the real answer to a test message.
    async fn tested(&self, id: &str, outcome: &Value) -> Result<HttpResponse, ScreenError> {
        let viewer = self.viewer();
        let stored = self.find(id).await?;
        let title = viewer.title_of(&stored);
        let document = SecretDocument {
            words: self.visit.texts.text("tested"),
            values: viewer.facts(outcome),
            back: format!("{}/{id}", self.screen()),
            frame: self.frame(title),
        };
        self.document(StatusCode::OK, document.render()?)
    }
}
