//! The syntax tree of a template. It borrows from the template's text.
//!
//! Chains (`a + b + c`, `a and b`, filters, members, `elif`) are lists, so the tree is no deeper than the nesting that the
//! parser allows, however long a chain is: walking and dropping it need a bounded stack.

use std::borrow::Cow;

use super::filter::TemplateFilter;

/// A part of a template, in the order of the text.
#[derive(Debug)]
pub(super) enum TemplatePart<'t> {
    Text {
        /// The byte offset of the text's start.
        offset: usize,
        text: &'t str,
    },
    /// `{{ … }}`
    Output(TemplateExpression<'t>),
    /// `{% if %} … {% elif %} … {% else %} … {% endif %}`
    Choice {
        /// Conditions with their parts; the first true one is used.
        branches: Vec<(TemplateExpression<'t>, Vec<Self>)>,
        /// The parts if no condition is true.
        otherwise: Vec<Self>,
    },
    /// `{% for … in … %} … {% else %} … {% endfor %}`
    Loop(Box<TemplateLoop<'t>>),
}

/// A loop over a list.
#[derive(Debug)]
pub(super) struct TemplateLoop<'t> {
    /// Name of the loop variable.
    pub(super) name: &'t str,
    pub(super) list: TemplateExpression<'t>,
    /// The parts for each entry.
    pub(super) body: Vec<TemplatePart<'t>>,
    /// The parts for an empty list.
    pub(super) otherwise: Vec<TemplatePart<'t>>,
}

/// An expression with its position.
#[derive(Debug)]
pub(super) struct TemplateExpression<'t> {
    /// The byte offset of the expression's start, or of its operator.
    pub(super) offset: usize,
    pub(super) kind: ExpressionKind<'t>,
}

/// The kind of an expression.
#[derive(Debug)]
pub(super) enum ExpressionKind<'t> {
    /// `none`
    None,
    /// `true`, `false`
    Boolean(bool),
    /// `12`
    Integer(i64),
    /// `1.5`
    Float(f64),
    /// `"text"`
    Text(Cow<'t, str>),
    /// `name`
    Name(&'t str),
    /// `base.name[index]…`
    Access {
        /// The value that has the first member.
        base: Box<TemplateExpression<'t>>,
        /// Members, from the outermost to the innermost.
        steps: Vec<AccessStep<'t>>,
    },
    /// `base|filter|filter…`
    Filtered {
        /// The value that the first filter takes.
        base: Box<TemplateExpression<'t>>,
        /// The filters in their order.
        filters: Vec<FilterCall<'t>>,
    },
    /// `base is [not] defined`, `base is [not] none`
    Test {
        /// The value that is tested.
        base: Box<TemplateExpression<'t>>,
        test: ValueTest,
        /// True for `is not`.
        is_negated: bool,
    },
    /// `not a`
    Not(Box<TemplateExpression<'t>>),
    /// `-a`
    Negative(Box<TemplateExpression<'t>>),
    /// `a and b and …`
    All(Vec<TemplateExpression<'t>>),
    /// `a or b or …`
    Any(Vec<TemplateExpression<'t>>),
    /// `a < b`
    Comparison {
        operator: ComparisonOperator,
        /// Left and right operand.
        sides: Box<(TemplateExpression<'t>, TemplateExpression<'t>)>,
    },
    /// `a + b - …`, `a * b / …`, from left to right
    Arithmetic {
        /// The first operand.
        first: Box<TemplateExpression<'t>>,
        /// Operators, each with its byte offset and its right operand.
        rest: Vec<(ArithmeticOperator, usize, TemplateExpression<'t>)>,
    },
    /// `a ~ b ~ …`
    Concatenation(Vec<TemplateExpression<'t>>),
    /// `a if condition else b`
    Conditional(Box<ConditionalExpression<'t>>),
}

/// `value if condition else otherwise`
#[derive(Debug)]
pub(super) struct ConditionalExpression<'t> {
    pub(super) condition: TemplateExpression<'t>,
    /// The value if the condition is true.
    pub(super) value: TemplateExpression<'t>,
    /// The value if the condition is false.
    pub(super) otherwise: TemplateExpression<'t>,
}

/// The access to one member of a value, with its position.
#[derive(Debug)]
pub(super) struct AccessStep<'t> {
    /// The byte offset of the access.
    pub(super) offset: usize,
    pub(super) kind: AccessKind<'t>,
}

/// The kind of an access.
#[derive(Debug)]
pub(super) enum AccessKind<'t> {
    /// `.name`
    Member(&'t str),
    /// `[expression]`
    Index(TemplateExpression<'t>),
}

/// A filter with its arguments.
#[derive(Debug)]
pub(super) struct FilterCall<'t> {
    /// The byte offset of the filter's name.
    pub(super) offset: usize,
    pub(super) filter: TemplateFilter,
    /// The arguments, whose number the parser has checked.
    pub(super) arguments: Vec<TemplateExpression<'t>>,
}

/// The test of an `is` expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueTest {
    Defined,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithmeticOperator {
    Add,
    Subtract,
    Multiply,
    /// `/`, always with a fraction
    Divide,
    /// `//`, rounded down
    DivideWhole,
    /// `%`, with the sign of the divisor
    Remainder,
}
