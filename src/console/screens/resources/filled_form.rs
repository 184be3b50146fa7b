//! What a form is filled with: a stored resource, or what was entered, with the problem of each field.

use actix_web::http::StatusCode;

use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::screens::resources::field_texts::label_of;
use crate::console::screens::resources::spec::FieldSpec;
use crate::http::kit::field_errors::FieldErrors;

/// The content of a form.
#[derive(Default)]
pub(in crate::console) struct FilledForm {
    pub(in crate::console) form: FormData,
    pub(in crate::console) problems: FormProblems,
}

/// Why a form was refused.
#[derive(Default)]
pub(in crate::console) struct FormProblems {
    general: Option<String>,
    fields: Vec<FieldProblem>,
}

/// A problem of a field.
struct FieldProblem {
    path: String,
    text: String,
}

impl FilledForm {
    /// The status of the document that shows the form.
    pub(in crate::console) const fn status(&self) -> StatusCode {
        if self.problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
    }
}

impl FormProblems {
    pub(in crate::console) fn of(texts: ConsoleTexts, errors: &FieldErrors) -> Self {
        let fields = errors.iter();
        let fields =
            fields.map(|(path, rule)| FieldProblem { path: path.to_owned(), text: texts.of_rule(rule) });
        Self { general: None, fields: fields.collect() }
    }

    pub(in crate::console) const fn general(text: String) -> Self {
        Self { general: Some(text), fields: Vec::new() }
    }

    /// Adds a problem of a field.
    pub(in crate::console) fn add(&mut self, path: &str, text: String) {
        self.fields.push(FieldProblem { path: path.to_owned(), text });
    }

    /// Returns true if there is no problem.
    pub(in crate::console) const fn is_empty(&self) -> bool {
        self.general.is_none() && self.fields.is_empty()
    }

    /// Returns the problem of a field, or of something in it, except what is in one of these fields.
    pub(in crate::console) fn of_field(&self, name: &str, except: &[String]) -> Option<String> {
        let own = self.fields.iter().filter(|problem| is_in(&problem.path, name));
        let own = own.filter(|problem| !except.iter().any(|inner| is_in(&problem.path, inner)));
        let texts = own.map(|problem| match problem.path.get(name.len() + 1..) {
            Some(rest) => format!("{rest}: {}", problem.text),
            None => problem.text.clone(),
        });
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// Returns the problems of fields that the form does not have.
    pub(in crate::console) fn elsewhere(&self, texts: ConsoleTexts, fields: &[&FieldSpec]) -> Option<String> {
        let is_shown = |path: &str| fields.iter().any(|spec| is_in(path, spec.name));
        let others = self.fields.iter().filter(|problem| !is_shown(&problem.path));
        let others = others.map(|problem| format!("{}: {}", label_of(texts, &problem.path), problem.text));
        let texts: Vec<String> = self.general.iter().cloned().chain(others).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }
}

/// Returns true if a path is that of the field, or of something in it.
fn is_in(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_shown_at_the_innermost_field() {
        let mut problems = FormProblems::default();
        problems.add("steps.0.channel_ids.2", "Unknown.".into());
        problems.add("steps.1", "Odd.".into());
        let inner = ["steps.0.channel_ids".to_owned()];
        assert_eq!(problems.of_field("steps.0.channel_ids", &[]).as_deref(), Some("2: Unknown."));
        assert_eq!(problems.of_field("steps", &inner).as_deref(), Some("1: Odd."));
        assert_eq!(problems.of_field("step", &[]), None);
        let texts = ConsoleTexts::of("en");
        assert_eq!(problems.elsewhere(texts, &[]).as_deref(), Some("Channels: Unknown. Steps: Odd."));
    }
}
