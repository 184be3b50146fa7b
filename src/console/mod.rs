//! The console: what operators look at, at `/console` on the host of the API.
//!
//! Every document is rendered on the server and works without scripts: links, forms, reload. A screen is a folder below
//! `screens`: its handler, its view, its template; building blocks of templates are in `kit/`. What a screen shows is read
//! from the API, and every form becomes a request to the API (`visit::UserVisit::write`), so that validation, permissions,
//! quotas, idempotency and the audit log are those of the API. Users sign in (`sessions`); their cookie is sent only to the
//! console.

mod answer;
mod catalogue_texts;
mod console_texts;
mod fleet_sentence;
mod form_data;
mod frame;
mod live;
mod origin;
mod passkeys;
mod password_proof;
mod proxy_sign_in;
mod refusal_texts;
mod request_limit;
mod screen_error;
mod screens;
mod session_cookie;
mod sessions;
mod sign_in;
mod static_files;
mod visit;
mod wall;

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::dev::Payload;
use actix_web::http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use actix_web::http::{Method, StatusCode};
use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::console::form_data::FormData;
use crate::console::live::documents::DocumentKey;
use crate::console::live::sign_in_watch::SignInWatch;
use crate::console::live::{ChangeSource, EVENTS, LiveScreens};
use crate::console::request_limit::RequestLimit;
use crate::console::screen_error::ScreenError;
use crate::console::sessions::SessionKeeper;
use crate::console::visit::{ConsoleVisit, SharedParts, SignedIn, UserVisit};
use crate::fleet_view::FleetViews;
use crate::http::console_entry::ConsoleRequest;
use crate::http::gate::rate_limit::LookUp;
use crate::pages::live::stream;
use crate::pages::page_server::PageServer;

/// The console. Cheap to clone.
#[derive(Clone)]
pub struct ConsoleServer {
    sessions: SessionKeeper,
    shared: SharedParts,
    live: LiveScreens,
    source: ChangeSource,
    limit: RequestLimit,
}

impl ConsoleServer {
    /// Creates the console of a server with these services and status pages, which permits a user this number of requests a
    /// minute.
    #[must_use]
    pub fn new(fleets: Arc<FleetViews>, pages: PageServer, requests_per_minute: u32) -> Self {
        let (databases, clock) = (pages.databases.clone(), pages.clock.clone());
        let source = ChangeSource { fleets: Arc::clone(&fleets), databases, clock };
        let shared = SharedParts { fleets, pages: Arc::new(pages) };
        let limit = RequestLimit::new(requests_per_minute);
        Self { sessions: SessionKeeper::default(), shared, live: LiveScreens::new(), source, limit }
    }

    /// Tells open screens about changes, for ever.
    pub async fn follow(&self) {
        self.live.follow(&self.source).await;
    }

    /// Ends the streams of open screens.
    pub fn close(&self) {
        self.live.close();
    }

