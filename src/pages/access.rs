//! Access to pages that not everybody may read: by a password, or by a link that is sent to an e-mail address on a list.
//!
//! A visitor without access gets the same answer for every path of the page. A right password, or a link that is used, is
//! rewarded with a signed cookie; of visitors the server stores only the links that were not used yet.

mod access_form;
mod access_links;
pub(super) mod access_route;
mod form_body;
pub mod page_access;
mod page_pass;
mod password_access;

use actix_web::HttpResponse;
use actix_web::http::Method;

use crate::model::statuspage::word::AccessType;
use crate::pages::access::access_form::to_page;
use crate::pages::access::access_route::AccessRoute;
use crate::pages::access::page_access::PageAccess;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;

impl PageAccess {
    /// Answers a request at a path where visitors prove that they may read the page; `None` if the page has no such proof,
    /// or the method is another one.
    pub(super) async fn receive(
        &self,
        snapshot: &PageSnapshot,
        visit: &PageVisit,
        route: AccessRoute<'_>,
    ) -> Option<HttpResponse> {
        let is_post = visit.method == Method::POST;
        let is_read = visit.method == Method::GET || visit.method == Method::HEAD;
        match (snapshot.page.access_type, route) {
            (AccessType::Password, AccessRoute::Password) if is_post => {
                Some(self.try_password(snapshot, visit).await)
            }
            (AccessType::EmailWhitelist, AccessRoute::Address) if is_post => {
                Some(self.ask_link(snapshot, visit).await)
            }
            // Somebody who has used the link follows it again, or presses its button twice.
            (AccessType::EmailWhitelist, AccessRoute::Link(_))
                if (is_post || is_read) && self.admits(&snapshot.page, visit) =>
            {
                Some(to_page())
            }
            (AccessType::EmailWhitelist, AccessRoute::Link(token)) if is_post => {
                Some(self.use_link(snapshot, visit, token).await)
            }
            (AccessType::EmailWhitelist, AccessRoute::Link(token)) if is_read => {
                Some(self.show_link(snapshot, visit, token).await)
            }
            _ => None,
        }
    }
}
