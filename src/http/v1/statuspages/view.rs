//! Status pages as clients see them (contract 4.13.1), in the order of its example.
//!
//! A list shows how many components a page has, a single page shows them, the answer about a file neither. What other tables
//! add is asked once for all pages of a list.

use serde_json::{Value, json};

use crate::http::kit::error::ApiError;
use crate::http::kit::languages::Languages;
use crate::http::v1::components::view::PageComponents;
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::asset_urls::AssetUrls;
use crate::model::access::Organisation;
use crate::model::statuspage::Statuspage;
use crate::store::Connection;
use crate::store::statuspages::shown::{Shown, of_pages};

/// For whom pages are shown.
pub(in crate::http) struct PageView<'a> {
    /// Addresses and the engine.
    pub(in crate::http) state: &'a AppState,
    /// Whose pages.
    pub(in crate::http) organisation: &'a Organisation,
    /// In which language.
    pub(in crate::http) languages: &'a Languages,
}

impl PageView<'_> {
    /// The rows of a list: without `components`.
    ///
    /// # Errors
    /// 503, 500.
    pub(super) async fn rows(
        &self,
        connection: &impl Connection,
        pages: &[Statuspage],
    ) -> Result<Vec<Value>, ApiError> {
        let keys: Vec<i64> = pages.iter().map(|page| page.key).collect();
        let mut shown = of_pages(connection, &keys).await?;
        let row = |page: &Statuspage| {
            let shown = shown.remove(&page.key).unwrap_or_default();
            self.finish(
                page,
                self.page(page, &shown),
                vec![("components_count", json!(shown.components_count))],
            )
        };
        Ok(pages.iter().map(row).collect())
    }

    /// One page with its components.
    ///
    /// # Errors
    /// 503, 500.
    pub(in crate::http) async fn whole(
        &self,
        connection: &impl Connection,
        page: &Statuspage,
    ) -> Result<Value, ApiError> {
        let shown = self.shown(connection, page).await?;
        let components = PageComponents::load(self.state, connection, page).await?;
        let components = components.all(self.languages);
        let further = vec![("components_count", json!(components.len())), ("components", components.into())];
        Ok(self.finish(page, self.page(page, &shown), further))
    }

    /// One page without `components` and `components_count`: the answer about a file (contract 4.16).
    ///
    /// # Errors
    /// 503, 500.
    pub(in crate::http) async fn bare(
        &self,
        connection: &impl Connection,
        page: &Statuspage,
    ) -> Result<Value, ApiError> {
        let shown = self.shown(connection, page).await?;
        Ok(self.finish(page, self.page(page, &shown), Vec::new()))
    }

    async fn shown(&self, connection: &impl Connection, page: &Statuspage) -> Result<Shown, ApiError> {
        let mut shown = of_pages(connection, &[page.key]).await?;
        Ok(shown.remove(&page.key).unwrap_or_default())
    }

    fn page(&self, page: &Statuspage, shown: &Shown) -> Value {
        let files = AssetUrls::of(&self.state.base_url, &shown.files);
        let channels: Vec<&str> = page.subscriber_channels.iter().map(|channel| channel.as_str()).collect();
        json!({
            "id": page.id.as_str(),
            "name": self.languages.text(&page.name),
            "name_translations": page.name.to_json(),
            "slug": page.slug,
            "url": self.url(page, shown),
            "is_published": page.is_published,
            "theme": "default",
            "supported_locales": page.supported_locales,
            "default_locale": page.default_locale,
            "effective_supported_locales": page.effective_locales(self.organisation),
            "effective_default_locale": page.effective_default_locale(self.organisation),
            "primary_color": page.primary_color,
            "secondary_color": page.secondary_color,
            "custom_css": page.custom_css,
            "imprint_url": page.imprint_url,
            "privacy_policy_url": page.privacy_policy_url,
            "show_logo": page.shows.logo,
            "logo_size": page.logo_size.as_str(),
            "show_affected_services": page.shows.affected_services,
            "show_unlinked_services": page.shows.unlinked_services,
            "show_incident_history": page.shows.incident_history,
            "status_json_includes_hidden": page.shows.hidden_in_json,
            "seo": page.seo.to_json(),
            "logo_url": files.logo,
            "logo_dark_url": files.logo_dark,
            "favicon_url": files.favicon,
            "access_type": page.access_type.as_str(),
            "has_password": page.password_hash.is_some(),
            "email_whitelist": page.email_whitelist,
            "appearance": page.appearance.as_str(),
            "allow_appearance_switch": page.allows_appearance_switch,
            "subscriber_channels": channels,
        })
    }

    /// The public address (specification 2.6).
    fn url(&self, page: &Statuspage, shown: &Shown) -> String {
        match &shown.active_hostname {
            Some(hostname) => format!("https://{hostname}"),
            None => self.state.config.statuspage_url(&page.slug),
        }
    }

    /// The object with its last members; the operator's constant ones (contract 1.14) never replace one of ours.
    fn finish(&self, page: &Statuspage, mut object: Value, further: Vec<(&str, Value)>) -> Value {
        for (name, value) in further {
            object[name] = value;
        }
        object["created_at"] = page.created_at.to_string().into();
        object["updated_at"] = page.updated_at.to_string().into();
        if let Value::Object(members) = &mut object {
            for (name, value) in &self.state.config.compat.extra_statuspage_fields {
                members.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        object
    }
}
