//! Public status pages: served to visitors without a token, at `{slug}.{statuspage_host}` and at active custom domains.
//!
//! The host of a request decides what is served. The host of a page serves only the page: no API, no metrics. A host that
//! belongs neither to this installation nor to a page serves only the paths of the API, which are available even when the
//! databases are not. Unknown, unpublished and deleted pages get the same plain 404. Everything is rendered on the server,
//! without scripts, once for each change and language ([`snapshot_cache`]). Pages that are not public show nothing.

mod announcement_view;
mod announcements;
mod answer;
mod appearance;
mod bars;
mod calendar_month;
mod component_view;
mod contrast;
mod days_cache;
mod days_view;
mod feeds;
mod frame;
pub mod host_cache;
pub mod live;
mod page_reader;
mod page_texts;
mod response_chart;
mod route;
mod script;
mod series_cache;
mod show;
mod snapshot;
pub mod snapshot_cache;
mod status_json;
mod stylesheets;
mod view;
mod visit;

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, ready};
use tokio::time::Instant;

use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::history_figures::response_series;
use crate::id::Id;
use crate::model::domain_names::DomainNames;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::{AccessType, PageColorScheme};
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::days_cache::DaysCache;
use crate::pages::feeds::{FeedChoices, FeedRoute};
use crate::pages::frame::PageChoices;
use crate::pages::host_cache::{API_PATIENCE, HostCache, HostOwner, VISITOR_PATIENCE};
use crate::pages::live::{LiveKey, LivePages};
use crate::pages::page_reader::PageReader;
use crate::pages::route::{LocalizedFeed, LocalizedRoute, PageRoute, PageScreen};
use crate::pages::script::SCRIPT;
use crate::pages::series_cache::{ReadSeries, SeriesCache};
use crate::pages::snapshot::{HistoryKey, HistoryScope, PageHistory, PageSnapshot};
use crate::pages::snapshot_cache::{CurrentSnapshot, PartKey, SnapshotCache};
use crate::pages::status_json::StatusDocument;
use crate::pages::stylesheets::{SHARED_STYLE, StyleRequest};
use crate::pages::visit::{PageHost, PageVisit, VisitLanguage};
use crate::representation::Representation;
use crate::service_router::ServiceRouter;
use crate::store::statuspages::visitors;
use crate::store::{Databases, MainError};

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
    /// The pages that somebody has open.
    pub live: LivePages,
}

