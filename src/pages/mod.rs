//! Public status pages: served to visitors without a token, at `{slug}.{statuspage_host}` and at active custom domains.
//!
//! The host of a request decides what is served. The host of a page serves only the page: no API, no metrics. A host that
//! belongs neither to this installation nor to a page serves only the paths of the API, which are available even when the
//! databases are not. Unknown, unpublished and deleted pages get the same plain 404. Everything is rendered on the server,
//! once for each change and language ([`snapshot_cache`]), and can be read without scripts. A page with a password, or with a list of
//! e-mail addresses, shows nothing to visitors who have not proven that they may read it ([`access`]).

pub mod access;
mod announcement_view;
mod announcements;
mod answer;
mod appearance;
mod badge;
mod badge_route;
mod bars;
mod calendar_month;
mod card;
mod card_route;
mod component_view;
mod contrast;
mod days_cache;
mod days_view;
mod display_time;
mod embed;
pub mod export;
mod export_header;
mod external_parts;
mod feeds;
mod figures_cache;
mod figures_view;
mod forms;
mod frame;
pub mod heavy_tasks;
pub mod host_cache;
mod html_parts;
pub mod live;
mod overall_state;
mod page_host;
mod page_reader;
pub mod page_server;
mod page_texts;
mod palette;
mod past_parts;
pub mod preview;
mod route;
mod screen;
mod script;
mod service_figures;
mod show;
mod sign_up_limiter;
mod sitemap;
mod snapshot;
pub mod snapshot_cache;
mod social;
pub mod state_source;
mod status_json;
mod stylesheets;
mod view;
mod visit;
pub mod visitor_limiter;

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, ready};
use tokio::time::Instant;

use crate::id::Id;
use crate::model::statuspage::word::AccessType;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::export::{EXPORT_HEADER, ExportPass};
use crate::pages::figures_cache::CurrentFigures;
use crate::pages::forms::{FormRoute, VisitorForm, take_form};
use crate::pages::frame::PageChoices;
use crate::pages::host_cache::{API_PATIENCE, HostOwner, VISITOR_PATIENCE};
use crate::pages::html_parts::{document, is_shown, part_key};
use crate::pages::live::LiveKey;
use crate::pages::page_host::PageHost;
use crate::pages::page_reader::PageReader;
use crate::pages::page_server::PageServer;
use crate::pages::route::{LocalizedFeed, LocalizedRoute, PageRoute};
use crate::pages::screen::PageScreen;
use crate::pages::script::SCRIPT;
use crate::pages::service_figures::FiguresKey;
use crate::pages::snapshot::{HistoryKey, HistoryScope, PageHistory, PageSnapshot};
use crate::pages::snapshot_cache::CurrentSnapshot;
use crate::pages::visit::{PageVisit, VisitLanguage};
use crate::store::MainError;
use crate::store::statuspages::visitors;

