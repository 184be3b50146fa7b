//! Answers requests for JSON documents, feeds, preview images and badges, which may need the past of the page.

use std::sync::Arc;

use actix_web::HttpResponse;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::pages::badge_route::{BadgeKind, BadgePast};
use crate::pages::external_parts::{self, CardRequest};
use crate::pages::feeds::{self, FeedChoices, FeedRoute};
use crate::pages::page_server::PageServer;
use crate::pages::page_texts::PageTexts;
use crate::pages::route::{LocalizedBadge, LocalizedCard};
use crate::pages::snapshot::{HistoryScope, PageSnapshot};
use crate::pages::snapshot_cache::{CurrentSnapshot, PartKey};
use crate::pages::status_json::StatusDocument;
use crate::pages::visit::PageVisit;
use crate::pages::{answer, card_route};

impl PageServer {
    /// Answers a request for a feed.
    pub(super) async fn feed(&self, visit: &PageVisit, feed: FeedRoute, locale: &str) -> HttpResponse {
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

    /// Answers a request for a preview image.
    pub(super) async fn card(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        LocalizedCard { locale, card }: LocalizedCard<'_>,
    ) -> HttpResponse {
        let locale = locale.map_or_else(|| current.rendered.snapshot.languages().default, str::to_owned);
        let request = CardRequest { locale, revision: card.revision, tasks: &self.drawing };
        let Some(scope) = card.subject.scope() else {
            let content = |page: &PageSnapshot, words: &PageTexts| Some(card_route::of_page(page, words));
            return external_parts::card(visit, &current.rendered, &request, content).await;
        };
        match self.history(visit, scope).await {
            Ok(Some(event)) => {
                external_parts::card(visit, &event.rendered, &request, card_route::of_event).await
            }
            Ok(None) => answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot read the past of a status page");
                answer::unavailable()
            }
        }
    }

    /// Answers a request for a JSON document.
    pub(super) async fn status_document(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        document: StatusDocument,
    ) -> HttpResponse {
        // What an export shows may be older than the export.
        let shown_at = |as_of: Option<Timestamp>| visit.exported_at.map(|time| as_of.unwrap_or(time));
        let key = |as_of| PartKey { name: visit.path.clone(), locale: String::new(), as_of };
        let exported_at = shown_at(current.as_of);
        if !document.has_history() {
            return answer::json(
                visit,
                current.rendered.part(key(exported_at), |page| document.of_page(page, exported_at)),
            );
        }
        match self.history(visit, HistoryScope::Latest).await {
            Ok(Some(current)) => {
                let exported_at = shown_at(current.as_of);
                let content = current
                    .rendered
                    .part(key(exported_at), |history| document.of_history(history, exported_at));
                answer::json(visit, content)
            }
            Ok(None) => answer::not_found(),
            Err(error) => {
                tracing::error!(%error, "cannot read the past of a status page");
                answer::unavailable()
            }
        }
    }

    /// Answers a request for a badge.
    pub(super) async fn badge(
        &self,
        visit: &PageVisit,
        current: &CurrentSnapshot<PageSnapshot>,
        request: &LocalizedBadge<'_>,
    ) -> HttpResponse {
        let component = match request.badge.kind {
            BadgeKind::Response => request.badge.component.and_then(|id| id.parse::<Id>().ok()),
            BadgeKind::Status | BadgeKind::Uptime => None,
        };
        let read = match component {
            Some(id) => self.figures(&current.rendered.snapshot, id).await,
            None => Arc::default(),
        };
        let past = BadgePast { now: self.clock.now(), day: read.figures.ranges.first() };
        external_parts::badge(visit, current, request, &past)
    }
}
