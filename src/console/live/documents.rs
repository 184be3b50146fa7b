//! Documents for open screens: each is rendered once for all users who see the same, and not again until something changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::body::MessageBody as _;
use actix_web::http::StatusCode;
use tokio::time::Instant;

use crate::console::visit::UserVisit;
use crate::model::access::PermissionSet;
use crate::model::visibility::Visibility;
use crate::representation::Representation;

/// The time after which a document is rendered again although nothing has changed: it says how long something lasts.
const MAX_AGE: Duration = Duration::from_secs(5);
/// Number of documents above which old ones are removed.
const DOCUMENTS_MAX: usize = 256;

/// Everything that decides what a document shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::console) struct DocumentKey {
    visibility: Visibility,
    permissions: PermissionSet,
    locale: &'static str,
    /// The path below `/console`, and the query.
    target: String,
}

/// The latest documents. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::console) struct SharedDocuments {
    places: Arc<Mutex<HashMap<DocumentKey, DocumentPlace>>>,
}

/// The place of a document; who renders it locks the place.
type DocumentPlace = Arc<tokio::sync::Mutex<Option<SharedDocument>>>;

/// A rendered document.
#[derive(Clone, Debug)]
struct SharedDocument {
    content: Arc<Representation>,
    /// The number of the last change when it was rendered.
    change: u64,
    rendered_at: Instant,
}

impl DocumentKey {
    /// The key of the document that a user asks for; `None` if it shows anything of the user.
    pub(in crate::console) fn of(visit: &UserVisit) -> Option<Self> {
        let path = visit.visit.path.as_str();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        let is_shared = match segments.as_slice() {
            [] | ["" | "services" | "incidents" | "locations" | "engine"] => true,
            ["services", id] => *id != "new",
            _ => false,
        };
        let token = &visit.signed_in.caller.token;
        is_shared.then(|| Self {
            visibility: visit.signed_in.caller.visibility(),
            permissions: token.permissions,
            locale: visit.texts.locale(),
            target: format!("{path}?{}", visit.visit.query_text),
        })
    }
}

impl SharedDocuments {
    /// Returns a document that shows at least the change with the number `wanted`. `change` returns the number of the last
    /// change; without one the document is rendered for this request.
    ///
    /// # Errors
    /// What `render` answers instead of a document.
    pub(in crate::console) async fn get(
        &self,
        key: DocumentKey,
        wanted: u64,
        change: impl Fn() -> Option<u64>,
        render: impl AsyncFnOnce() -> HttpResponse,
    ) -> Result<Arc<Representation>, HttpResponse> {
        let wanted = wanted.max(change().unwrap_or_default());
        let place = self.place(key);
        let mut place = place.lock().await;
        let is_good =
            |found: &&SharedDocument| found.change >= wanted && found.rendered_at.elapsed() < MAX_AGE;
        if let Some(found) = place.as_ref().filter(is_good) {
            return Ok(Arc::clone(&found.content));
        }
        let (change, rendered_at) = (change(), Instant::now());
        let response = render().await;
        if response.status() != StatusCode::OK {
            return Err(response);
        }
        let (response, body) = response.into_parts();
        let body = body.try_into_bytes().map_err(|body| response.set_body(body))?;
        let content = Arc::new(Representation::new(body));
        let found =
            change.map(|change| SharedDocument { content: Arc::clone(&content), change, rendered_at });
        *place = found;
        Ok(content)
    }

    fn place(&self, key: DocumentKey) -> DocumentPlace {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= DOCUMENTS_MAX {
            places.retain(|_, place| place.try_lock().map_or(true, |place| !is_old(place.as_ref())));
        }
        Arc::clone(places.entry(key).or_default())
    }
}

fn is_old(document: Option<&SharedDocument>) -> bool {
    document.is_none_or(|document| document.rendered_at.elapsed() >= MAX_AGE)
}
