//! Public status pages: served to visitors without a token, at `{slug}.{statuspage_host}` and at active custom domains.
//!
//! The host of a request decides what is served. The host of a page serves only the page: no API, no metrics. A host that
//! belongs neither to this installation nor to a page serves only the paths of the API, which are available even when the
//! databases are not. Unknown, unpublished and deleted pages get the same plain 404. Everything is rendered on the server,
//! without scripts, once for each change and language ([`snapshot_cache`]). Pages that are not public show nothing.

mod announcements;
mod answer;
mod appearance;
mod contrast;
pub mod host_cache;
mod page_reader;
mod page_texts;
mod route;
mod show;
mod snapshot;
pub mod snapshot_cache;
mod status_json;
mod stylesheets;
mod view;
mod visit;

use std::convert::Infallible;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, ready};

use crate::clock::Clock;
use crate::config::Config;
use crate::model::domain_names::DomainNames;
use crate::model::statuspage::word::{AccessType, PageColorScheme};
use crate::pages::host_cache::{API_PATIENCE, HostCache, HostOwner, VISITOR_PATIENCE};
use crate::pages::page_reader::PageReader;
use crate::pages::route::{LocalizedRoute, PageRoute, PageScreen};
use crate::pages::show::PageChoices;
use crate::pages::snapshot::{PageHistory, PageSnapshot};
use crate::pages::snapshot_cache::{CurrentSnapshot, PartKey, SnapshotCache};
use crate::pages::status_json::StatusDocument;
use crate::pages::stylesheets::{SHARED_STYLE, StyleRequest};
use crate::pages::visit::{PageHost, PageVisit, VisitLanguage};
use crate::service_router::ServiceRouter;
use crate::store::Databases;
use crate::store::statuspages::visitors;

/// Serves public status pages.
#[derive(Clone)]
pub struct PageServer {
    /// The databases; the main database has pages, components and announcements.
    pub databases: Databases,
    /// Knows the owners of services, which hold the current verdicts.
    pub router: ServiceRouter,
    /// Source of the wall time.
    pub clock: Clock,
    /// The host names of this installation.
    pub names: Arc<DomainNames>,
    /// The host names of custom domains.
    pub hosts: HostCache,
    /// The settings, from which public URLs are built.
    pub config: Arc<Config>,
    /// Snapshots of the pages that visitors view.
    pub cache: PageCaches,
}

/// Snapshots of the pages that visitors view, with and without their past announcements. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PageCaches {
    pages: SnapshotCache<PageSnapshot>,
    histories: SnapshotCache<PageHistory>,
}

