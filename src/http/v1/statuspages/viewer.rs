//! Builds the JSON of status pages. Data of other tables is queried once for all pages of a list.

use serde::Serialize;
use serde_json::Value;

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::view::to_json;
use crate::http::v1::components::page_components::PageComponents;
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::asset_urls::AssetUrls;
use crate::http::v1::statuspages::view::{
    StatuspageBodyView, StatuspageDetails, StatuspageFilesView, StatuspageRowView, StatuspageView,
};
use crate::model::statuspage::Statuspage;
use crate::store::StoreConnection;
use crate::store::statuspages::page_extras::{PageExtras, of_pages};

/// Builds the JSON of status pages for one caller.
pub(in crate::http) struct PageViewer<'a> {
    /// Application state, for URLs and the engine.
    pub(in crate::http) state: &'a AppState,
    pub(in crate::http) caller: &'a Caller,
    /// The language of the response.
    pub(in crate::http) languages: &'a AnswerLanguage,
}

impl PageViewer<'_> {
    /// Returns the pages of a list, without `components`.
    pub(super) async fn rows(
        &self,
        connection: &dyn StoreConnection,
        pages: &[Statuspage],
    ) -> Result<Vec<Value>, ApiError> {
        let keys: Vec<i64> = pages.iter().map(|page| page.key).collect();
        let mut shown = of_pages(connection, self.caller.visibility(), &keys).await?;
        let row = |page: &Statuspage| {
            let shown = shown.remove(&page.key).unwrap_or_default();
            let components_count = shown.components_count;
            self.finish(&StatuspageRowView {
                page: self.page(page, shown),
                components_count,
                created_at: page.created_at,
                updated_at: page.updated_at,
            })
        };
        Ok(pages.iter().map(row).collect())
    }

    /// Returns one page with its components.
    pub(in crate::http) async fn whole(
        &self,
        connection: &dyn StoreConnection,
        page: &Statuspage,
    ) -> Result<Value, ApiError> {
        let shown = self.shown(connection, page).await?;
        let components = PageComponents::load(self.state, connection, self.caller.visibility(), page).await?;
        let components = components.all(self.languages);
        Ok(self.finish(&StatuspageView {
            page: self.page(page, shown),
            components_count: components.len(),
            components,
            created_at: page.created_at,
            updated_at: page.updated_at,
        }))
    }

    /// Returns one page without `components` and `components_count`, for the response about a file (contract 4.16).
    pub(in crate::http) async fn bare(
        &self,
        connection: &dyn StoreConnection,
        page: &Statuspage,
    ) -> Result<Value, ApiError> {
        let shown = self.shown(connection, page).await?;
        Ok(self.finish(&StatuspageFilesView {
            page: self.page(page, shown),
            created_at: page.created_at,
            updated_at: page.updated_at,
        }))
    }

    async fn shown(
        &self,
        connection: &dyn StoreConnection,
        page: &Statuspage,
    ) -> Result<PageExtras, ApiError> {
        let mut shown = of_pages(connection, self.caller.visibility(), &[page.key]).await?;
        Ok(shown.remove(&page.key).unwrap_or_default())
    }

    fn page<'p>(&'p self, page: &'p Statuspage, shown: PageExtras) -> StatuspageBodyView<'p> {
        let beside = StatuspageDetails {
            files: AssetUrls::of(&self.state.base_url, &shown.files),
            url: self.url(page, shown.active_hostname),
        };
        StatuspageBodyView::of(page, beside, &self.caller.organisation, self.languages)
    }

    /// Returns the public URL of a page (specification 2.6).
    fn url(&self, page: &Statuspage, active_hostname: Option<String>) -> String {
        match active_hostname {
            Some(hostname) => format!("https://{hostname}"),
            None => self.state.config.statuspage_url(&page.slug),
        }
    }

    /// Returns the JSON with the operator's constant members (contract 1.14), which never replace a regular member.
    fn finish(&self, view: &impl Serialize) -> Value {
        let mut shown = to_json(view);
        if let Value::Object(members) = &mut shown {
            for (name, value) in &self.state.config.compat.extra_statuspage_fields {
                members.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        shown
    }
}
