//! The syntax tree of a template. It borrows from the template's text.
//!
//! Chains (`a + b + c`, `a and b`, filters, members, `elif`) are lists, so the tree is no deeper than the nesting that the
//! parser allows, however long a chain is: walking and dropping it need a bounded stack.

use std::borrow::Cow;

use super::filter::TemplateFilter;

/// A part of a template, in the order of the text.
#[derive(Debug)]
pub(super) enum TemplatePart<'t> {
    /// Text that is copied.
    Text {
        /// The byte at which it begins.
        offset: usize,
        /// The text.
        text: &'t str,
    },
    /// `{{ … }}`
    Output(TemplateExpression<'t>),
    /// `{% if %} … {% elif %} … {% else %} … {% endif %}`
    Choice {
        /// Conditions with what is filled in for the first that holds.
        branches: Vec<(TemplateExpression<'t>, Vec<Self>)>,
        /// What is filled in if none holds.
        otherwise: Vec<Self>,
    },
    /// `{% for … in … %} … {% else %} … {% endfor %}`
    Loop(Box<TemplateLoop<'t>>),
}

/// A loop over a list.
#[derive(Debug)]
pub(super) struct TemplateLoop<'t> {
    /// The name of the entry.
    pub(super) name: &'t str,
    /// The list.
    pub(super) list: TemplateExpression<'t>,
    /// What is filled in for each entry.
    pub(super) body: Vec<TemplatePart<'t>>,
    /// What is filled in for an empty list.
    pub(super) otherwise: Vec<TemplatePart<'t>>,
}

/// An expression, and where it begins.
#[derive(Debug)]
pub(super) struct TemplateExpression<'t> {
    /// The byte at which it begins, or of its operator.
    pub(super) offset: usize,
    /// What it is.
    pub(super) kind: ExpressionKind<'t>,
}

/// What an expression is.
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
        /// What is asked of it.
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
        /// The operator.
        operator: ComparisonOperator,
        /// Left and right of it.
        sides: Box<(TemplateExpression<'t>, TemplateExpression<'t>)>,
    },
    /// `a + b - …`, `a * b / …`, from left to right
    Arithmetic {
        /// The first operand.
        first: Box<TemplateExpression<'t>>,
        /// Operators, where each is, and what follows it.
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
    /// What decides.
    pub(super) condition: TemplateExpression<'t>,
    /// The value if it holds.
    pub(super) value: TemplateExpression<'t>,
    /// The value if it does not.
    pub(super) otherwise: TemplateExpression<'t>,
}

/// One member of a value, and where it is named.
#[derive(Debug)]
pub(super) struct AccessStep<'t> {
    /// The byte at which it is named.
    pub(super) offset: usize,
    /// Which one.
    pub(super) kind: AccessKind<'t>,
}

/// How a member is named.
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
    /// The byte at which it is named.
    pub(super) offset: usize,
    /// The filter.
    pub(super) filter: TemplateFilter,
    /// Its arguments, as many as it takes.
    pub(super) arguments: Vec<TemplateExpression<'t>>,
}

/// What `is` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueTest {
    /// There is such a value.
    Defined,
    /// It is none.
    None,
}

/// `==` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// `+` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithmeticOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, always with a fraction
    Divide,
    /// `//`, rounded down
    DivideWhole,
    /// `%`, with the sign of the divisor
    Remainder,
}
