//! What is wrong with a template, and where.
//!
//! Problems are found at a byte of the template; people are shown a line and a column, both counted from 1.

/// A template that cannot be read or filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in that line, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: TemplateProblem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    /// Something that is not allowed at this place.
    #[error("found {found}, expected {expected}")]
    Unexpected {
        /// What is there.
        found: String,
        /// What could be there.
        expected: &'static str,
    },
    /// Something that begins here and has no end.
    #[error("{opening} has no end; expected {closing}")]
    Unclosed {
        /// How it begins.
        opening: &'static str,
        /// How it would end.
        closing: &'static str,
    },
    /// More characters than a template may have.
    #[error("a template has at most {0} characters")]
    TooLong(usize),
    /// A name of more characters than this.
    #[error("a name has at most {0} characters")]
    NameTooLong(usize),
    /// Blocks and expressions inside each other, more than this.
    #[error("blocks and expressions can be nested at most {0} deep")]
    TooDeep(usize),
    /// Loops inside each other, more than this.
    #[error("loops can be nested at most {0} deep")]
    LoopsTooDeep(usize),
    /// A value that the message does not have.
    #[error("there is no {0}; use the filter default if it may be missing")]
    Missing(String),
    /// A value of a kind that an operation does not take.
    #[error("{operation} takes {wanted}, found {found}")]
    WrongKind {
        /// What takes the value.
        operation: &'static str,
        /// The kind that it takes.
        wanted: &'static str,
        /// The kind of the value.
        found: &'static str,
    },
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A number outside of what can be computed with.
    #[error("the number is too large")]
    NumberTooLarge,
    /// More steps or bytes than filling may take.
    #[error("filling this template takes too much work")]
    TooMuchWork,
    /// More bytes than a filled template may have.
    #[error("the filled template has more than {0} bytes")]
    OutputTooLong(usize),
}

/// A problem at a byte of the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TemplateFault {
    /// The byte at which it is, counted from 0.
    pub(super) offset: usize,
    /// What is wrong.
    pub(super) problem: TemplateProblem,
}

impl TemplateFault {
    /// Finds the line and the column in the template.
    pub(super) fn locate(self, source: &str) -> TemplateError {
        let before = source.get(..self.offset).unwrap_or(source);
        let (line, start) = match before.rfind('\n') {
            Some(at) => (before.matches('\n').count() + 1, at + 1),
            None => (1, 0),
        };
        TemplateError { line, column: before[start..].chars().count() + 1, problem: self.problem }
    }
}
