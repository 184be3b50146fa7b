//! The HTML documents of a page as representations: their keys in the cache, and their answers.

use std::sync::Arc;

use actix_web::HttpResponse;

use crate::clock::Timestamp;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::answer;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::frame::PageChoices;
use crate::pages::screen::PageScreen;
use crate::pages::snapshot_cache::PartKey;
use crate::pages::visit::{PageVisit, VisitLanguage};
use crate::representation::Representation;

/// Returns true if a page may show the past of a month. Months before its first one are not found.
pub(super) fn is_shown(page: &Statuspage, month: CalendarMonth, now: Timestamp) -> bool {
    page.shows.incident_history && month <= CalendarMonth::of(now)
}

/// Returns the key of an HTML document. `month` is the present month.
pub(super) fn part_key(choices: &PageChoices, screen: PageScreen, month: CalendarMonth) -> PartKey {
    let appearance = choices.appearance.map_or("", PageColorScheme::as_str);
    PartKey {
        name: format!(
            "{} {month} {appearance}{}",
            screen.path(),
            if choices.is_export { " export" } else { "" }
        ),
        locale: choices.locale.clone(),
        as_of: choices.as_of,
    }
}

/// Answers with an HTML document.
pub(super) fn document(
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
