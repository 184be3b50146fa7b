//! A status page: the tree of its components as an editor, a preview, its domains and its subscribers.

pub(in crate::console) mod domains;
pub(in crate::console) mod preview;
mod tree;
pub(in crate::console) mod tree_form;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::statuspage::tree::{ComponentOutline, TreeMove};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::statuspage::word::PageColorScheme;

/// Number of services that a new component can show.
const SERVICES: usize = 100;

#[derive(Template)]
#[template(path = "screens/statuspage/statuspage.html")]
struct StatuspageDocument {
    frame: ConsoleFrame,
    id: String,
    url: String,
    is_published: bool,
    rows: Vec<TreeRow>,
    /// Reason for which the last change was refused.
    problem: Option<String>,
    groups: Vec<TreeOption>,
    services: Vec<TreeOption>,
    /// Makes a form that is sent twice have no second effect.
    key: String,
    preview: Option<PreviewFrame>,
    /// Number of subscribers; `None` if the user may not see them.
    subscribers: Option<u64>,
    may: PageActions,
}

/// Actions on a status page that are offered to the user.
struct PageActions {
    edit: bool,
    publish: bool,
    delete: bool,
}

/// A line of the tree.
struct TreeRow {
    id: String,
    name: String,
    /// Number of groups around it.
    level: usize,
    is_group: bool,
    is_hidden: bool,
    is_managed: bool,
    service: String,
    tone: String,
    status: String,
    moves: Vec<MoveButton>,
    /// True if the field for the name has the focus at first.
    is_renamed: bool,
}

/// A button that moves a component.
struct MoveButton {
    word: &'static str,
    sign: &'static str,
    /// Says what the button moves, and to where.
    text: String,
    is_possible: bool,
    /// True if the button has the focus at first, so that a component can be moved on.
    has_focus: bool,
}

/// A choice of the form for a new component.
struct TreeOption {
    id: String,
    name: String,
}

/// The preview with its choices.
struct PreviewFrame {
    address: String,
    is_narrow: bool,
    choices: Vec<PreviewChoice>,
}

/// A link that changes the preview.
struct PreviewChoice {
    address: String,
    text: String,
    is_current: bool,
}

/// Shows a status page.
pub(super) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    render(visit, id, None).await
}

/// Shows a status page, with the reason if a change was refused.
async fn render(visit: &UserVisit, id: &str, problem: Option<String>) -> Result<HttpResponse, ScreenError> {
    let page = visit.get(&format!("/v1/statuspages/{id}")).await?["data"].take();
    let may_edit = visit.may(Permission::StatuspagesEdit);
    let rows = tree_rows(visit, &page["components"]);
    let groups = rows.iter().filter(|row| row.is_group);
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let document = StatuspageDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Statuspages, text(&page["name"])),
        url: text(&page["url"]),
        is_published: page["is_published"] == true,
        groups: groups.map(|row| TreeOption { id: row.id.clone(), name: row.name.clone() }).collect(),
        services: if may_edit { services(visit).await? } else { Vec::new() },
        key: Id::random().to_string(),
        preview: preview::may_see(visit).then(|| PreviewFrame::of(visit, id)),
        subscribers: subscribers(visit, id).await?,
        may: PageActions {
            edit: may_edit,
            publish: visit.may(Permission::StatuspagesPublish),
            delete: visit.may(Permission::StatuspagesDelete),
        },
        id: id.to_owned(),
        rows,
        problem,
    };
    Ok(answer::document(status, document.render()?, &visit.visit.headers))
}

/// Returns the lines of the tree. The query says which component was changed last, and how.
fn tree_rows(visit: &UserVisit, components: &Value) -> Vec<TreeRow> {
    let outline = ComponentOutline::of(components);
    let query = &visit.visit.query;
    let (changed, by) = (query.text("at"), query.text("by"));
    let row = |component: &Value| {
        let (id, name) = (text(&component["id"]), text(&component["name"]));
        let status = component["effective_status"].as_str();
        let is_changed = id == changed;
        let buttons = TreeMove::ALL.map(|direction| MoveButton {
            word: direction.word(),
            sign: sign(direction),
            text: visit.texts.about(&format!("move-{}", direction.word()), &name),
            is_possible: outline.moved(&id, direction).is_some(),
            has_focus: is_changed && by == direction.word(),
        });
        TreeRow {
            level: outline.level(&id),
            is_group: component["is_group"] == true,
            is_hidden: status.is_none(),
            is_managed: component["is_sync_managed"] == true,
            service: text(&component["service"]["name"]),
            tone: status.unwrap_or_default().to_owned(),
            status: status.map(|status| visit.texts.text(&format!("part-{status}"))).unwrap_or_default(),
            moves: with_focus(buttons.into()),
            is_renamed: is_changed && TreeMove::parse(by).is_none(),
            id,
            name,
        }
    };
    components.as_array().into_iter().flatten().map(row).collect()
}

/// Gives the focus of a button that is of no more use to another one.
fn with_focus(mut buttons: Vec<MoveButton>) -> Vec<MoveButton> {
    if buttons.iter().any(|button| button.has_focus && !button.is_possible) {
        let possible = buttons.iter().position(|button| button.is_possible);
        for (place, button) in buttons.iter_mut().enumerate() {
            button.has_focus = Some(place) == possible;
        }
    }
    buttons
}

const fn sign(direction: TreeMove) -> &'static str {
    match direction {
        TreeMove::Up => "↑",
        TreeMove::Down => "↓",
        TreeMove::Outdent => "←",
        TreeMove::Indent => "→",
    }
}

/// Returns the first services of the organisation; none if the user may not see services.
async fn services(visit: &UserVisit) -> Result<Vec<TreeOption>, ScreenError> {
    let body = match visit.get(&format!("/v1/services?per_page={SERVICES}")).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let option = |service: &Value| TreeOption { id: text(&service["id"]), name: text(&service["name"]) };
    Ok(body["data"].as_array().into_iter().flatten().map(option).collect())
}

async fn subscribers(visit: &UserVisit, id: &str) -> Result<Option<u64>, ScreenError> {
    match visit.get(&format!("/v1/statuspages/{id}/subscribers?per_page=1")).await {
        Ok(body) => Ok(body["meta"]["total"].as_u64()),
        Err(ApiError::Forbidden(_) | ApiError::Confined) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl PreviewFrame {
    fn of(visit: &UserVisit, id: &str) -> Self {
        let query = &visit.visit.query;
        let chosen = query.text("appearance").parse().unwrap_or(PageColorScheme::System);
        let is_narrow = query.text("width") == "phone";
        let address = |scheme: PageColorScheme, is_narrow: bool| {
            let width = if is_narrow { "&width=phone" } else { "" };
            format!("/console/statuspages/{id}?appearance={}{width}#preview", scheme.as_str())
        };
        let schemes = [PageColorScheme::System, PageColorScheme::Light, PageColorScheme::Dark];
        let choice = |scheme: PageColorScheme| PreviewChoice {
            address: address(scheme, is_narrow),
            text: visit.texts.text(&format!("preview-{}", scheme.as_str())),
            is_current: scheme == chosen,
        };
        let width = |is_phone: bool, name: &str| PreviewChoice {
            address: address(chosen, is_phone),
            text: visit.texts.text(name),
            is_current: is_phone == is_narrow,
        };
        let widths = [width(false, "preview-wide"), width(true, "preview-phone")];
        Self {
            address: format!("/console/statuspages/{id}/preview?appearance={}", chosen.as_str()),
            is_narrow,
            choices: schemes.map(choice).into_iter().chain(widths).collect(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
