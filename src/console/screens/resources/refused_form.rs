//! A form that was refused, with the problem of each field.

use serde_json::Value;

use crate::console::form_data::FormData;
use crate::console::screens::resources::spec::FieldSpec;
use crate::http::kit::field_errors::FieldErrors;

/// What a form is filled with.
pub(super) enum FormSource<'a> {
    /// A stored resource; null for a new one.
    Stored(&'a Value),
    /// What was entered and refused.
    Entered(RefusedForm<'a>),
}

/// A form that was refused.
pub(super) struct RefusedForm<'a> {
    pub(super) form: &'a FormData,
    pub(super) problems: FormProblems,
}

/// Why a form was refused.
#[derive(Default)]
pub(super) struct FormProblems {
    general: Option<String>,
    fields: Vec<FieldProblem>,
}

/// A problem of a field.
struct FieldProblem {
    path: String,
    text: String,
}

impl FormProblems {
    pub(super) fn of(errors: &FieldErrors) -> Self {
        let fields = errors.iter();
        let fields =
            fields.map(|(path, rule)| FieldProblem { path: path.to_owned(), text: rule.to_string() });
        Self { general: None, fields: fields.collect() }
    }

    pub(super) const fn general(text: String) -> Self {
        Self { general: Some(text), fields: Vec::new() }
    }

    pub(super) fn at(path: &str, text: String) -> Self {
        Self { general: None, fields: vec![FieldProblem { path: path.to_owned(), text }] }
    }

    /// Returns the problem of a field, or of something in it.
    pub(super) fn of_field(&self, name: &str) -> Option<String> {
        let inner = format!("{name}.");
        let own =
            self.fields.iter().filter(|problem| problem.path == name || problem.path.starts_with(&inner));
        let own = own.map(|problem| match problem.path.strip_prefix(&inner) {
            Some(rest) => format!("{rest}: {}", problem.text),
            None => problem.text.clone(),
        });
        let texts: Vec<String> = own.collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// Returns the problems of fields that the form does not have.
    pub(super) fn elsewhere(&self, fields: &[&FieldSpec]) -> Option<String> {
        let is_shown = |path: &str| {
            fields.iter().any(|spec| path == spec.name || path.starts_with(&format!("{}.", spec.name)))
        };
        let others = self.fields.iter().filter(|problem| !is_shown(&problem.path));
        let others = others.map(|problem| format!("{}: {}", problem.path, problem.text));
        let texts: Vec<String> = self.general.iter().cloned().chain(others).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }
}
