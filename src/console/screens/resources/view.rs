//! What the documents of a resource show.

use askama::Template;
use serde_json::Value;

use crate::console::frame::ConsoleFrame;
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::changes::changes_of;
use crate::console::screens::resources::input::{
    ConsoleField, FormControl, FormOption, at_path, entered_form, is_shown, label_of, value_at, word_of,
};
use crate::console::screens::resources::refused_form::{FormSource, RefusedForm};
use crate::console::screens::resources::spec::{FieldKind, FieldSpec, FieldTime, ResourceSpec};
use crate::console::visit::UserVisit;
use crate::model::access::Permission;

/// Number of options that a choice of resources offers.
const OPTIONS: u64 = 100;
/// Longest value in a cell, in characters.
const CELL_LENGTH: usize = 120;

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
pub(super) struct ListLink {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) is_current: bool,
}

/// The pages of a list.
pub(super) struct PageLinks {
    pub(super) total: u64,
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
    /// Where the form is sent.
    pub(super) action: String,
    /// Makes a form that is sent twice have no second effect.
    pub(super) key: String,
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

/// A value with its name.
pub(super) struct FactRow {
    pub(super) name: String,
    pub(super) value: String,
}

/// A form.
pub(super) struct FormView {
    pub(super) fields: Vec<ConsoleField>,
    /// A problem that belongs to no field.
    pub(super) problem: Option<String>,
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
        let mut cells = self.spec.columns.iter().map(|path| self.cell(at_path(row, path)));
        let name = cells.next().filter(|name| !name.is_empty()).unwrap_or_else(|| "–".to_owned());
        let link = format!("/console{}/{}", self.screen, row["id"].as_str().unwrap_or_default());
        ListRow { link, name, cells: cells.collect() }
    }

