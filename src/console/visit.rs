//! A request of a browser to the console, and the user who makes it.

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_LANGUAGE, HeaderMap, ORIGIN};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::fleet_view::FleetViews;
use crate::fleet_view::view::FleetView;
use crate::fleet_view::visible_tags::VisibleTags;
use crate::http::console_entry::InnerApi;
use crate::http::gate::InnerRequest;
use crate::http::gate::auth::Caller;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::http::kit::request_id::request_id;
use crate::http::v1::state::AppState;
use crate::model::access::Permission;
use crate::model::console_session::ConsoleSession;
use crate::model::console_user::ConsoleUser;
use crate::pages::page_server::PageServer;

/// The parts that all visits share. Cheap to clone.
#[derive(Clone)]
pub(super) struct SharedParts {
    /// The services of organisations in memory.
    pub(super) fleets: Arc<FleetViews>,
    /// Shows status pages.
    pub(super) pages: Arc<PageServer>,
}

/// Header of a request for what changes on an open screen: the number of the last change that the script knows of.
const LIVE_HEADER: &str = "console-change";

/// What a browser has sent, except the body.
pub(super) struct ConsoleVisit {
    pub(super) api: InnerApi,
    pub(super) shared: SharedParts,
    pub(super) method: Method,
    /// The path below `/console`, without a slash at its end; empty for the first screen.
    pub(super) path: String,
    pub(super) query: FormData,
    /// The query as it was sent.
    pub(super) query_text: String,
    pub(super) headers: HeaderMap,
    /// Address of the client, as far as trusted proxies report it.
    pub(super) client: IpAddr,
    /// Address at the other end of the connection; `None` for a local socket.
    pub(super) peer: Option<IpAddr>,
    pub(super) request_id: String,
    /// True if the browser uses HTTPS, as far as the request tells.
    pub(super) is_secure: bool,
}

/// A signed-in user.
#[derive(Clone, Debug)]
pub(super) struct SignedIn {
    pub(super) user: ConsoleUser,
    /// The session of the browser; `None` if a proxy has signed the user in.
    pub(super) session: Option<ConsoleSession>,
    /// The user as the API knows callers.
    pub(super) caller: Caller,
}

/// A request of a signed-in user.
pub(super) struct UserVisit {
    pub(super) visit: ConsoleVisit,
    pub(super) signed_in: SignedIn,
    pub(super) texts: ConsoleTexts,
}

/// The services that a user may see.
pub(super) struct VisibleFleet {
    pub(super) view: Arc<FleetView>,
    pub(super) visible: VisibleTags,
    /// The time of the shown statuses, if there are no later ones.
    pub(super) as_of: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl ConsoleVisit {
    /// Reads a request.
    pub(super) fn read(request: &HttpRequest, client: IpAddr, api: InnerApi, shared: SharedParts) -> Self {
        let headers = request.headers().clone();
        let path = request.uri().path();
        let path = path.strip_prefix("/console").unwrap_or(path).trim_end_matches('/').to_owned();
        let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
        let is_secure =
            request.app_config().secure() || origin.is_some_and(|origin| origin.starts_with("https://"));
        Self {
            api,
            shared,
            method: request.method().clone(),
            path,
            query: FormData::parse(request.query_string().as_bytes()),
            query_text: request.query_string().to_owned(),
            request_id: request_id(&headers).as_str().to_owned(),
            headers,
            client,
            peer: request.peer_addr().map(|peer| peer.ip()),
            is_secure,
        }
    }

    pub(super) fn state(&self) -> &AppState {
        &self.api.state
    }

    /// Returns true if the script of an open screen asks for what changes on it.
    pub(super) fn is_live(&self) -> bool {
        self.headers.contains_key(LIVE_HEADER)
    }

    /// The number of the last change that the script knows of; 0 if it knows none.
    pub(super) fn known_change(&self) -> u64 {
        self.header(LIVE_HEADER).parse().unwrap_or_default()
    }

    /// The texts in the language that the browser prefers.
    pub(super) fn texts(&self) -> ConsoleTexts {
        let lines = self.headers.get_all(ACCEPT_LANGUAGE).filter_map(|line| line.to_str().ok());
        ConsoleTexts::preferred(&lines.collect::<Vec<_>>().join(","))
    }

    /// Returns the services that a caller may see, from memory.
    ///
    /// # Errors
    /// 403 without the permission to see services; 503 when the databases fail before the services were read once.
    pub(super) async fn fleet_of(&self, caller: &Caller) -> Result<VisibleFleet, ApiError> {
        caller.require(Permission::ServicesView)?;
        let now = self.state().now();
        let visible = self.shared.fleets.visible_tags(caller.visibility()).await?;
        let current = self.shared.fleets.of(caller.organisation.key, now).await.map_err(|error| {
            tracing::warn!(%error, "cannot read the services of an organisation");
            ApiError::Unavailable
        })?;
        Ok(VisibleFleet { view: current.view, visible, as_of: current.as_of, now })
    }

    /// The value of a header; empty if it is missing or not readable.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl UserVisit {
    /// Creates the visit of a user.
    pub(super) fn new(visit: ConsoleVisit, signed_in: SignedIn) -> Self {
        let chosen = signed_in.user.language.as_deref().map(ConsoleTexts::of);
        let texts = chosen.unwrap_or_else(|| visit.texts());
        Self { visit, signed_in, texts }
    }

    /// Returns true if the user has the permission.
    pub(super) fn may(&self, permission: Permission) -> bool {
        self.signed_in.caller.token.permissions.contains(permission)
    }

    /// Returns the services that the user may see, from memory.
    ///
    /// # Errors
    /// As [`ConsoleVisit::fleet_of`].
    pub(super) async fn fleet(&self) -> Result<VisibleFleet, ApiError> {
        self.visit.fleet_of(&self.signed_in.caller).await
    }

    /// Reads a resource of the API: the whole body of the response.
    ///
    /// # Errors
    /// As the API.
    pub(super) async fn get(&self, target: &str) -> Result<Value, ApiError> {
        self.ask(HttpVerb::Get, target, None, None).await
    }

    /// Sends a request that changes something. `key` makes a repeated one have no second effect.
    ///
    /// # Errors
    /// As the API.
    pub(super) async fn write(
        &self,
        verb: HttpVerb,
        target: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, ApiError> {
        self.ask(verb, target, Some(body), key).await
    }

    async fn ask(
        &self,
        verb: HttpVerb,
        target: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Value, ApiError> {
        use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(language) = HeaderValue::from_str(self.texts.locale()) {
            headers.insert(ACCEPT_LANGUAGE, language);
        }
        if let Some(key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
            headers.insert(HeaderName::from_static("idempotency-key"), key);
        }
        let request = InnerRequest {
            verb,
            target: target.to_owned(),
            headers,
            body: body.map(Value::to_string).unwrap_or_default().into(),
            client: self.visit.client,
            request_id: self.visit.request_id.clone(),
        };
        let reply = self.visit.api.call(self.signed_in.caller.clone(), request).await?;
        serde_json::from_str(&reply.text()).map_err(|error| ApiError::Internal(error.into()))
    }
}
