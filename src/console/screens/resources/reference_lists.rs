//! The resources that can be chosen in the fields of a form.

use std::collections::HashMap;

use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::api_lists::SERVICES;
use crate::console::screens::resources::form_field::FormOption;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec};
use crate::console::visit::{UserVisit, VisibleFleet};
use crate::fleet_view::listing::FleetPaging;
use crate::fleet_view::query::{FleetQuery, FleetSort, SortField};
use crate::http::kit::error::ApiError;

/// Number of rows of a list that is read at once.
const PAGE: u64 = 100;
/// Most pages of a list that are read.
const PAGES_MAX: u64 = 10;

/// Most services that are offered; more are entered by name or id.
const SERVICES_MAX: usize = 200;

/// The lists of resources to which the fields of a form refer.
pub(super) struct ReferenceLists {
    lists: Vec<ReferenceList>,
    /// The services, if they are too many to be offered.
    fleet: Option<VisibleFleet>,
}

struct ReferenceList {
    api: &'static str,
    rows: Vec<OfferedResource>,
}

/// A resource that can be chosen.
struct OfferedResource {
    id: String,
    text: String,
}

impl ReferenceLists {
    /// Reads the lists to which these fields refer; those that the user may not see are empty.
    pub(super) async fn read(visit: &UserVisit, fields: &[&FieldSpec]) -> Result<Self, ScreenError> {
        let mut names = Vec::new();
        fields.iter().for_each(|spec| collect(spec, &mut names));
        let mut found = Self { lists: Vec::with_capacity(names.len()), fleet: None };
        for api in names {
            let rows =
                if api == SERVICES { found.services(visit).await? } else { rows_of(visit, api).await? };
            found.lists.push(ReferenceList { api, rows });
        }
        Ok(found)
    }

    /// Returns the services to offer; none, and the fleet is kept, if there are too many.
    async fn services(&mut self, visit: &UserVisit) -> Result<Vec<OfferedResource>, ScreenError> {
        let fleet = match visit.fleet().await {
            Ok(fleet) => fleet,
            Err(ApiError::Forbidden(_) | ApiError::Confined) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let paging = FleetPaging { after: None, limit: SERVICES_MAX };
        let query = FleetQuery {
            sort: FleetSort { field: SortField::Name, is_descending: false },
            ..FleetQuery::default()
        };
        let page = fleet.view.search(&query, &fleet.visible, &paging, fleet.now);
        if page.total > SERVICES_MAX {
            self.fleet = Some(fleet);
            return Ok(Vec::new());
        }
        Ok(page
            .rows
            .into_iter()
            .map(|row| OfferedResource { id: row.id.to_string(), text: row.name })
            .collect())
    }

    /// Returns what stands for these services in a line, if there are too many services to offer them: the name, or the id
    /// of one whose name others have as well.
    pub(super) fn written(&self, api: &str, values: &[String]) -> Option<Vec<String>> {
        let fleet = self.fleet.as_ref().filter(|_| api == SERVICES)?;
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        let chosen = fleet.view.called(&texts, &fleet.visible);
        let names: Vec<&str> = chosen.iter().map(|row| row.name.as_str()).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for row in fleet.view.called(&names, &fleet.visible) {
            *counts.entry(row.name).or_default() += 1;
        }
        let name_of: HashMap<&str, &str> =
            chosen.iter().map(|row| (row.id.as_str(), row.name.as_str())).collect();
        let written = |value: &String| match name_of.get(value.as_str()) {
            Some(name) if counts.get(*name) == Some(&1) => (*name).to_owned(),
            _ => value.clone(),
        };
        Some(values.iter().map(written).collect())
    }

    /// Returns the resources of a list as options. Those that are chosen are there even if the list does not have them.
    pub(super) fn options(&self, api: &str, chosen: &[String]) -> Vec<FormOption> {
        let rows = self.lists.iter().find(|list| list.api == api).map(|list| list.rows.as_slice());
        let rows = rows.unwrap_or_default();
        let mut options: Vec<FormOption> = rows
            .iter()
            .map(|row| FormOption {
                value: row.id.clone(),
                text: row.text.clone(),
                is_chosen: chosen.contains(&row.id),
            })
            .collect();
        for id in chosen {
            if options.iter().all(|option| option.value != *id) {
                options.push(FormOption { value: id.clone(), text: id.clone(), is_chosen: true });
            }
        }
        options
    }
}

fn collect(spec: &FieldSpec, names: &mut Vec<&'static str>) {
    if let FieldKind::Reference(api) | FieldKind::References(api) | FieldKind::Order(api) = spec.kind
        && !names.contains(&api)
    {
        names.push(api);
    }
    spec.inner().iter().for_each(|inner| collect(inner, names));
}

async fn rows_of(visit: &UserVisit, api: &str) -> Result<Vec<OfferedResource>, ScreenError> {
    let mut found = Vec::new();
    for page in 1..=PAGES_MAX {
        let body = match visit.get(&format!("{api}?per_page={PAGE}&page={page}")).await {
            Ok(body) => body,
            Err(ApiError::Forbidden(_) | ApiError::Confined) => break,
            Err(error) => return Err(error.into()),
        };
        for row in body["data"].as_array().into_iter().flatten() {
            // A location has a code in place of an id.
            let id = row["id"].as_str().or_else(|| row["code"].as_str()).unwrap_or_default().to_owned();
            let text = ["name", "label"].iter().find_map(|name| row[*name].as_str());
            found.push(OfferedResource { text: text.unwrap_or(&id).to_owned(), id });
        }
        if body["meta"]["last_page"].as_u64().is_none_or(|last| last <= page) {
            break;
        }
    }
    Ok(found)
}