    /// Returns a value as a person reads it.
    fn cell(&self, value: &Value) -> String {
        let texts = self.visit.texts;
        let text = match value {
            Value::Null => String::new(),
            Value::Bool(is_true) => texts.text(if *is_true { "yes" } else { "no" }),
            Value::Number(number) => number.to_string(),
            Value::String(text) if is_instant(text) => format!("{} {} UTC", &text[..10], &text[11..19]),
            Value::String(text) if is_word(text) => word_of(texts, text),
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().map(|item| self.cell(item)).collect::<Vec<_>>().join(", "),
            Value::Object(object) => {
                let named = ["name", "label", "title", "hostname", "status"]
                    .iter()
                    .find_map(|name| object.get(*name));
                named
                    .or_else(|| object.values().find(|value| value.is_string()))
                    .map(|value| self.cell(value))
                    .unwrap_or_default()
            }
        };
        match text.char_indices().nth(CELL_LENGTH) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    pub(super) fn pages(&self, meta: &Value) -> PageLinks {
        let number = |name: &str| meta[name].as_u64().unwrap_or(1);
        let (current, last) = (number("current_page"), number("last_page"));
        PageLinks {
            total: meta["total"].as_u64().unwrap_or_default(),
            previous: (current > 1).then(|| current - 1),
            next: (current < last).then(|| current + 1),
        }
    }

    pub(super) fn title_of(&self, view: &Value) -> String {
        let name = self.cell(at_path(view, self.spec.columns.first().copied().unwrap_or("name")));
        if name.is_empty() { self.visit.texts.text(&format!("title-{}", self.spec.name)) } else { name }
    }

    /// Returns the plain values of a resource.
    pub(super) fn facts(&self, view: &Value) -> Vec<FactRow> {
        let members = view.as_object().into_iter().flatten();
        let shown = members.filter(|(name, value)| !value.is_null() && name.as_str() != "id");
        shown
            .map(|(name, value)| FactRow { name: label_of(self.visit.texts, name), value: self.cell(value) })
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

    /// Returns the form, filled.
    pub(super) async fn form(
        &self,
        fields: &[FieldSpec],
        source: &FormSource<'_>,
        time: FieldTime,
    ) -> Result<FormView, ScreenError> {
        let shown: Vec<&FieldSpec> = fields.iter().filter(|spec| is_shown(spec, time)).collect();
        let mut views = Vec::with_capacity(shown.len());
        for spec in &shown {
            views.push(self.field(spec, source).await?);
        }
        let problem = match source {
            FormSource::Stored(_) => None,
            FormSource::Entered(refused) => refused.problems.elsewhere(&shown),
        };
        Ok(FormView { fields: views, problem })
    }

    async fn field(&self, spec: &FieldSpec, source: &FormSource<'_>) -> Result<ConsoleField, ScreenError> {
        let texts = self.visit.texts;
        let (values, problem) = match source {
            FormSource::Stored(view) => (entered_form(value_at(view, spec), spec.kind), None),
            FormSource::Entered(RefusedForm { form, problems }) => {
                let entered = form.all(spec.name).map(str::to_owned).collect();
                (entered, problems.of_field(spec.name))
            }
        };
        let (control, options) = match spec.kind {
            FieldKind::Text => (FormControl::Line, Vec::new()),
            FieldKind::Time => (FormControl::Time, Vec::new()),
            FieldKind::Number => (FormControl::Number, Vec::new()),
            FieldKind::Secret => (FormControl::Secret, Vec::new()),
            FieldKind::Long | FieldKind::Lines => (FormControl::Lines, Vec::new()),
            FieldKind::Data => (FormControl::Data, Vec::new()),
            FieldKind::Flag => (FormControl::Flag, Vec::new()),
            FieldKind::Word(words) => (FormControl::Choice, self.words(words, &values)),
            FieldKind::Words(words) => (FormControl::Choices, self.words(words, &values)),
            FieldKind::Permissions => {
                let held = Permission::every().filter(|permission| self.visit.may(*permission));
                let words: Vec<&str> = held.map(Permission::as_str).collect();
                (FormControl::Choices, plain_options(&words, &values))
            }
            FieldKind::Reference(list) => (FormControl::Choice, self.references(list, &values).await?),
            FieldKind::References(list) => (FormControl::Choices, self.references(list, &values).await?),
        };
        Ok(ConsoleField {
            name: spec.name.to_owned(),
            label: label_of(texts, spec.name),
            control,
            value: values.into_iter().next().unwrap_or_default(),
            options,
            hint: match spec.kind {
                FieldKind::Time => Some(texts.text("hint-time")),
                FieldKind::Lines => Some(texts.text("hint-lines")),
                FieldKind::Data => Some(texts.text("hint-data")),
                _ => None,
            },
            problem,
            is_required: spec.is_required,
        })
    }

    fn words(&self, words: &[&str], chosen: &[String]) -> Vec<FormOption> {
        let option = |word: &&str| FormOption {
            value: (*word).to_owned(),
            text: word_of(self.visit.texts, word),
            is_chosen: chosen.iter().any(|one| one == word),
        };
        words.iter().map(option).collect()
    }

    /// Returns the resources of a list that can be chosen. If the user may not see them, those that are chosen are kept.
    async fn references(&self, list: &str, chosen: &[String]) -> Result<Vec<FormOption>, ScreenError> {
        use crate::http::kit::error::ApiError;
        let body = match self.visit.get(&format!("{list}?per_page={OPTIONS}")).await {
            Ok(body) => body,
            Err(ApiError::Forbidden(_) | ApiError::Confined) => Value::Null,
            Err(error) => return Err(error.into()),
        };
        let rows = body["data"].as_array().cloned().unwrap_or_default();
        let mut options: Vec<FormOption> = rows
            .iter()
            .map(|row| {
                let value = row["id"].as_str().unwrap_or_default().to_owned();
                let text = ["name", "label"].iter().find_map(|name| row[*name].as_str());
                let is_chosen = chosen.contains(&value);
                FormOption { text: text.unwrap_or(&value).to_owned(), value, is_chosen }
            })
            .collect();
        for id in chosen.iter().filter(|id| rows.iter().all(|row| row["id"] != **id)) {
            options.push(FormOption { value: id.clone(), text: id.clone(), is_chosen: true });
        }
        Ok(options)
    }

    pub(super) async fn actions(&self, id: &str) -> Result<Vec<ActionView>, ScreenError> {
        let mut views = Vec::new();
        for action in self.spec.actions.iter().filter(|action| self.visit.may(action.permission)) {
            let form =
                self.form(action.fields, &FormSource::Stored(&Value::Null), FieldTime::Creation).await?;
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

fn plain_options(words: &[&str], chosen: &[String]) -> Vec<FormOption> {
    let option = |word: &&str| FormOption {
        value: (*word).to_owned(),
        text: (*word).to_owned(),
        is_chosen: chosen.iter().any(|one| one == word),
    };
    words.iter().map(option).collect()
}

/// Returns links to the lists of the same section that the user may see.
pub(super) fn sections_of(
    visit: &UserVisit,
    spec: &ResourceSpec,
    all: &[&'static ResourceSpec],
) -> Vec<ListLink> {
    let same = all.iter().filter(|other| {
        other.section == spec.section && !other.screen.contains('{') && visit.may(other.view)
    });
    let links: Vec<ListLink> = same
        .map(|other| ListLink {
            path: format!("/console{}", other.screen),
            text: visit.texts.text(&format!("title-{}", other.name)),
            is_current: other.name == spec.name,
        })
        .collect();
    if links.len() > 1 { links } else { Vec::new() }
}

fn is_instant(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T')
}

/// Returns true for a word of the API, such as a state.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
