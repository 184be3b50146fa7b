//! The screens of the console, one folder each, and the paths at which they are.

mod calendar_month;
mod engine;
mod incident;
mod incidents;
mod locations;
mod maintenances;
mod member_figure;
mod message;
mod oncall;
mod overview;
mod resources;
mod sent_messages;
pub(super) mod service;
mod services;
mod settings;
mod statuspage;

use actix_web::HttpResponse;

use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::sessions::SessionKeeper;
use crate::console::visit::UserVisit;
use crate::id::Id;

/// Answers a request of a user; `form` is what was entered.
pub(super) async fn answer(
    sessions: &SessionKeeper,
    visit: &UserVisit,
    form: Option<&FormData>,
) -> Result<HttpResponse, ScreenError> {
    let path = visit.visit.path.clone();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (segments.as_slice(), form) {
        ([] | [""], None) => overview::show(visit).await,
        (["services"], None) => services::show(visit).await,
        (["services"], Some(form)) => services::change(visit, form).await,
        (["services", "new"], form) => service::creation::create(visit, form).await,
        (["services", id], None) => service::show(visit, id).await,
        (["services", id, "edit"], form) => service::editor::edit(visit, id, form).await,
        (["services", id, "what-if"], Some(form)) => service::what_if(visit, id, form).await,
        (["services", id, action], Some(form)) => service::actions::run(visit, id, action, form).await,
        (["services", id, "checks"], None) => service::checks::show(visit, id).await,
        (["incidents"], None) => incidents::show(visit).await,
        (["incidents", "all"], None) => incidents::list::show(visit).await,
        (["incidents", id, "edit"], None) => resources::answer(visit, &["incidents", id], None).await,
        (["incidents", id, action @ ("acknowledge" | "updates" | "resolve")], Some(form)) => {
            incident::actions::run(visit, id, action, form).await
        }
        (["incidents", id], None) if id.parse::<Id>().is_ok() => incident::show(visit, id).await,
        (["maintenances"], None) => maintenances::show(visit).await,
        (["maintenances", "all"], None) => resources::answer(visit, &["maintenances"], None).await,
        (["channels", "messages", id], None) => message::show(visit, id).await,
        (["locations"], None) => locations::show(visit).await,
        (["engine"], None) => engine::show(visit).await,
        (["oncall"], None) => oncall::show(visit).await,
        (["statuspages", id, "edit"], None) => resources::answer(visit, &["statuspages", id], None).await,
        (["statuspages", id, "tree"], Some(form)) => statuspage::tree_form::run(visit, id, form).await,
        (["statuspages", id, "domains"], None) => statuspage::domains::show(visit, id).await,
        (["statuspages", id, "preview"], None) => statuspage::preview::show(visit, id, "").await,
        (["statuspages", id, "preview", part], None) => statuspage::preview::show(visit, id, part).await,
        (["statuspages", id], None) if id.parse::<Id>().is_ok() => statuspage::show(visit, id).await,
        (["settings"], None) => settings::show(visit, None).await,
        (["settings"], Some(form)) => settings::change(sessions, visit, form).await,
        (segments, form) => resources::answer(visit, segments, form).await,
    }
}
