//! The preview of a status page in a frame, and its style sheets.

use actix_web::HttpResponse;

use crate::console::answer;
use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::statuspage::Statuspage;
use crate::pages::preview::{PreviewError, PreviewOptions, own_sheet, shared_sheet};
use crate::store::statuspages;

const STYLE_SHEET: &str = "text/css; charset=utf-8";

/// Returns true if the user may see previews. A user who sees only a part of the organisation sees none, because a preview
/// shows the whole page.
pub(super) fn may_see(visit: &UserVisit) -> bool {
    visit.may(Permission::StatuspagesView) && !visit.signed_in.caller.visibility().is_confined()
}

/// Shows the preview of a page, or a style sheet of it.
pub(in crate::console) async fn show(
    visit: &UserVisit,
    id: &str,
    part: &str,
) -> Result<HttpResponse, ScreenError> {
    visit.signed_in.caller.require(Permission::StatuspagesView)?;
    if !may_see(visit) {
        return Err(ApiError::Confined.into());
    }
    let page = find(visit, id).await?;
    let headers = &visit.visit.headers;
    match part {
        "style.css" => Ok(answer::framed_file(shared_sheet(), STYLE_SHEET, headers)),
        "own.css" => Ok(answer::framed_file(&own_sheet(&page), STYLE_SHEET, headers)),
        "" => {
            let options = PreviewOptions {
                languages: visit.visit.header("accept-language"),
                appearance: visit.visit.query.text("appearance").parse().ok(),
                folder: &format!("/console/statuspages/{id}/preview"),
            };
            let html =
                visit.visit.shared.pages.preview(page, options).await.map_err(|error| match error {
                    PreviewError::Store(error) => ScreenError::Api(error.into()),
                    PreviewError::Template(error) => ScreenError::Template(error),
                })?;
            Ok(answer::framed(html.ok_or(ScreenError::Unknown)?, headers))
        }
        _ => Err(ScreenError::Unknown),
    }
}

async fn find(visit: &UserVisit, id: &str) -> Result<Statuspage, ApiError> {
    let id: Id = id.parse().map_err(|_| ApiError::NotFound)?;
    let main = visit.visit.state().databases.main.reader();
    statuspages::find(main, visit.signed_in.caller.visibility(), id).await?.ok_or(ApiError::NotFound)
}
