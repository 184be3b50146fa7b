//! Answers requests for the parts of a page that other web sites and programs show: badges, preview images, frames, and the
//! list for search engines; and for style sheets and uploaded files.

use std::convert::Infallible;
use std::sync::Arc;

use actix_web::HttpResponse;

use crate::model::statuspage::word::PageColorScheme;
use crate::pages::badge_route::{BadgeFormat, BadgePast, BadgeQuery};
use crate::pages::card::CardContent;
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::page_texts::PageTexts;
use crate::pages::route::LocalizedBadge;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::snapshot_cache::{CurrentSnapshot, PartKey, RenderedSnapshot};
use crate::pages::stylesheets::{SHARED_STYLE, StyleRequest};
use crate::pages::visit::{PageVisit, VisitLanguage};
use crate::pages::{answer, appearance, embed, sitemap, stylesheets};
use crate::representation::Representation;
use crate::store::{Databases, assets};

/// Answers a request for a badge. A badge with a label of its own is not cached, because any number of labels is possible.
pub(super) fn badge(
    visit: &PageVisit,
    current: &CurrentSnapshot<PageSnapshot>,
    LocalizedBadge { locale, badge }: &LocalizedBadge<'_>,
    past: &BadgePast<'_>,
) -> HttpResponse {
    let (snapshot, query) = (&current.rendered.snapshot, BadgeQuery::read(&visit.query));
    let locale = locale.map_or_else(|| snapshot.languages().default, str::to_owned);
    let Some(image) = badge.badge(snapshot, &locale, &query, past) else { return answer::not_found() };
    let draw = || match badge.format {
        BadgeFormat::Svg => image.to_svg().map_err(anyhow::Error::from),
        BadgeFormat::Shields => image.to_shields().map_err(anyhow::Error::from),
    };
    let content = if query.label.is_some() {
        draw().map(|drawn| Arc::new(Representation::new(drawn)))
    } else {
        let name = format!("{} {:?} {}", visit.path, query.style, image.message);
        current.rendered.part(PartKey { name, locale, as_of: None }, |_| draw())
    };
    match content {
        Ok(content) => answer::badge(visit, &content, badge.format),
        Err(error) => {
            tracing::error!(page = %snapshot.page.id, %error, "cannot draw a badge");
            answer::unavailable()
        }
    }
}

/// Answers a request for a preview image. An earlier address shows the present image, which caches must not store. `content`
/// returns what the image of a snapshot shows in a language.
pub(super) async fn card<S>(
    visit: &PageVisit,
    rendered: &RenderedSnapshot<S>,
    request: &CardRequest<'_>,
    content: impl FnOnce(&S, &PageTexts) -> Option<CardContent>,
) -> HttpResponse {
    let Some(content) = content(&rendered.snapshot, &PageTexts::of(&request.locale)) else {
        return answer::not_found();
    };
    let is_current = request.revision == content.revision();
    let key = PartKey { name: "card".to_owned(), locale: request.locale.clone(), as_of: None };
    if let Some(known) = rendered.known(&key) {
        return answer::image(&known, visit, is_current);
    }
    let drawn = request.tasks.run(
        || rendered.known(&key).map(Ok),
        move || content.to_png().map(|png| Arc::new(Representation::of_image(png))),
    );
    match drawn.await {
        Some(Ok(image)) => answer::image(&rendered.keep(key, image), visit, is_current),
        Some(Err(error)) => {
            tracing::error!(host = ?visit.host, %error, "cannot draw a preview image");
            answer::unavailable()
        }
        None => answer::unavailable(),
    }
}

/// A request for a preview image.
#[derive(Debug)]
pub(super) struct CardRequest<'a> {
    pub(super) locale: String,
    /// The revision in the path.
    pub(super) revision: &'a str,
    /// Draws images.
    pub(super) tasks: &'a HeavyTasks,
}

/// Answers a request for an uploaded file of the page.
pub(super) async fn file(databases: &Databases, snapshot: &PageSnapshot, hash: &str) -> HttpResponse {
    if !snapshot.files.values().any(|known| known == hash) {
        return answer::not_found();
    }
    match assets::find_of_page(databases.main.reader(), snapshot.page.key, hash).await {
        Ok(Some(file)) => answer::upload(file),
        Ok(None) => answer::not_found(),
        Err(error) => {
            tracing::error!(page = %snapshot.page.id, %error, "cannot read a file of a status page");
            answer::unavailable()
        }
    }
}

/// Answers a request for the summary in a frame.
pub(super) fn frame(
    visit: &PageVisit,
    current: &CurrentSnapshot<PageSnapshot>,
    language: &VisitLanguage,
) -> HttpResponse {
    let chosen = appearance::choice(&visit.query);
    let shown_at = visit.exported_at.map(|exported_at| current.as_of.unwrap_or(exported_at));
    let key = PartKey {
        name: format!("embed {}", chosen.map_or("", PageColorScheme::as_str)),
        locale: language.locale.clone(),
        as_of: shown_at,
    };
    let document = |snapshot: &PageSnapshot| embed::document(snapshot, &language.locale, chosen, shown_at);
    match current.rendered.part(key, document) {
        Ok(content) => answer::frame(&content, visit, language),
        Err(error) => {
            tracing::error!(page = %current.rendered.snapshot.page.id, %error, "cannot render a summary for frames");
            answer::unavailable()
        }
    }
}

/// Answers a request for the list of documents. A page that must not be indexed has none.
pub(super) fn sitemap(visit: &PageVisit, current: &CurrentSnapshot<PageSnapshot>) -> HttpResponse {
    if !current.rendered.snapshot.page.seo.indexable {
        return answer::not_found();
    }
    let key = PartKey { name: visit.path.clone(), locale: String::new(), as_of: None };
    let list = |snapshot: &PageSnapshot| Ok(sitemap::write(snapshot).into_bytes());
    match current.rendered.part::<Infallible>(key, list) {
        Ok(content) => answer::sitemap(&content, visit),
        Err(impossible) => match impossible {},
    }
}

/// Answers a request for a style sheet.
pub(super) fn sheet(
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
