//! Fields of a form as they are shown: with labels, options, rows and problems.

use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::field_texts::{label_of, text_about, text_name, word_of};
use crate::console::screens::resources::filled_form::FilledForm;
use crate::console::screens::resources::form_field::{
    ConsoleField, FieldRow, FormControl, FormOption, RowButton,
};
use crate::console::screens::resources::form_rows::{MORE_ROWS, MOVE_ROW, REMOVED, RowDirection};
use crate::console::screens::resources::reference_lists::ReferenceLists;
use crate::console::screens::resources::spec::{FieldKind, FieldSpec, FieldTime};
use crate::console::screens::resources::stored_form::STORED;
use crate::console::visit::UserVisit;
use crate::model::access::Permission;

/// Empty rows at the end of a list.
const EMPTY_ROWS: usize = 1;
/// Empty rows at the end of a list after more were asked for.
const MORE_EMPTY_ROWS: usize = 4;
/// Empty choices at the end of choices in an order.
const EMPTY_CHOICES: usize = 2;

/// A form.
pub(in crate::console) struct FormView {
    pub(in crate::console) fields: Vec<ConsoleField>,
    /// A problem that belongs to no field.
    pub(in crate::console) problem: Option<String>,
}

impl FormView {
    /// Returns true if the form has buttons of its own. Enter then presses a hidden one before them, which saves.
    pub(in crate::console) fn has_rows(&self) -> bool {
        fn has_rows(fields: &[ConsoleField]) -> bool {
            fields.iter().any(|field| {
                field.control == FormControl::Rows || field.rows.iter().any(|row| has_rows(&row.fields))
            })
        }
        has_rows(&self.fields)
    }
}

/// Builds the fields of a form.
struct FormBuilder<'a> {
    visit: &'a UserVisit,
    filled: &'a FilledForm,
    lists: ReferenceLists,
}

/// Where a field is.
#[derive(Clone, Copy)]
struct FieldPlace<'a> {
    /// The path of the fields around it.
    prefix: &'a str,
    /// True for a field of a row or of an optional group, which may be empty.
    is_optional: bool,
}

impl FieldPlace<'_> {
    /// The name of a text about a field here: with the name of what is around it.
    fn text_name(&self, start: &str, spec: &FieldSpec) -> String {
        let around = self.prefix.rsplit('.').find(|part| part.parse::<usize>().is_err()).unwrap_or_default();
        text_name(start, &[around, spec.name])
    }
}

/// Returns the form, filled.
pub(in crate::console) async fn build_form(
    visit: &UserVisit,
    fields: &[FieldSpec],
    filled: &FilledForm,
    time: FieldTime,
) -> Result<FormView, ScreenError> {
    let shown: Vec<&FieldSpec> = fields.iter().filter(|spec| spec.is_shown(time)).collect();
    let builder = FormBuilder { visit, filled, lists: ReferenceLists::read(visit, &shown).await? };
    let place = FieldPlace { prefix: "", is_optional: false };
    Ok(FormView {
        fields: shown.iter().map(|spec| builder.field(spec, place)).collect(),
        problem: filled.problems.elsewhere(visit.texts, &shown),
    })
}