impl PageServer {
    /// Answers a request for a page of this host; the result is `None` if the request is not for a page. The request is read
    /// before the returned future is polled.
    pub fn receive(
        &self,
        request: &HttpRequest,
        host: &str,
    ) -> LocalBoxFuture<'static, Option<HttpResponse>> {
        match PageVisit::read(request, host, &self.names) {
            None => ready(None).boxed_local(),
            Some(visit) => {
                let pages = self.clone();
                async move { pages.answer(&visit).await }.boxed_local()
            }
        }
    }

    async fn answer(&self, visit: &PageVisit) -> Option<HttpResponse> {
        if let PageHost::Custom(name) = &visit.host {
            match self.owner_of(name, visit).await {
                HostOwner::Page => {}
                HostOwner::Nobody if visit.is_api_path() => return None,
                HostOwner::Nobody => return Some(answer::not_found()),
                HostOwner::Unclear if visit.is_api_path() => return None,
                HostOwner::Unclear => return Some(answer::unavailable()),
            }
        }
        let changes = self.databases.main.own_changes();
        let now = || self.clock.now();
        let read = async |earlier: Option<&PageSnapshot>| self.reader().read(&visit.host, earlier).await;
        let current = self.cache.pages.current(&visit.host, changes, now, read).await;
        let answer = match current {
            Ok(Some(current)) => self.open(visit, &current).await,
            // The host may be a name by which load balancers and clients reach the API.
            Ok(None) if matches!(visit.host, PageHost::Custom(_)) && visit.is_api_path() => return None,
            Ok(None) => answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot show a status page");
                answer::unavailable()
            }
        };
        Some(answer)
    }

    fn reader(&self) -> PageReader<'_> {
        PageReader { databases: &self.databases, router: &self.router, config: &self.config }
    }

    /// Returns the owner of the host, from the cache.
    async fn owner_of(&self, host: &str, visit: &PageVisit) -> HostOwner {
        let main = self.databases.main.reader();
        let patience = if visit.is_api_path() { API_PATIENCE } else { VISITOR_PATIENCE };
        self.hosts.owner_of(host, patience, async || visitors::active_hosts(main).await).await
    }

    async fn open(&self, visit: &PageVisit, current: &CurrentSnapshot<PageSnapshot>) -> HttpResponse {
        if visit.method != Method::GET && visit.method != Method::HEAD {
            return answer::wrong_method();
        }
        let is_open = current.rendered.snapshot.page.access_type == AccessType::Public;
        let languages = current.rendered.snapshot.languages();
        match PageRoute::read(&visit.path, &languages) {
            PageRoute::Robots => answer::robots(is_open),
            _ if !is_open => answer::restricted(),
            PageRoute::Style(request) => sheet(visit, current, request),
            PageRoute::Document(document) => self.status_document(visit, current, document).await,
            PageRoute::Localized(LocalizedRoute { locale, screen: PageScreen::Current }) => {
                show(visit, current, &visit.language(locale, &languages))
            }
            PageRoute::Moved(path) => answer::moved(&path),
            PageRoute::Unknown => answer::not_found(),
        }
    }

    /// Answers a request for a JSON document.
    async fn status_document(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        document: StatusDocument,
    ) -> HttpResponse {
        let key = PartKey { name: visit.path.clone(), locale: String::new(), as_of: None };
        if !document.has_history() {
            return answer::json(visit, current.rendered.part(key, |page| document.of_page(page)));
        }
        let changes = self.databases.main.own_changes();
        let read =
            async |earlier: Option<&PageHistory>| self.reader().read_history(&visit.host, earlier).await;
        let histories = &self.cache.histories;
        match histories.current(&visit.host, changes, || self.clock.now(), read).await {
            Ok(Some(current)) => {
                answer::json(visit, current.rendered.part(key, |history| document.of_history(history)))
            }
            Ok(None) => answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot read the past of a status page");
                answer::unavailable()
            }
        }
    }
}

/// Answers a request for a style sheet.
fn sheet(
    visit: &PageVisit,
    current: &CurrentSnapshot<PageSnapshot>,
    StyleRequest { is_own, revision }: StyleRequest<'_>,
) -> HttpResponse {
    if !is_own {
        return answer::sheet(&SHARED_STYLE, revision, visit);
    }
    if !stylesheets::has_own_style(&current.rendered.snapshot.page) {
        return answer::not_found();
    }
    let key = PartKey { name: "style".to_owned(), locale: String::new(), as_of: None };
    let style = |snapshot: &PageSnapshot| Ok(stylesheets::own_style(&snapshot.page).into_bytes());
    match current.rendered.part::<Infallible>(key, style) {
        Ok(content) => answer::sheet(&content, revision, visit),
        Err(impossible) => match impossible {},
    }
}

/// Answers a request for the page in a language.
fn show(
    visit: &PageVisit,
    current: &CurrentSnapshot<PageSnapshot>,
    language: &VisitLanguage,
) -> HttpResponse {
    let snapshot = &current.rendered.snapshot;
    let chosen = appearance::choice(&visit.query).filter(|_| snapshot.page.allows_appearance_switch);
    let choices = PageChoices { locale: language.locale.clone(), appearance: chosen, as_of: current.as_of };
    let key = PartKey {
        name: format!("page {}", chosen.map_or("", PageColorScheme::as_str)),
        locale: language.locale.clone(),
        as_of: current.as_of,
    };
    match current.rendered.part(key, |snapshot| show::page(snapshot, &choices)) {
        Ok(content) => answer::page(&snapshot.page, &content, visit, language),
        Err(error) => {
            tracing::error!(page = %snapshot.page.id, %error, "cannot render a status page");
            answer::unavailable()
        }
    }
}
