//! Replays a stored response (contract 1.10). A response that was too long to be stored is rebuilt from the resource it
//! shows.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT_LANGUAGE, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::http::gate::call::{ApiCall, RequestBody};
use crate::http::gate::handler_run::{catch_panic, run_write};
use crate::http::gate::route::{Handler, HttpVerb, RouteTable};
use crate::http::kit::error::ApiError;
use crate::http::kit::path::RequestPath;
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::{ApiReply, ReplyBody};

/// Message of a response that can neither be replayed nor rebuilt.
const ANSWER_GONE: &str = "This answer was too long to be kept, and cannot be made again: what it was made from has changed or is gone.";

/// The request whose response is stored.
#[derive(Clone, Debug)]
pub struct OriginalRequest {
    /// Path of the request.
    pub path: String,
    /// True if the request changes nothing, so that it may run again.
    pub may_run_again: bool,
}

/// A stored response to be sent again.
#[derive(Debug)]
pub struct AnswerReplay {
    /// Status of the stored response.
    pub status: StatusCode,
    /// Headers of the stored response.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Body of the stored response.
    pub body: ReplayBody,
}

/// The body of a stored response.
#[derive(Debug)]
pub enum ReplayBody {
    /// Stored as it was sent.
    Cached(String),
    /// Not stored; it must be rebuilt.
    MadeAgain {
        /// Path of the shown resource; empty if the request may run again.
        resource: String,
        /// Language of the original response.
        language: Option<String>,
    },
}

impl OriginalRequest {
    /// Returns the path of the resource that a response shows: the path of the new resource, or of the request. Empty if the
    /// request may run again; `None` if the response shows nothing that can be read. `base_url` is what comes before the
    /// path in the URL of a resource.
    #[must_use]
    pub fn resource(&self, reply: &ApiReply, base_url: &str) -> Option<String> {
        if self.may_run_again {
            return Some(String::new());
        }
        if let Some(location) = reply.head().location {
            return location.strip_prefix(base_url).map(str::to_owned);
        }
        let id = match &reply.body {
            ReplyBody::Json(body) => body["data"]["id"].as_str().map(str::to_owned),
            ReplyBody::Text(text) => {
                let body: Option<Value> = serde_json::from_str(text).ok();
                body.and_then(|body| body["data"]["id"].as_str().map(str::to_owned))
            }
            ReplyBody::Events(_) => None,
        };
        let end = id.and_then(|id| Some(self.path.find(&format!("/{id}"))? + 1 + id.len()));
        end.map(|end| self.path[..end].to_owned())
    }
}

impl AnswerReplay {
    /// Builds the whole response. A body that was not stored shows the current state of its resource, or only the id if the
    /// resource is gone.
    ///
    /// # Errors
    /// Those of the request that reads the resource.
    pub async fn answer<S>(
        self,
        routes: &RouteTable<S>,
        handler: Handler<S>,
        call: ApiCall<S>,
    ) -> Result<ApiReply, ApiError> {
        let body = match self.body {
            ReplayBody::Cached(body) => body,
            ReplayBody::MadeAgain { resource, .. } if resource.is_empty() => {
                render_repeated(run_write(handler, ApiCall { known_input: None, ..call }).await)?
            }
            ReplayBody::MadeAgain { resource, language } => read(routes, &resource, language, call).await?,
        };
        Ok(ApiReply::stored(self.status, self.headers, body))
    }
}

/// Returns the body of a repeated read-only request. The request succeeded once: if it is refused now, because its subject
/// has changed or is gone, the body says so.
fn render_repeated(outcome: Result<ApiReply, ApiError>) -> Result<String, ApiError> {
    match outcome {
        Ok(reply) => Ok(reply.text()),
        Err(ApiError::NotFound | ApiError::Conflict(_) | ApiError::Fields(_)) => {
            Ok(json!({"data": {}, "message": ANSWER_GONE}).to_string())
        }
        Err(error) => Err(error),
    }
}

