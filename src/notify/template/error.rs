//! Errors of templates, with their position.
//!
//! Problems have a byte offset in the template; people are shown a line and a column, both counted from 1.

/// The error of a template that cannot be parsed or filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: usize,
    /// The position of the character in its line, counted from 1.
    pub column: usize,
    /// The problem at this position.
    pub problem: TemplateProblem,
}

/// The kind of error in a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    /// A token that is not allowed at its position.
    #[error("found {found}, expected {expected}")]
    Unexpected {
        /// The text that was found.
        found: String,
        /// The alternatives that are allowed.
        expected: &'static str,
    },
    /// An opening bracket, quote or tag that is not closed.
    #[error("{opening} has no end; expected {closing}")]
    Unclosed {
        /// The opening, as it was found.
        opening: &'static str,
        /// The missing closing.
        closing: &'static str,
    },
    /// A template with more than this number of characters.
    #[error("a template has at most {0} characters")]
    TooLong(usize),
    /// A name of more than this number of characters.
    #[error("a name has at most {0} characters")]
    NameTooLong(usize),
    /// Blocks and expressions nested deeper than this.
    #[error("blocks and expressions can be nested at most {0} deep")]
    TooDeep(usize),
    /// Loops nested deeper than this.
    #[error("loops can be nested at most {0} deep")]
    LoopsTooDeep(usize),
    /// A value that the message does not have.
    #[error("there is no {0}; use the filter default if it may be missing")]
    Missing(String),
    /// A value of a kind that the operation does not accept.
    #[error("{operation} takes {wanted}, found {found}")]
    WrongKind {
        /// Name of the operation.
        operation: &'static str,
        /// The kind that it accepts.
        wanted: &'static str,
        /// The kind of the value.
        found: &'static str,
    },
    /// A number was divided by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A number outside of the supported range.
    #[error("the number is too large")]
    NumberTooLarge,
    /// Filling takes more steps or bytes than allowed.
    #[error("filling this template takes too much work")]
    TooMuchWork,
    /// The filled template is larger than this number of bytes.
    #[error("the filled template has more than {0} bytes")]
    OutputTooLong(usize),
}

/// A problem with its byte offset in the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TemplateFault {
    /// The byte offset, counted from 0.
    pub(super) offset: usize,
    pub(super) problem: TemplateProblem,
}

impl TemplateFault {
    /// Converts the offset to line and column of the template.
    pub(super) fn locate(self, source: &str) -> TemplateError {
        let before = source.get(..self.offset).unwrap_or(source);
        let (line, start) = match before.rfind('\n') {
            Some(at) => (before.matches('\n').count() + 1, at + 1),
            None => (1, 0),
        };
        TemplateError { line, column: before[start..].chars().count() + 1, problem: self.problem }
    }
}
