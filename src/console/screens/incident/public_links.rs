//! Links to an incident on the status pages that show it.

use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::incident::WholeIncident;
use crate::store::statuspages::visitors;
use crate::store::subscriber_facts::pages::pages_showing;

/// Number of pages to which links are shown.
const PAGES: usize = 5;

/// A link to an incident on a status page.
pub(super) struct PublicLink {
    pub(super) address: String,
    /// Name of the page.
    pub(super) page: String,
}

/// Returns links to a published incident on the published pages that show it and that the user may see.
///
/// # Errors
/// When a database fails.
pub(super) async fn read(visit: &UserVisit, whole: &WholeIncident) -> Result<Vec<PublicLink>, ApiError> {
    if !whole.incident.is_published {
        return Ok(Vec::new());
    }
    let main = visit.visit.state().databases.main.reader();
    let chosen: Vec<i64> = whole.statuspages.iter().map(|page| page.key).collect();
    let services: Vec<_> = whole.services.iter().map(|affected| affected.service).collect();
    let mut links = Vec::new();
    for key in pages_showing(main, &chosen, &services).await? {
        let page = visitors::by_key(main, key).await?.filter(|page| page.is_published);
        let Some(page) = page else { continue };
        match visit.get(&format!("/v1/statuspages/{}", page.id)).await {
            Ok(body) => links.push(PublicLink {
                address: format!(
                    "{}/incidents/{}",
                    body["data"]["url"].as_str().unwrap_or_default(),
                    whole.incident.id
                ),
                page: body["data"]["name"].as_str().unwrap_or_default().to_owned(),
            }),
            Err(ApiError::Forbidden(_) | ApiError::NotFound) => {}
            Err(error) => return Err(error),
        }
        if links.len() == PAGES {
            break;
        }
    }
    Ok(links)
}