impl FormBuilder<'_> {
    fn field(&self, spec: &FieldSpec, place: FieldPlace<'_>) -> ConsoleField {
        let path = spec.path(place.prefix);
        match spec.kind {
            FieldKind::Rows(_) => self.rows(spec, path, place),
            FieldKind::Group(_) | FieldKind::Settings(_) => self.group(spec, path, place),
            _ => self.plain(spec, path, place),
        }
    }

    /// A field without inner fields.
    fn plain(&self, spec: &FieldSpec, path: String, place: FieldPlace<'_>) -> ConsoleField {
        let values: Vec<String> = self.filled.form.all(&path).map(str::to_owned).collect();
        if let FieldKind::Reference(list) | FieldKind::References(list) = spec.kind
            && let Some(written) = self.lists.written(list, &values)
        {
            return self.written(spec, path, place, &written);
        }
        let is_stored = self.filled.form.text(&format!("{path}.{STORED}")) == "true";
        // A line of a form would lose its line ends.
        let has_lines = spec.kind == FieldKind::Exact && self.filled.form.exact(&path).contains(['\r', '\n']);
        ConsoleField {
            label: self.label(spec, place),
            control: if has_lines { FormControl::Lines } else { control_of(spec.kind) },
            options: self.options(spec, &values),
            hint: self.hint(spec, place, is_stored),
            problem: self.filled.problems.of_field(&path, &[]),
            is_required: spec.is_required && !place.is_optional && !is_stored,
            may_clear: is_stored && !spec.is_required,
            is_stored,
            order: match spec.kind {
                FieldKind::Order(_) => {
                    let empty = std::iter::repeat_n(String::new(), EMPTY_CHOICES);
                    values.iter().cloned().chain(empty).collect()
                }
                _ => Vec::new(),
            },
            value: match spec.kind {
                // A stored secret is not in the form, but one that was just entered is, and must not be lost on the way.
                FieldKind::Secret | FieldKind::SecretPairs | FieldKind::Exact | FieldKind::Long => {
                    self.filled.form.exact(&path).to_owned()
                }
                _ => values.into_iter().next().unwrap_or_default(),
            },
            name: path,
            rows: Vec::new(),
        }
    }

    /// A field for the names or ids of resources that are too many to be offered.
    fn written(
        &self,
        spec: &FieldSpec,
        path: String,
        place: FieldPlace<'_>,
        values: &[String],
    ) -> ConsoleField {
        let is_list = matches!(spec.kind, FieldKind::References(_));
        let hint = if is_list { "hint-service-names" } else { "hint-service-name" };
        ConsoleField {
            label: self.label(spec, place),
            control: if is_list { FormControl::Lines } else { FormControl::Line },
            value: values.join("\n"),
            hint: Some(self.visit.texts.text(hint)),
            problem: self.filled.problems.of_field(&path, &[]),
            is_required: spec.is_required && !place.is_optional,
            name: path,
            ..ConsoleField::default()
        }
    }

    fn group(&self, spec: &FieldSpec, path: String, place: FieldPlace<'_>) -> ConsoleField {
        let is_optional = place.is_optional || !spec.is_required;
        let row = FieldRow {
            title: String::new(),
            fields: self.inner(spec, FieldPlace { prefix: &path, is_optional }),
            removal: None,
            shifts: Vec::new(),
        };
        self.container(spec, path, place, vec![row])
    }

    fn rows(&self, spec: &FieldSpec, path: String, place: FieldPlace<'_>) -> ConsoleField {
        let count = self.filled.form.rows(&path);
        let is_extended = self.filled.form.text(MORE_ROWS) == path;
        let empty = if is_extended { MORE_EMPTY_ROWS } else { EMPTY_ROWS };
        let title = self.visit.texts.text_or(&format!("row-{}", spec.name), &self.label(spec, place));
        let row = |index: usize| {
            let prefix = format!("{path}.{index}");
            let title = format!("{title} {}", index + 1);
            let is_moved = spec.is_ordered && index < count;
            FieldRow {
                fields: self.inner(spec, FieldPlace { prefix: &prefix, is_optional: true }),
                removal: (index < count).then(|| format!("{prefix}.{REMOVED}")),
                shifts: if is_moved { self.shifts(&path, &title, index, count) } else { Vec::new() },
                title,
            }
        };
        let rows = (0..count + empty).map(row).collect();
        self.container(spec, path, place, rows)
    }

    /// The buttons that move a row. After a move the page begins at the button that was pressed, or at the other one if the
    /// row cannot be moved further.
    fn shifts(&self, list: &str, title: &str, index: usize, count: usize) -> Vec<RowButton> {
        let path = format!("{list}.{index}");
        let pressed = self.filled.form.text(MOVE_ROW);
        let button = |direction: RowDirection| RowButton {
            value: direction.button(&path),
            text: self.visit.texts.about(&format!("move-row-{}", direction.word()), title),
            is_possible: direction.neighbour(index, count).is_some(),
            has_focus: direction.button(&path) == pressed,
        };
        let mut buttons: Vec<RowButton> = RowDirection::ALL.into_iter().map(button).collect();
        if buttons.iter().any(|button| button.has_focus && !button.is_possible) {
            buttons.iter_mut().for_each(|button| button.has_focus = button.is_possible);
        }
        buttons
    }

    fn inner(&self, spec: &FieldSpec, place: FieldPlace<'_>) -> Vec<ConsoleField> {
        spec.inner().iter().map(|inner| self.field(inner, place)).collect()
    }

    fn container(
        &self,
        spec: &FieldSpec,
        path: String,
        place: FieldPlace<'_>,
        rows: Vec<FieldRow>,
    ) -> ConsoleField {
        let inner = rows.iter().flat_map(|row| &row.fields).map(|field| field.name.clone());
        let inner: Vec<String> = inner.collect();
        ConsoleField {
            label: self.label(spec, place),
            control: control_of(spec.kind),
            hint: self.hint(spec, place, false),
            problem: self.filled.problems.of_field(&path, &inner),
            is_required: spec.is_required && !place.is_optional,
            name: path,
            rows,
            ..ConsoleField::default()
        }
    }

    /// The label of a field: that of its catalogue, or the text for its name in what is around it, or that for its name.
    fn label(&self, spec: &FieldSpec, place: FieldPlace<'_>) -> String {
        let texts = self.visit.texts;
        match spec.catalogue {
            Some(catalogue) => texts.of_catalogue(&catalogue.text_name(spec.name), spec.label),
            None => texts.text_or(&place.text_name("field", spec), &label_of(texts, spec.name)),
        }
    }

    fn hint(&self, spec: &FieldSpec, place: FieldPlace<'_>, is_stored: bool) -> Option<String> {
        let texts = self.visit.texts;
        let own = match spec.catalogue {
            Some(catalogue) => {
                texts.of_catalogue(&format!("{}-help", catalogue.text_name(spec.name)), spec.help)
            }
            None => {
                let general = text_about(texts, "help", spec.name).unwrap_or_default();
                texts.text_or(&place.text_name("help", spec), &general)
            }
        };
        let general = match spec.kind {
            FieldKind::Time => texts.text("hint-time"),
            FieldKind::Lines => texts.text("hint-lines"),
            FieldKind::SecretPairs => texts.text("hint-pairs"),
            _ => String::new(),
        };
        let stored = if is_stored { texts.text("hint-stored") } else { String::new() };
        let parts: Vec<String> = [own, general, stored].into_iter().filter(|text| !text.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    fn options(&self, spec: &FieldSpec, chosen: &[String]) -> Vec<FormOption> {
        match spec.kind {
            FieldKind::Word(words) | FieldKind::Words(words) => self.words(spec.name, words, chosen),
            FieldKind::Permissions => {
                let held = Permission::every().filter(|permission| self.visit.may(*permission));
                let option = |permission: Permission| FormOption {
                    value: permission.as_str().to_owned(),
                    text: permission.as_str().to_owned(),
                    is_chosen: chosen.iter().any(|one| one == permission.as_str()),
                };
                held.map(option).collect()
            }
            FieldKind::Reference(list) | FieldKind::References(list) | FieldKind::Order(list) => {
                self.lists.options(list, chosen)
            }
            _ => Vec::new(),
        }
    }

    /// The words as options: each with its text for this field if there is one, else with its general one.
    fn words(&self, field: &str, words: &[&str], chosen: &[String]) -> Vec<FormOption> {
        let texts = self.visit.texts;
        let option = |word: &&str| FormOption {
            value: (*word).to_owned(),
            text: word_of(texts, field, word),
            is_chosen: chosen.iter().any(|one| one == word),
        };
        words.iter().map(option).collect()
    }
}

const fn control_of(kind: FieldKind) -> FormControl {
    match kind {
        FieldKind::Text | FieldKind::Exact => FormControl::Line,
        FieldKind::Time => FormControl::Time,
        FieldKind::Number => FormControl::Number,
        FieldKind::Secret => FormControl::Secret,
        FieldKind::Long | FieldKind::Lines => FormControl::Lines,
        FieldKind::SecretPairs => FormControl::SecretLines,
        FieldKind::Flag => FormControl::Flag,
        FieldKind::Word(_) | FieldKind::Reference(_) => FormControl::Choice,
        FieldKind::Words(_) | FieldKind::Permissions | FieldKind::References(_) => FormControl::Choices,
        FieldKind::Order(_) => FormControl::Order,
        FieldKind::ChannelKind => FormControl::Hidden,
        FieldKind::Group(_) | FieldKind::Settings(_) | FieldKind::ChannelSettings => FormControl::Group,
        FieldKind::Rows(_) => FormControl::Rows,
    }
}