impl PageServer {
    /// Answers a request of this client for a page of this host; the result is `None` if the request is not for a page. The
    /// request is read, and its body taken if it is a form, before the returned future is polled.
    pub fn receive(
        &self,
        request: &HttpRequest,
        host: &str,
        client: IpAddr,
        body: &mut Payload,
    ) -> LocalBoxFuture<'static, Option<HttpResponse>> {
        match PageVisit::read(request, host, client, &self.names) {
            None => ready(None).boxed_local(),
            Some(visit) => {
                visit.form.set(take_form(&visit.path, &visit.method, body));
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
        if let Some(answer) = self.unsubscribe(visit).await {
            return Some(answer);
        }
        let changes = self.databases.main.own_changes();
        let now = || self.clock.now();
        let read = async |earlier: Option<&PageSnapshot>| self.reader().read(&visit.host, earlier).await;
        let current = self.cache.pages.current(&visit.host, changes, now, read).await;
        let answer = match current {
            Ok(Some(current)) => self.enter(visit, &current).await,
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
        PageReader {
            databases: &self.databases,
            states: &self.states,
            config: &self.config,
            clock: &self.clock,
            days: &self.cache.days,
        }
    }

    /// Returns the owner of the host, from the cache.
    async fn owner_of(&self, host: &str, visit: &PageVisit) -> HostOwner {
        let main = self.databases.main.reader();
        let patience = if visit.is_api_path() { API_PATIENCE } else { VISITOR_PATIENCE };
        self.hosts.owner_of(host, patience, async || visitors::active_hosts(main).await).await
    }

    /// Answers a request for a page if the visitor may see it. Of a page that is not public every part is protected but
    /// the rules for search engines, which name nothing, and the forms that a token in a mail opens.
    async fn enter(&self, visit: &PageVisit, current: &CurrentSnapshot<PageSnapshot>) -> HttpResponse {
        let snapshot = &current.rendered.snapshot;
        let languages = snapshot.languages();
        let route = PageRoute::read(&visit.path, &languages);
        if let PageRoute::Access(access) = route
            && let Some(answer) = self.access.receive(snapshot, visit, access).await
        {
            return answer;
        }
        if let PageRoute::Form { locale, form } = route {
            let locale = visit.language(locale, &languages).locale;
            return self.enter_form(visit, snapshot, &locale, form).await;
        }
        if visit.method != Method::GET && visit.method != Method::HEAD {
            return answer::wrong_method();
        }
        if let Some(header) = visit.headers.get(EXPORT_HEADER) {
            let pass = ExportPass { sealer: &self.sealer, page: snapshot.page.id };
            // The page as visitors see it is no export, so that a wrong header must not lead to it.
            let Some(exported_at) = pass.read(header, self.clock.now()) else { return answer::no_export() };
            let visit = visit.exported_at(exported_at);
            return answer::part_of_export(self.open(&visit, current, route).await);
        }
        if route == PageRoute::Robots {
            return answer::robots(&snapshot.page, &snapshot.url);
        }
        if snapshot.page.access_type == AccessType::Public {
            return self.open(visit, current, route).await;
        }
        if self.access.admits(&snapshot.page, visit) {
            return answer::keep_private(self.open(visit, current, route).await);
        }
        self.access.refuse(snapshot, visit)
    }

    /// Answers a request for a form if the visitor may use it.
    async fn enter_form(
        &self,
        visit: &PageVisit,
        snapshot: &PageSnapshot,
        locale: &str,
        form: FormRoute<'_>,
    ) -> HttpResponse {
        if ![Method::GET, Method::HEAD, Method::POST].contains(&visit.method) {
            return answer::wrong_method_of_form();
        }
        let is_admitted = self.access.admits(&snapshot.page, visit);
        if form == FormRoute::Subscribe && !is_admitted {
            return self.access.refuse(snapshot, visit);
        }
        self.form(visit, snapshot, VisitorForm { locale, form, is_admitted }).await
    }

    async fn open(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        route: PageRoute<'_>,
    ) -> HttpResponse {
        let page = &current.rendered.snapshot;
        let languages = page.languages();
        match route {
            PageRoute::Robots => answer::robots(&page.page, &page.url),
            PageRoute::File(hash) => external_parts::file(&self.databases, page, hash).await,
            PageRoute::Sitemap => external_parts::sitemap(visit, current),
            PageRoute::Widget => answer::widget(visit),
            PageRoute::Badge(request) => self.badge(visit, current, &request).await,
            PageRoute::Card(request) => self.card(visit, current, request).await,
            PageRoute::Embed(locale) => {
                external_parts::frame(visit, current, &visit.language(locale, &languages))
            }
            PageRoute::Style(request) => external_parts::sheet(visit, current, request),
            PageRoute::Script(revision) => answer::script(&SCRIPT, revision, visit),
            PageRoute::Events(locale) => {
                self.events(visit, current, &visit.language(locale, &languages).locale)
            }
            PageRoute::Document(document) => self.status_document(visit, current, document).await,
            PageRoute::Feed(LocalizedFeed { locale, feed }) => {
                let locale = locale.unwrap_or(&languages.default);
                self.feed(visit, feed, locale).await
            }
            PageRoute::Localized(LocalizedRoute { locale, screen }) => {
                self.screen(visit, current, &visit.language(locale, &languages), screen).await
            }
            PageRoute::Moved(path) => answer::moved(&path),
            PageRoute::Access(_) | PageRoute::Form { .. } | PageRoute::Unknown => answer::not_found(),
        }
    }

    /// Returns the figures of a component that shows its past; none for any other one.
    async fn figures(&self, snapshot: &PageSnapshot, id: Id) -> Arc<CurrentFigures> {
        let mut with_past = snapshot.components.iter().filter(|one| one.days.is_some());
        let Some(service) =
            with_past.find(|one| one.component.id == id).and_then(|one| one.component.service)
        else {
            return Arc::default();
        };
        let (page, now) = (&snapshot.page, self.clock.now());
        let key = FiguresKey::of(service, page.shows);
        let read = async || service_figures::read(&self.states, page.organisation, key, now).await;
        self.cache.figures.current(key, read).await
    }

    /// Returns a part of the past of the page; `None` if there is none.
    async fn history(
        &self,
        visit: &PageVisit,
        scope: HistoryScope,
    ) -> Result<Option<CurrentSnapshot<PageHistory>>, MainError> {
        let changes = self.databases.main.own_changes();
        let key = HistoryKey { host: visit.host.clone(), scope };
        let shown = self.cache.pages.latest(&visit.host);
        let shown = shown.as_ref().map(|shown| &shown.snapshot);
        let read =
            async |earlier: Option<&PageHistory>| self.reader().read_history(&key, shown, earlier).await;
        self.cache.histories.current(&key, changes, || self.clock.now(), read).await
    }

    /// Opens a stream of changes.
    fn events(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        locale: &str,
    ) -> HttpResponse {
        let month = CalendarMonth::of(self.clock.now());
        let choices =
            PageChoices { locale: locale.to_owned(), appearance: None, as_of: None, is_export: false };
        let snapshot = &current.rendered.snapshot;
        let present = || show::live_fragments(snapshot, &choices, month).ok();
        let key = LiveKey { host: visit.host.clone(), locale: locale.to_owned() };
        self.live
            .listen(key, visit.client, present)
            .map_or_else(answer::unavailable, |listener| answer::events(live::stream::events(listener)))
    }

    /// Follows the pages that somebody has open, for ever.
    pub async fn follow(&self) {
        let mut last = Instant::now();
        loop {
            let open = self.live.next_round(last).await;
            last = Instant::now();
            for key in open {
                self.follow_page(&key).await;
            }
        }
    }

    async fn follow_page(&self, key: &LiveKey) {
        let changes = self.databases.main.own_changes();
        let now = || self.clock.now();
        let read = async |earlier: Option<&PageSnapshot>| self.reader().read(&key.host, earlier).await;
        let current = match self.cache.pages.current(&key.host, changes, now, read).await {
            Ok(Some(current)) if current.as_of.is_none() => current,
            Ok(None) => return self.live.end(key),
            // Visitors keep what they see: the next load of the page says more.
            Ok(Some(_)) => return,
            Err(error) => {
                tracing::debug!(%error, "cannot follow an open status page");
                return;
            }
        };
        let choices =
            PageChoices { locale: key.locale.clone(), appearance: None, as_of: None, is_export: false };
        let month = CalendarMonth::of(self.clock.now());
        match show::live_fragments(&current.rendered.snapshot, &choices, month) {
            Ok(present) => self.live.publish(key, present),
            Err(error) => tracing::error!(%error, "cannot render an open status page"),
        }
    }

    /// Answers a request for an HTML document.
    async fn screen(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        language: &VisitLanguage,
        screen: PageScreen,
    ) -> HttpResponse {
        let page = &current.rendered.snapshot.page;
        let month = CalendarMonth::of(self.clock.now());
        let appearance = appearance::choice(&visit.query).filter(|_| page.allows_appearance_switch);
        let choices = PageChoices {
            locale: language.locale.clone(),
            appearance,
            as_of: current.as_of.or(visit.exported_at),
            is_export: visit.exported_at.is_some(),
        };
        let scope = match screen {
            PageScreen::Current => {
                let key = part_key(&choices, screen, month);
                let shown = current.rendered.part(key, |snapshot| show::page(snapshot, &choices, month));
                return document(visit, page, language, shown.map(Some));
            }
            PageScreen::Component(id) => {
                let read = self.figures(&current.rendered.snapshot, id).await;
                let mut key = part_key(&choices, screen, month);
                // The figures are not a part of the snapshot.
                let _ = write!(key.name, " {}", read.number);
                let shown = current
                    .rendered
                    .part_if(key, |snapshot| show::component(snapshot, &choices, id, &read.figures));
                return document(visit, page, language, shown);
            }
            PageScreen::Month(month) if !is_shown(page, month, self.clock.now()) => {
                return answer::not_found();
            }
            PageScreen::Month(month) => HistoryScope::Month(month),
            PageScreen::Incident(id) => HistoryScope::Incident(id),
            PageScreen::Maintenance(id) => HistoryScope::Maintenance(id),
        };
        match self.history(visit, scope).await {
            Ok(Some(current)) => {
                let choices = PageChoices { as_of: current.as_of.or(visit.exported_at), ..choices };
                let key = part_key(&choices, screen, month);
                let shown = current.rendered.part_if(key, |history| match screen {
                    PageScreen::Month(shown) => show::month(history, &choices, shown, month).map(Some),
                    _ => show::announcement(history, &choices, screen),
                });
                document(visit, page, language, shown)
            }
            Ok(None) => answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot read the past of a status page");
                answer::unavailable()
            }
        }
    }
}