/// Returns the body of a `GET` of this path; only the id if the resource is gone, or the caller may not read it.
async fn read<S>(
    routes: &RouteTable<S>,
    resource: &str,
    language: Option<String>,
    call: ApiCall<S>,
) -> Result<String, ApiError> {
    let path = RequestPath::parse(resource);
    let (found, values) = routes.find(&path).ok_or(ApiError::NotFound)?;
    let route = found.route(HttpVerb::Get).ok_or(ApiError::NotFound)?;
    let id = resource.rsplit('/').next().unwrap_or_default();
    let id_alone = json!({"data": {"id": id}}).to_string();
    // The response showed what the caller had created; its current state requires the permission to read it.
    if route.access().check(&call.caller, &QueryString::default()).is_err() {
        return Ok(id_alone);
    }
    let mut headers = call.headers.clone();
    headers.remove(ACCEPT_LANGUAGE);
    if let Some(language) = language.and_then(|language| HeaderValue::from_str(&language).ok()) {
        headers.insert(ACCEPT_LANGUAGE, language);
    }
    let call = ApiCall {
        path: values,
        canonical_path: path.canonical(),
        query: QueryString::default(),
        headers,
        body: RequestBody::none(),
        known_input: None,
        state: Arc::clone(&call.state),
        ..call
    };
    match catch_panic(route.handler()(call)).await {
        Ok(reply) => Ok(reply.text()),
        Err(ApiError::NotFound) => Ok(id_alone),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ID: &str = "rNSJxMbDTX2uHc08AiCqo";

    #[rstest]
    #[case("/v1/incidents/{id}/updates", false, Some(ID), None, Some("/v1/incidents/{id}"))]
    #[case(
        "/v1/statuspages/AAAAAAAAAAAAAAAAAAAAA/components/{id}/x",
        false,
        Some(ID),
        None,
        Some("/v1/statuspages/AAAAAAAAAAAAAAAAAAAAA/components/{id}")
    )]
    #[case("/v1/tags", false, Some(ID), Some("https://a.example/v1/sub/v1/tags/{id}"), Some("/v1/tags/{id}"))]
    #[case("/v1/tags", false, Some(ID), Some("https://b.example/v1/tags/{id}"), None)]
    #[case("/v1/tags/ensure", false, Some(ID), None, None)]
    #[case("/v1/notifications/redeliver", false, None, None, None)]
    #[case("/v1/services/{id}/simulate", true, None, None, Some(""))]
    fn a_long_response_refers_to_its_resource(
        #[case] path: &str,
        #[case] may_run_again: bool,
        #[case] id: Option<&str>,
        #[case] location: Option<&str>,
        #[case] expected: Option<&str>,
    ) {
        let fill = |text: &str| text.replace("{id}", ID);
        let data = json!({"id": id});
        let reply = location.map_or_else(
            || ApiReply::data(data.clone()),
            |location| ApiReply::created(data.clone(), &fill(location)),
        );
        let origin = OriginalRequest { path: fill(path), may_run_again };
        let base_url = "https://a.example/v1/sub";
        assert_eq!(origin.resource(&reply, base_url), expected.map(fill));
        let text = ApiReply { body: ReplyBody::Text(reply.text()), ..reply };
        assert_eq!(origin.resource(&text, base_url), expected.map(fill), "written by a view");
    }
    #[test]
    fn a_request_that_changed_nothing_is_answered_again() {
        let asked =
            |outcome| render_repeated(outcome).map(|text| serde_json::from_str::<Value>(&text).unwrap());
        assert_eq!(asked(Ok(ApiReply::data(json!(1)))).unwrap(), json!({"data": 1}));
        let gone = asked(Err(ApiError::NotFound)).unwrap();
        assert_eq!(gone, json!({"data": {}, "message": ANSWER_GONE}));
        assert!(matches!(asked(Err(ApiError::Unavailable)), Err(ApiError::Unavailable)));
        assert!(matches!(asked(Err(ApiError::Simulating(1))), Err(ApiError::Simulating(1))));
    }
}
