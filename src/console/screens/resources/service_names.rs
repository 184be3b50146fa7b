//! Services that are entered by their names.

use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::api_lists::SERVICES;
use crate::console::screens::resources::filled_form::FormProblems;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec};
use crate::console::visit::UserVisit;
use crate::fleet_view::fleet_row::FleetRow;
use crate::http::kit::error::ApiError;
use crate::id::Id;

/// Returns the form with ids in place of the names of services, and the problem of each name that is not that of one
/// service.
pub(in crate::console) async fn with_service_ids(
    visit: &UserVisit,
    fields: &[FieldSpec],
    form: &FormData,
) -> Result<(FormData, FormProblems), ScreenError> {
    let mut problems = FormProblems::default();
    let is_about_services = |spec: &&FieldSpec| {
        matches!(spec.kind, FieldKind::Reference(SERVICES) | FieldKind::References(SERVICES))
    };
    let names: Vec<&str> = fields
        .iter()
        .filter(is_about_services)
        .map(|spec| spec.name)
        .filter(|name| form.has_content(name))
        .collect();
    if names.is_empty() {
        return Ok((form.clone(), problems));
    }
    let fleet = match visit.fleet().await {
        Ok(fleet) => fleet,
        // The API refuses what the user may not see.
        Err(ApiError::Forbidden(_) | ApiError::Confined) => return Ok((form.clone(), problems)),
        Err(error) => return Err(error.into()),
    };
    let entered: Vec<&str> = names.iter().flat_map(|name| lines(form, name)).collect();
    let known = fleet.view.called(&entered, &fleet.visible);
    let mut resolved = form.with_names(|name| (!names.contains(&name)).then(|| name.to_owned()));
    for name in names {
        for entered in lines(form, name) {
            match service_id(&known, entered) {
                Ok(id) => resolved.push(name, &id),
                Err(problem) => problems.add(name, visit.texts.about(problem, entered)),
            }
        }
    }
    Ok((resolved, problems))
}

fn lines<'a>(form: &'a FormData, name: &'a str) -> impl Iterator<Item = &'a str> {
    form.all(name).flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty())
}

/// Returns the id of the service with this id or name, or the name of the text that says why there is none.
fn service_id(known: &[FleetRow], entered: &str) -> Result<String, &'static str> {
    if let Some(own) = known.iter().find(|row| row.id.as_str() == entered) {
        return Ok(own.id.to_string());
    }
    let mut named = known.iter().filter(|row| row.name == entered);
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one.id.to_string()),
        (Some(_), Some(_)) => Err("service-ambiguous"),
        // The list in memory may not have it yet: the API knows.
        (None, _) if entered.parse::<Id>().is_ok() => Ok(entered.to_owned()),
        (None, _) => Err("service-unknown"),
    }
}
