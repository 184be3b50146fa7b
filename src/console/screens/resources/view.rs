//! What the documents of a resource show.

use askama::Template;
use serde_json::Value;

use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::changes::changes_of;
use crate::console::screens::resources::drawn_secret::DrawnSecret;
use crate::console::screens::resources::field_texts::label_of;
use crate::console::screens::resources::filled_form::FilledForm;
use crate::console::screens::resources::form_builder::{FormView, build_form};
use crate::console::screens::resources::form_field::ConsoleField;
use crate::console::screens::resources::shown_value::shown_value;
use crate::console::screens::resources::spec::{ActionSpec, FieldTime, ResourceSpec};
use crate::console::screens::resources::stored_form::at_path;
use crate::console::screens::resources::table::RESOURCES;
use crate::console::visit::UserVisit;

/// A list of resources.
#[derive(Template)]
#[template(path = "screens/resources/list.html")]
pub(super) struct ListDocument {
    pub(super) frame: ConsoleFrame,
    pub(super) screen: String,
    /// The lists of the same section.
    pub(super) lists: Vec<ListLink>,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<ListRow>,
    pub(super) pages: PageLinks,
    pub(super) may_create: bool,
    /// Words of the link to the form for a new one.
    pub(super) new: String,
    /// What an empty list would hold.
    pub(super) empty: String,
}

/// A row of a list.
pub(super) struct ListRow {
    pub(super) link: String,
    pub(super) name: String,
    pub(super) cells: Vec<String>,
}

/// A link to a list.
pub(in crate::console) struct ListLink {
    pub(in crate::console) path: String,
    pub(in crate::console) text: String,
    pub(in crate::console) is_current: bool,
}

/// The pages of a list.
pub(super) struct PageLinks {
    /// Number of rows of all pages, if the API counts them.
    pub(super) total: Option<u64>,
    pub(super) previous: Option<u64>,
    pub(super) next: Option<u64>,
}

/// A resource, or the form for a new one.
#[derive(Template)]
#[template(path = "screens/resources/resource.html")]
pub(super) struct ResourceDocument {
    pub(super) frame: ConsoleFrame,
    pub(super) screen: String,
    pub(super) form: Option<FormView>,
    /// Why an action was refused, where there is no form to say so.
    pub(super) problem: Option<String>,
    /// Where the form is sent.
    pub(super) action: String,
    /// Makes a form that is sent twice have no second effect.
    pub(super) key: String,
    /// The secret of the new resource, unless another one is entered.
    pub(super) drawn_secret: Option<DrawnSecret>,
    pub(super) facts: Vec<FactRow>,
    pub(super) actions: Vec<ActionView>,
    pub(super) lists: Vec<ListLink>,
    /// Entries of the audit log.
    pub(super) changes: Vec<String>,
    pub(super) delete: Option<String>,
}

/// Values that are shown once: secrets, or the outcome of a test.
#[derive(Template)]
#[template(path = "screens/resources/once.html")]
pub(super) struct SecretDocument {
    pub(super) frame: ConsoleFrame,
    pub(super) words: String,
    pub(super) values: Vec<FactRow>,
    pub(super) back: String,
}

/// The question before something is deleted.
#[derive(Template)]
#[template(path = "screens/resources/confirm.html")]
pub(super) struct ConfirmDocument {
    pub(super) frame: ConsoleFrame,
    pub(super) question: String,
    pub(super) action: String,
    pub(super) back: String,
}

/// The kinds of which one is chosen before the form of a new resource is shown.
#[derive(Template)]
#[template(path = "screens/resources/kinds.html")]
pub(super) struct KindsDocument {
    pub(super) frame: ConsoleFrame,
    pub(super) screen: String,
    pub(super) kinds: Vec<KindRow>,
}

/// A kind that can be chosen.
pub(super) struct KindRow {
    pub(super) link: String,
    pub(super) name: String,
    pub(super) about: String,
}

/// A value with its name.
pub(super) struct FactRow {
    pub(super) name: String,
    pub(super) value: String,
}

/// An action on a resource, with its form.
pub(super) struct ActionView {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) fields: Vec<ConsoleField>,
}

/// Shows resources of a kind.
pub(super) struct ResourceViewer<'a> {
    pub(super) visit: &'a UserVisit,
    pub(super) spec: &'static ResourceSpec,
    /// Path of the list.
    pub(super) screen: String,
}

