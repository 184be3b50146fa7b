//! The resources that can be chosen in the fields of a form.

use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::form_field::FormOption;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;

/// Number of rows of a list that is read at once.
const PAGE: u64 = 100;
/// Most pages of a list that are read.
const PAGES_MAX: u64 = 10;

/// The lists of resources to which the fields of a form refer.
pub(super) struct ReferenceLists(Vec<ReferenceList>);

struct ReferenceList {
    api: &'static str,
    rows: Vec<ReferenceRow>,
}

/// A resource that can be chosen.
struct ReferenceRow {
    id: String,
    text: String,
}

impl ReferenceLists {
    /// Reads the lists to which these fields refer; those that the user may not see are empty.
    pub(super) async fn read(visit: &UserVisit, fields: &[&FieldSpec]) -> Result<Self, ScreenError> {
        let mut names = Vec::new();
        fields.iter().for_each(|spec| collect(spec, &mut names));
        let mut lists = Vec::with_capacity(names.len());
        for api in names {
            lists.push(ReferenceList { api, rows: rows_of(visit, api).await? });
        }
        Ok(Self(lists))
    }

    /// Returns the resources of a list as options. Those that are chosen are there even if the list does not have them.
    pub(super) fn options(&self, api: &str, chosen: &[String]) -> Vec<FormOption> {
        let rows = self.0.iter().find(|list| list.api == api).map(|list| list.rows.as_slice());
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

async fn rows_of(visit: &UserVisit, api: &str) -> Result<Vec<ReferenceRow>, ScreenError> {
    let mut found = Vec::new();
    for page in 1..=PAGES_MAX {
        let body = match visit.get(&format!("{api}?per_page={PAGE}&page={page}")).await {
            Ok(body) => body,
            Err(ApiError::Forbidden(_) | ApiError::Confined) => break,
            Err(error) => return Err(error.into()),
        };
        for row in body["data"].as_array().into_iter().flatten() {
            let id = row["id"].as_str().unwrap_or_default().to_owned();
            let text = ["name", "label"].iter().find_map(|name| row[*name].as_str());
            found.push(ReferenceRow { text: text.unwrap_or(&id).to_owned(), id });
        }
        if body["meta"]["last_page"].as_u64().is_none_or(|last| last <= page) {
            break;
        }
    }
    Ok(found)
}
