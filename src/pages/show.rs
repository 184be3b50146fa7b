//! From a stored page to what visitors see of it: everything is read from the database and the engine, once a request.

use std::collections::HashMap;
use std::fmt::Write as _;

use actix_web::HttpResponse;
use askama::Template as _;

use crate::model::access::Organisation;
use crate::model::asset::AssetKind;
use crate::model::language::choose;
use crate::model::statuspage::Statuspage;
use crate::pages::view::{Announcement, Head, Moment, PageView, Part, Reader, Update, paragraphs};
use crate::pages::visit::Visit;
use crate::pages::words::Words;
use crate::pages::{Pages, answer};
use crate::store::announcements::{self, Announced, Announcer};
use crate::store::{StoreError, assets, organisations};

/// Whether a page looks other than all others.
pub(super) const fn has_own_style(page: &Statuspage) -> bool {
    page.custom_css.is_some() || page.primary_color.is_some() || page.secondary_color.is_some()
}

/// The colours and the style sheet of one page.
pub(super) fn own_style(page: &Statuspage) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(colour) = &page.primary_color {
        let _ = writeln!(text, ":root {{ --accent: {colour}; }}\nbody {{ border-top: .35rem solid {colour}; }}");
    }
    if let Some(colour) = &page.secondary_color {
        let _ = writeln!(text, "h2 {{ border-bottom: .2rem solid {colour}; padding-bottom: .25rem; }}");
    }
    text + page.custom_css.as_deref().unwrap_or_default()
}

impl Pages {
    /// The page in the language of the visitor.
    pub(super) async fn show(&self, visit: &Visit, page: &Statuspage) -> Result<HttpResponse, StoreError> {
        let main = self.databases.main.reader();
        let Some(organisation) = organisations::get(main, page.organisation).await? else {
            return Ok(answer::not_found());
        };
        let default = page.effective_default_locale(&organisation);
        let locales = page.effective_locales(&organisation);
        let chosen = choose(&visit.accept_language, &locales, &default).unwrap_or_else(|| default.clone());
        let reader = Reader { chosen: &chosen, default: &default, words: Words::of(&chosen) };
        let view = self.view(&reader, page, &organisation).await?;
        let html = view.render().unwrap_or_else(|error| {
            tracing::error!(%error, "a template failed");
            String::new()
        });
        Ok(answer::page(html, &chosen, has_own_style(page), page.seo.indexable))
    }
}
