//! A field as a form shows it.

use askama::Template;

use crate::console::frame::ConsoleFrame;

/// A field as the form shows it.
#[derive(Debug, Default)]
pub(in crate::console) struct ConsoleField {
    /// Name of the input.
    pub(in crate::console) name: String,
    pub(in crate::console) label: String,
    pub(in crate::console) control: FormControl,
    pub(in crate::console) value: String,
    pub(in crate::console) options: Vec<FormOption>,
    pub(in crate::console) hint: Option<String>,
    pub(in crate::console) problem: Option<String>,
    pub(in crate::console) is_required: bool,
    /// True if a stored secret can be removed.
    pub(in crate::console) may_clear: bool,
    /// True for a secret that is stored.
    pub(in crate::console) is_stored: bool,
    /// The chosen options of [`FormControl::Order`], in their order.
    pub(in crate::console) order: Vec<String>,
    /// The rows of [`FormControl::Rows`], the only one of [`FormControl::Group`].
    pub(in crate::console) rows: Vec<FieldRow>,
}

/// Fields that are an entry of a list.
#[derive(Debug)]
pub(in crate::console) struct FieldRow {
    pub(in crate::console) title: String,
    pub(in crate::console) fields: Vec<ConsoleField>,
    /// Name of the input that removes the row; `None` for an empty one.
    pub(in crate::console) removal: Option<String>,
    /// Buttons that move the row; none where the order does not matter.
    pub(in crate::console) shifts: Vec<RowButton>,
}

/// A button that moves a row.
#[derive(Debug)]
pub(in crate::console) struct RowButton {
    pub(in crate::console) value: String,
    pub(in crate::console) text: String,
    pub(in crate::console) is_possible: bool,
    /// True if the page begins at this button.
    pub(in crate::console) has_focus: bool,
}

/// A field in another one.
#[derive(Template)]
#[template(path = "kit/inner_field.html")]
struct InnerField<'a> {
    frame: &'a ConsoleFrame,
    field: &'a ConsoleField,
    prefix: &'a str,
}

/// The element by which a field is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::console) enum FormControl {
    #[default]
    Line,
    Number,
    Secret,
    /// A time in UTC.
    Time,
    Lines,
    Choice,
    /// Several of the options.
    Choices,
    Flag,
    /// One of the options after another.
    Order,
    /// Lines that are not shown again.
    SecretLines,
    /// A value that cannot be changed.
    Hidden,
    /// Fields that belong together.
    Group,
    /// Rows of fields.
    Rows,
}

/// An option of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::console) struct FormOption {
    pub(in crate::console) value: String,
    pub(in crate::console) text: String,
    pub(in crate::console) is_chosen: bool,
}

/// Options of a choice that belong together.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::console) struct OptionGroup {
    pub(in crate::console) title: String,
    pub(in crate::console) options: Vec<FormOption>,
}

impl ConsoleField {
    /// True if the options are words of the API in the form `group.option`, such as permissions: neither the names of resources
    /// nor words that have a text.
    pub(in crate::console) fn has_groups(&self) -> bool {
        !self.options.is_empty()
            && self.options.iter().all(|option| option.text == option.value && is_grouped(&option.value))
    }

    /// The options by the part of their names before the dot; one group without a title for other options.
    pub(in crate::console) fn groups(&self) -> Vec<OptionGroup> {
        if !self.has_groups() {
            return vec![OptionGroup { title: String::new(), options: self.options.clone() }];
        }
        let mut groups: Vec<OptionGroup> = Vec::new();
        for option in &self.options {
            let (title, text) = option.text.split_once('.').unwrap_or(("", &option.text));
            let (title, option) =
                (title.replace('_', " "), FormOption { text: text.replace('_', " "), ..option.clone() });
            match groups.iter_mut().find(|group| group.title == title) {
                Some(group) => group.options.push(option),
                None => groups.push(OptionGroup { title, options: vec![option] }),
            }
        }
        groups
    }

    /// The classes of the element, after `field`.
    pub(in crate::console) const fn class(&self) -> &'static str {
        match self.control {
            FormControl::Choices
            | FormControl::Lines
            | FormControl::SecretLines
            | FormControl::Order
            | FormControl::Group
            | FormControl::Rows => " broad",
            FormControl::Flag => " flag",
            _ => "",
        }
    }

    /// The field as HTML, for a field in which it is. `prefix` is put in front of ids.
    pub(in crate::console) fn html(&self, frame: &ConsoleFrame, prefix: &str) -> String {
        InnerField { frame, field: self, prefix }.render().unwrap_or_default()
    }

    /// The step of a time: whole seconds, unless it has a fraction.
    pub(in crate::console) fn step(&self) -> &'static str {
        if self.value.contains('.') { "0.001" } else { "1" }
    }

    /// Returns true if the control is the one of this name.
    pub(in crate::console) fn is(&self, control: &str) -> bool {
        let own = match self.control {
            FormControl::Line => "line",
            FormControl::Number => "number",
            FormControl::Secret => "secret",
            FormControl::Time => "time",
            FormControl::Lines => "lines",
            FormControl::Choice => "choice",
            FormControl::Choices => "choices",
            FormControl::Flag => "flag",
            FormControl::Order => "order",
            FormControl::SecretLines => "secret-lines",
            FormControl::Hidden => "hidden",
            FormControl::Group => "group",
            FormControl::Rows => "rows",
        };
        own == control
    }
}

fn is_grouped(name: &str) -> bool {
    name.split_once('.').is_some_and(|(group, rest)| {
        let is_word = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        is_word(group) && is_word(rest)
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Options are grouped by what is before their dot, if all have one.
    #[rstest]
    #[case(&["services.view", "access_scopes.view", "services.check_now"],
        &[("services", "view,check now"), ("access scopes", "view")])]
    #[case(&["services.view", "Shop"], &[("", "services.view,Shop")])]
    #[case(&[], &[("", "")])]
    fn options_are_grouped(#[case] names: &[&str], #[case] expected: &[(&str, &str)]) {
        let option = |name: &&str| FormOption {
            value: (*name).to_owned(),
            text: (*name).to_owned(),
            is_chosen: false,
        };
        let field = ConsoleField {
            control: FormControl::Choices,
            options: names.iter().map(option).collect(),
            ..ConsoleField::default()
        };
        let shown: Vec<_> = field
            .groups()
            .into_iter()
            .map(|group| {
                let texts: Vec<String> = group.options.into_iter().map(|option| option.text).collect();
                (group.title, texts.join(","))
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(title, texts)| ((*title).to_owned(), (*texts).to_owned())).collect();
        assert_eq!(shown, expected);
    }
}
