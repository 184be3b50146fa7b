//! Public status pages: served to visitors without a token, at `{slug}.{statuspage_host}` and at active custom domains.
//!
//! The host of a request decides. The host of a page serves only the page: no API, no metrics. A host that belongs
//! neither to this installation nor to a page serves only the paths of the API, which are available even when the
//! databases are not. An unknown, unpublished or deleted page is the same plain 404. Everything is rendered on the
//! server, without scripts. Pages that are not open to everybody show nothing.

mod answer;
mod appearance;
mod contrast;
pub mod host_cache;
mod own_style;
mod page_texts;
mod show;
mod view;
mod visit;

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, ready};

use crate::clock::Clock;
use crate::model::domain_names::DomainNames;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::AccessType;
use crate::pages::host_cache::{API_PATIENCE, HostCache, HostOwner, VISITOR_PATIENCE};
use crate::pages::visit::{PageHost, PageVisit};
use crate::service_router::ServiceRouter;
use crate::store::statuspages::visitors;
use crate::store::{Databases, MainError};

/// Serves public status pages.
#[derive(Clone)]
pub struct PageServer {
    /// Main database with pages, components and announcements.
    pub databases: Databases,
    /// Knows the owners of services, which have the current verdicts.
    pub router: ServiceRouter,
    /// Source of the wall time.
    pub clock: Clock,
    /// The host names of this installation.
    pub names: Arc<DomainNames>,
    /// The host names of custom domains.
    pub hosts: HostCache,
}

impl PageServer {
    /// The response to a request for a page of this host; `None` if the request is not for a page. The request is read
    /// synchronously.
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
        let main = self.databases.main.reader();
        let found = match &visit.host {
            PageHost::Slug(slug) => visitors::by_slug(main, slug).await,
            PageHost::Custom(name) => match self.owner_of(name, visit).await {
                HostOwner::Page => visitors::by_domain(main, name).await,
                HostOwner::Nobody => Ok(None),
                HostOwner::Unclear if visit.is_api_path() => return None,
                HostOwner::Unclear => return Some(answer::unavailable()),
            },
        };
        if matches!((&visit.host, &found), (PageHost::Custom(_), Ok(None))) && visit.is_api_path() {
            // It may be a name by which probes and clients reach the API.
            return None;
        }
        let page = found.map(|found| found.filter(|page| page.is_published));
        let answer = match page {
            Ok(Some(page)) => self.open(visit, &page).await,
            Ok(None) => Ok(answer::not_found()),
            Err(error) => Err(error),
        };
        Some(answer.unwrap_or_else(|error| {
            tracing::error!(%error, "cannot show a status page");
            answer::unavailable()
        }))
    }

    /// Owner of the host, from the cache.
    async fn owner_of(&self, host: &str, visit: &PageVisit) -> HostOwner {
        let main = self.databases.main.reader();
        let patience = if visit.is_api_path() { API_PATIENCE } else { VISITOR_PATIENCE };
        self.hosts.owner_of(host, patience, async || visitors::active_hosts(main).await).await
    }

    async fn open(&self, visit: &PageVisit, page: &Statuspage) -> Result<HttpResponse, MainError> {
        if visit.method != Method::GET && visit.method != Method::HEAD {
            return Ok(answer::wrong_method());
        }
        let is_open = page.access_type == AccessType::Public;
        Ok(match visit.path.as_str() {
            "/robots.txt" => answer::robots(is_open),
            _ if !is_open => answer::restricted(),
            "/" => self.show(visit, page).await?,
            path @ ("/style.css" | "/dark.css") => answer::shared_style(path),
            "/custom.css" if own_style::has_own_style(page) => answer::own_style(own_style::own_style(page)),
            path => match appearance::choice(path).filter(|_| page.allows_appearance_switch) {
                Some(chosen) => answer::remember_choice(chosen),
                None => answer::not_found(),
            },
        })
    }
}