    /// Answers a request.
    #[must_use]
    pub fn receive(&self, asked: ConsoleRequest) -> LocalBoxFuture<'static, HttpResponse> {
        let ConsoleRequest { request, body, client, api } = asked;
        let visit = ConsoleVisit::read(&request, client, api, self.shared.clone());
        let console = self.clone();
        async move { console.answer(visit, body).await }.boxed_local()
    }

    async fn answer(&self, visit: ConsoleVisit, body: Payload) -> HttpResponse {
        let is_post = visit.method == Method::POST;
        if !is_post && visit.method != Method::GET && visit.method != Method::HEAD {
            return answer::wrong_method();
        }
        if let Some(file) = static_files::find(&visit.path).filter(|_| !is_post) {
            return answer::file(&file, &visit.headers);
        }
        let counted = match RequestLimit::begin(&visit) {
            Ok(counted) => counted,
            Err(refusal) => return refusal.document(&visit),
        };
        if is_post && !origin::is_own_origin(&visit.headers) {
            return screen_error::message(&visit, StatusCode::FORBIDDEN, "foreign-origin");
        }
        let form = if is_post { FormData::read(&visit.headers, body).await.map(Some) } else { Ok(None) };
        let Ok(form) = form else {
            return screen_error::message(&visit, StatusCode::BAD_REQUEST, "bad-form");
        };
        if let Some(answer) = wall::answer(&visit, is_post).await {
            // A wall with its key loads itself again and again, and several may share an address.
            if answer.status() == StatusCode::OK {
                RequestLimit::give_back(&visit, &counted);
            }
            return answer;
        }
        let signed_in = match self.signed_in(&visit, form.as_ref(), &counted).await {
            Ok(signed_in) => signed_in,
            Err(answer) => return answer,
        };
        RequestLimit::give_back(&visit, &counted);
        let visit = UserVisit::new(visit, signed_in);
        if let Err(refusal) = self.limit.count_user(&visit).await {
            return refusal.document(&visit.visit);
        }
        self.answer_user(visit, form).await
    }

    async fn answer_user(&self, visit: UserVisit, form: Option<FormData>) -> HttpResponse {
        let is_post = form.is_some();
        if visit.visit.path == "/sign-out" {
            return self.sign_out(&visit, is_post).await;
        }
        if form.is_none() && visit.visit.path == EVENTS {
            return self.events(&visit).await;
        }
        if form.is_none()
            && visit.visit.is_live()
            && let Some(key) = DocumentKey::of(&visit)
        {
            return self.shared_document(visit, key).await;
        }
        self.screen(&visit, form.as_ref()).await
    }

    async fn screen(&self, visit: &UserVisit, form: Option<&FormData>) -> HttpResponse {
        let shown = screens::answer(&self.sessions, visit, form).await;
        shown.unwrap_or_else(|error| error.of_user(visit))
    }

    /// Opens the stream of a browser.
    async fn events(&self, visit: &UserVisit) -> HttpResponse {
        let organisation = visit.signed_in.caller.organisation.key;
        let listener = self.live.listen(organisation, visit.visit.client, &self.source).await;
        let ended = SignInWatch::of(visit).ended();
        listener.map_or_else(answer::no_stream, |listener| {
            answer::events(stream::events(listener).take_until(ended))
        })
    }

    /// Answers a request for what changes on an open screen.
    async fn shared_document(&self, mut visit: UserVisit, key: DocumentKey) -> HttpResponse {
        let (known, organisation) = (visit.visit.known_change(), visit.signed_in.caller.organisation.key);
        // The document is rendered whole and without a coding, whatever this browser has or takes.
        let headers = visit.visit.headers.clone();
        visit.visit.headers.remove(IF_NONE_MATCH);
        visit.visit.headers.remove(ACCEPT_ENCODING);
        let render = async || self.screen(&visit, None).await;
        let change = || self.live.change(organisation);
        match self.live.documents.get(key, known, change, render).await {
            Ok(content) => answer::shared_document(&content, &headers),
            Err(answer) => answer,
        }
    }

    /// Returns the user of a request, or the response for somebody who is not signed in.
    async fn signed_in(
        &self,
        visit: &ConsoleVisit,
        form: Option<&FormData>,
        counted: &LookUp,
    ) -> Result<SignedIn, HttpResponse> {
        // A link that works once is for people whom the proxy may name by another address, or not at all.
        if visit.path != sign_in::WELCOME {
            let by_proxy = proxy_sign_in::signed_in(visit).await;
            if let Some(signed_in) = by_proxy.map_err(|refusal| refusal.document(visit))? {
                let is_at_form = visit.path == sign_in::SIGN_IN;
                return if is_at_form { Err(sign_in::lead_back(visit)) } else { Ok(signed_in) };
            }
        }
        if matches!(visit.path.as_str(), sign_in::SIGN_IN | sign_in::WELCOME) {
            RequestLimit::check_stranger(visit, counted).map_err(|refusal| refusal.document(visit))?;
        }
        if let Some(answer) = sign_in::answer(&self.sessions, visit, form).await {
            return Err(answer);
        }
        let signed_in = self.sessions.signed_in(visit).await;
        let signed_in = signed_in.map_err(|error| ScreenError::from(error).of_stranger(visit))?;
        if signed_in.is_none() {
            RequestLimit::check_stranger(visit, counted).map_err(|refusal| refusal.document(visit))?;
        }
        signed_in.ok_or_else(|| sign_in::demand(visit))
    }

    async fn sign_out(&self, visit: &UserVisit, is_post: bool) -> HttpResponse {
        if !is_post {
            return answer::see_other("");
        }
        if visit.signed_in.session.is_none() {
            return screen_error::message(&visit.visit, StatusCode::OK, "proxy-signs-out");
        }
        match self.sessions.sign_out(&visit.visit, &visit.signed_in).await {
            Ok(()) => {
                let cookie = session_cookie::removed(visit.visit.is_secure);
                answer::with_cookie(answer::see_other("/sign-in"), &cookie)
            }
            Err(error) => ScreenError::from(error).of_user(visit),
        }
    }
}