impl ResourceViewer<'_> {
    pub(super) fn columns(&self) -> Vec<String> {
        self.spec.columns.iter().map(|path| label_of(self.visit.texts, path)).collect()
    }

    pub(super) fn rows(&self, data: &Value) -> Vec<ListRow> {
        let rows = data.as_array().map(Vec::as_slice).unwrap_or_default();
        rows.iter().map(|row| self.row(row)).collect()
    }

    fn row(&self, row: &Value) -> ListRow {
        let mut cells = self.spec.columns.iter().map(|path| self.cell(row, path));
        let name = cells.next().filter(|name| !name.is_empty()).unwrap_or_else(|| "–".to_owned());
        let link = format!("/console{}/{}", self.screen, row["id"].as_str().unwrap_or_default());
        ListRow { link, name, cells: cells.collect() }
    }

    /// Returns the value at a path as a person reads it.
    fn cell(&self, view: &Value, path: &str) -> String {
        shown_value(self.visit.texts, path, at_path(view, path))
    }

    pub(super) fn pages(&self, meta: &Value) -> PageLinks {
        let number = |name: &str| meta[name].as_u64().unwrap_or(1);
        let (current, last) = (number("current_page"), number("last_page"));
        PageLinks {
            total: meta["total"].as_u64(),
            previous: (current > 1).then(|| current - 1),
            next: (current < last).then(|| current + 1),
        }
    }

    pub(super) fn title_of(&self, view: &Value) -> String {
        let name = self.cell(view, self.spec.columns.first().copied().unwrap_or("name"));
        if name.is_empty() { self.visit.texts.text(&format!("title-{}", self.spec.name)) } else { name }
    }

    /// Returns the plain values of a resource.
    pub(super) fn facts(&self, view: &Value) -> Vec<FactRow> {
        let members = view.as_object().into_iter().flatten();
        let shown = members.filter(|(name, value)| !value.is_null() && name.as_str() != "id");
        shown
            .map(|(name, value)| FactRow {
                name: label_of(self.visit.texts, name),
                value: shown_value(self.visit.texts, name, value),
            })
            .filter(|fact| !fact.value.is_empty())
            .collect()
    }

    /// Returns the values that are shown once.
    pub(super) fn secrets(&self, view: &Value, names: &[&str]) -> Vec<FactRow> {
        let shown = names.iter().filter_map(|name| Some((name, view[*name].as_str()?)));
        let row = |(name, value): (&&str, &str)| FactRow {
            name: label_of(self.visit.texts, name),
            value: value.to_owned(),
        };
        shown.map(row).collect()
    }

    /// Returns the actions that the user may run and that apply to the stored resource.
    pub(super) async fn actions(&self, id: &str, stored: &Value) -> Result<Vec<ActionView>, ScreenError> {
        let mut views = Vec::new();
        let offered = |action: &&ActionSpec| self.visit.may(action.permission) && action.applies_to(stored);
        for action in self.spec.actions.iter().filter(offered) {
            let empty = FilledForm::default();
            let form = build_form(self.visit, action.fields, &empty, FieldTime::Creation).await?;
            views.push(ActionView {
                path: format!("/console{}/{id}/{}", self.screen, action.name),
                text: self.visit.texts.text(&format!("action-{}", action.name)),
                fields: form.fields,
            });
        }
        Ok(views)
    }

    pub(super) fn inner_lists(&self, id: &str) -> Vec<ListLink> {
        let link = |name: &&str| ListLink {
            path: format!("/console{}/{id}/{name}", self.screen),
            text: self.visit.texts.text(&format!("title-{name}")),
            is_current: false,
        };
        self.spec.lists.iter().map(link).collect()
    }

    /// Returns the newest entries of the audit log about a resource, if the user may see them.
    pub(super) async fn changes(&self, id: &str) -> Result<Vec<String>, ScreenError> {
        changes_of(self.visit, id).await
    }

    pub(super) fn confirmation(&self, frame: ConsoleFrame, view: &Value, id: &str) -> ConfirmDocument {
        ConfirmDocument {
            question: self.visit.texts.about("delete-question", &self.title_of(view)),
            action: format!("/console{}/{id}/delete", self.screen),
            back: format!("/console{}/{id}", self.screen),
            frame,
        }
    }
}

/// Returns links to the lists of a section that the user may see, if there are several; `current` is the path of the shown one
/// below `/console`.
pub(in crate::console) fn lists_of(
    visit: &UserVisit,
    section: ConsoleSection,
    current: &str,
) -> Vec<ListLink> {
    let same = RESOURCES
        .iter()
        .filter(|spec| spec.section == section && !spec.screen.contains('{') && visit.may(spec.view));
    let link = |path: String, name: &str| ListLink {
        is_current: path == current,
        path: format!("/console{path}"),
        text: visit.texts.text(name),
    };
    let mut links = Vec::new();
    if section == ConsoleSection::Settings {
        links.push(link("/settings".to_owned(), "profile"));
    }
    for spec in same {
        let title = format!("title-{}", spec.name);
        match spec.first_screen() {
            Some(first) => {
                links.push(link(spec.screen.to_owned(), first));
                links.push(link(format!("{}/all", spec.screen), &format!("all-{}", spec.name)));
            }
            None => links.push(link(spec.screen.to_owned(), &title)),
        }
    }
    if links.len() > 1 { links } else { Vec::new() }
}