/// Snapshots of the pages that visitors view, with and without their past announcements, and the days of their services.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct PageCaches {
    pages: SnapshotCache<PageHost, PageSnapshot>,
    histories: SnapshotCache<HistoryKey, PageHistory>,
    days: DaysCache,
    series: SeriesCache,
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
        PageReader {
            databases: &self.databases,
            router: &self.router,
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
        match self.history(visit, HistoryScope::Latest).await {
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

    /// Returns the response times of a component that shows its past; none for any other one.
    async fn series(&self, snapshot: &PageSnapshot, id: Id) -> Arc<ReadSeries> {
        let mut with_past = snapshot.components.iter().filter(|one| one.days.is_some());
        let Some(service) =
            with_past.find(|one| one.component.id == id).and_then(|one| one.component.service)
        else {
            return Arc::default();
        };
        let (history, now) = (&self.databases.history, self.clock.now());
        let read = async || response_series::read(history, service, now).await;
        self.cache.series.current(service, read).await
    }

    /// Returns a part of the past of the page; `None` if there is none.
    async fn history(
        &self,
        visit: &PageVisit,
        scope: HistoryScope,
    ) -> Result<Option<CurrentSnapshot<PageHistory>>, MainError> {
        let changes = self.databases.main.own_changes();
        let key = HistoryKey { host: visit.host.clone(), scope };
        let read = async |earlier: Option<&PageHistory>| self.reader().read_history(&key, earlier).await;
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
        let choices = PageChoices { locale: locale.to_owned(), appearance: None, as_of: None };
        let snapshot = &current.rendered.snapshot;
        let Ok(present) = show::live_fragments(snapshot, &choices, month) else {
            return answer::unavailable();
        };
        let key = LiveKey { host: visit.host.clone(), locale: locale.to_owned() };
        self.live
            .listen(key, present)
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
            // Visitors keep what they see: the next load of the page says more.
            Ok(_) => return,
            Err(error) => {
                tracing::debug!(%error, "cannot follow an open status page");
                return;
            }
        };
        let choices = PageChoices { locale: key.locale.clone(), appearance: None, as_of: None };
        let month = CalendarMonth::of(self.clock.now());
        match show::live_fragments(&current.rendered.snapshot, &choices, month) {
            Ok(present) => self.live.publish(key, present),
            Err(error) => tracing::error!(%error, "cannot render an open status page"),
        }
    }

    /// Answers a request for a feed.
    async fn feed(&self, visit: &PageVisit, feed: FeedRoute, locale: &str) -> HttpResponse {
        let current = match self.history(visit, HistoryScope::Latest).await {
            Ok(Some(current)) => current,
            Ok(None) => return answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot read the past of a status page");
                return answer::unavailable();
            }
        };
        let each_update = visit.query.split('&').any(|pair| pair == "each=update");
        let now = self.clock.now();
        // The end of a maintenance with an open end moves every hour.
        let hour = now.ms() / 3_600_000;
        let key = PartKey {
            name: format!("{} {each_update} {hour}", feed.path()),
            locale: locale.to_owned(),
            as_of: None,
        };
        let choices = FeedChoices { locale, each_update, authority: &self.names.pages, now };
        let written = current.rendered.part_if(key, |history| feeds::write(history, feed, &choices));
        match written {
            Ok(Some(content)) => answer::feed(visit, &content, feed.format),
            Ok(None) => answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot write a feed of a status page");
                answer::unavailable()
            }
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
        let choices = PageChoices { locale: language.locale.clone(), appearance, as_of: current.as_of };
        let scope = match screen {
            PageScreen::Current => {
                let key = part_key(&choices, screen, month);
                let shown = current.rendered.part(key, |snapshot| show::page(snapshot, &choices, month));
                return document(visit, page, language, shown.map(Some));
            }
            PageScreen::Component(id) => {
                let series = self.series(&current.rendered.snapshot, id).await;
                let mut key = part_key(&choices, screen, month);
                // The response times are not a part of the snapshot.
                let _ = write!(key.name, " {}", series.number);
                let shown = current
                    .rendered
                    .part_if(key, |snapshot| show::component(snapshot, &choices, id, &series.ranges));
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
                let choices = PageChoices { as_of: current.as_of, ..choices };
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

/// Returns true if a page shows the past of a month.
fn is_shown(page: &Statuspage, month: CalendarMonth, now: Timestamp) -> bool {
    let known = CalendarMonth::of(page.created_at)..=CalendarMonth::of(now);
    page.shows.incident_history && known.contains(&month)
}

/// Returns the key of an HTML document. `month` is the present month.
fn part_key(choices: &PageChoices, screen: PageScreen, month: CalendarMonth) -> PartKey {
    let appearance = choices.appearance.map_or("", PageColorScheme::as_str);
    PartKey {
        name: format!("{} {month} {appearance}", screen.path()),
        locale: choices.locale.clone(),
        as_of: choices.as_of,
    }
}

/// Answers with an HTML document.
fn document(
    visit: &PageVisit,
    page: &Statuspage,
    language: &VisitLanguage,
    shown: Result<Option<Arc<Representation>>, askama::Error>,
) -> HttpResponse {
    match shown {
        Ok(Some(content)) => answer::page(page, &content, visit, language),
        Ok(None) => answer::not_found(),
        Err(error) => {
            tracing::error!(page = %page.id, %error, "cannot render a status page");
            answer::unavailable()
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
