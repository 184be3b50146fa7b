//! The parts of a page that this process renders, of a server that does not run.

use actix_web::HttpResponse;
use actix_web::body::to_bytes;
use actix_web::http::header;

use crate::clock::Timestamp;
use crate::pages::answer;
use crate::pages::export::part_source::{PartSource, ServedPart};
use crate::pages::page_server::PageServer;
use crate::pages::route::PageRoute;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;

/// Renders the parts of one page.
pub struct LocalParts {
    /// Renders as for visitors.
    pub server: PageServer,
    /// The name of the page in its address.
    pub slug: String,
    /// The time that the parts show.
    pub exported_at: Timestamp,
}

impl PartSource for LocalParts {
    async fn part(&self, target: &str) -> Result<ServedPart, String> {
        let visit = PageVisit::of_export(&self.slug, target, self.exported_at);
        let answer = self.server.answer_export(&visit).await.map_err(|error| error.to_string())?;
        ServedPart::read(answer).await
    }
}

impl PageServer {
    /// Answers a request of an export, which may read every published page.
    async fn answer_export(&self, visit: &PageVisit) -> Result<HttpResponse, crate::store::MainError> {
        let changes = self.databases.main.own_changes();
        let now = || self.clock.now();
        let read = async |earlier: Option<&PageSnapshot>| self.reader().read(&visit.host, earlier).await;
        let Some(current) = self.cache.pages.current(&visit.host, changes, now, read).await? else {
            return Ok(answer::not_found());
        };
        let languages = current.rendered.snapshot.languages();
        Ok(self.open(visit, &current, PageRoute::read(&visit.path, &languages)).await)
    }
}

impl ServedPart {
    async fn read(answer: HttpResponse) -> Result<Self, String> {
        let text = |name: header::HeaderName| {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (content_type, policy) = (text(header::CONTENT_TYPE), text(header::CONTENT_SECURITY_POLICY));
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body()).await.map_err(|error| error.to_string())?;
        Ok(Self { status, content_type, policy, body })
    }
}
