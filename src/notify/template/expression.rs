//! From tokens to an expression, by recursive descent in the order of Jinja's precedence: conditional, `or`, `and`, `not`,
//! comparison, `+ -`, `~`, `* / // %`, minus sign, filters and `is`, members.

use super::cursor::TokenCursor;
use super::error::{TemplateFault, TemplateProblem};
use super::filter::TemplateFilter;
use super::lexer::TokenKind;
use super::tree::{
    AccessKind, AccessStep, ArithmeticOperator, ComparisonOperator, ConditionalExpression, ExpressionKind,
    FilterCall, TemplateExpression, ValueTest,
};

/// Keywords, which cannot be names of values.
const RESERVED: [&str; 17] = [
    "and", "or", "not", "if", "elif", "else", "endif", "for", "in", "endfor", "is", "true", "false", "none",
    "True", "False", "None",
];

const VALUE: &str = "a value: a name, a number, a text in quotes or an expression in brackets";

type ParseResult<'t> = Result<TemplateExpression<'t>, TemplateFault>;

/// Returns true for a keyword.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Parses an expression of any kind.
pub(super) fn parse_expression<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    cursor.enter()?;
    let value = parse_any(cursor)?;
    let parsed = if cursor.take_if(&TokenKind::Name("if"))? {
        let condition = parse_any(cursor)?;
        cursor.expect(&TokenKind::Name("else"), "`else` with the value if the condition does not hold")?;
        let otherwise = parse_expression(cursor)?;
        let offset = value.offset;
        let conditional = ConditionalExpression { condition, value, otherwise };
        TemplateExpression { offset, kind: ExpressionKind::Conditional(Box::new(conditional)) }
    } else {
        value
    };
    cursor.leave();
    Ok(parsed)
}

fn parse_any<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    parse_chain(cursor, &TokenKind::Name("or"), parse_all, ExpressionKind::Any)
}

fn parse_all<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    parse_chain(cursor, &TokenKind::Name("and"), parse_not, ExpressionKind::All)
}

fn parse_concatenation<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    parse_chain(cursor, &TokenKind::Symbol("~"), parse_product, ExpressionKind::Concatenation)
}

/// Parses one operand, or several with the same operator between them.
fn parse_chain<'t>(
    cursor: &mut TokenCursor<'t>,
    operator: &TokenKind<'_>,
    parse_operand: fn(&mut TokenCursor<'t>) -> ParseResult<'t>,
    join: fn(Vec<TemplateExpression<'t>>) -> ExpressionKind<'t>,
) -> ParseResult<'t> {
    let first = parse_operand(cursor)?;
    if cursor.kind() != operator {
        return Ok(first);
    }
    let offset = first.offset;
    let mut operands = vec![first];
    while cursor.take_if(operator)? {
        operands.push(parse_operand(cursor)?);
    }
    Ok(TemplateExpression { offset, kind: join(operands) })
}

fn parse_not<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    let offset = cursor.offset();
    if !cursor.take_if(&TokenKind::Name("not"))? {
        return parse_comparison(cursor);
    }
    cursor.enter()?;
    let operand = parse_not(cursor)?;
    cursor.leave();
    Ok(TemplateExpression { offset, kind: ExpressionKind::Not(Box::new(operand)) })
}

const fn comparison_operator(kind: &TokenKind<'_>) -> Option<ComparisonOperator> {
    let TokenKind::Symbol(symbol) = kind else { return None };
    Some(match symbol.as_bytes() {
        b"==" => ComparisonOperator::Equal,
        b"!=" => ComparisonOperator::NotEqual,
        b"<" => ComparisonOperator::Less,
        b"<=" => ComparisonOperator::LessOrEqual,
        b">" => ComparisonOperator::Greater,
        b">=" => ComparisonOperator::GreaterOrEqual,
        _ => return None,
    })
}

fn parse_comparison<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    let left = parse_sum(cursor)?;
    let offset = cursor.offset();
    let Some(operator) = comparison_operator(cursor.kind()) else { return Ok(left) };
    cursor.take()?;
    let right = parse_sum(cursor)?;
    if comparison_operator(cursor.kind()).is_some() {
        return Err(cursor.unexpected("`and` between two comparisons"));
    }
    let kind = ExpressionKind::Comparison { operator, sides: Box::new((left, right)) };
    Ok(TemplateExpression { offset, kind })
}

fn parse_sum<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    parse_arithmetic(cursor, parse_concatenation, |symbol| match symbol {
        "+" => Some(ArithmeticOperator::Add),
        "-" => Some(ArithmeticOperator::Subtract),
        _ => None,
    })
}

fn parse_product<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    parse_arithmetic(cursor, parse_operand, |symbol| match symbol {
        "*" => Some(ArithmeticOperator::Multiply),
        "/" => Some(ArithmeticOperator::Divide),
        "//" => Some(ArithmeticOperator::DivideWhole),
        "%" => Some(ArithmeticOperator::Remainder),
        _ => None,
    })
}

fn parse_arithmetic<'t>(
    cursor: &mut TokenCursor<'t>,
    parse_operand: fn(&mut TokenCursor<'t>) -> ParseResult<'t>,
    operator: fn(&str) -> Option<ArithmeticOperator>,
) -> ParseResult<'t> {
    let first = parse_operand(cursor)?;
    let mut rest = Vec::new();
    while let TokenKind::Symbol(symbol) = cursor.kind()
        && let Some(operator) = operator(symbol)
    {
        let offset = cursor.take()?.offset;
        rest.push((operator, offset, parse_operand(cursor)?));
    }
    if rest.is_empty() {
        return Ok(first);
    }
    let offset = first.offset;
    Ok(TemplateExpression { offset, kind: ExpressionKind::Arithmetic { first: Box::new(first), rest } })
}

/// Parses a value with its sign, its filters and its test.
fn parse_operand<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    let mut operand = parse_signed(cursor)?;
    let mut filters = Vec::new();
    while cursor.take_if(&TokenKind::Symbol("|"))? {
        filters.push(parse_filter(cursor)?);
    }
    let offset = operand.offset;
    if !filters.is_empty() {
        let kind = ExpressionKind::Filtered { base: Box::new(operand), filters };
        operand = TemplateExpression { offset, kind };
    }
    if !cursor.take_if(&TokenKind::Name("is"))? {
        return Ok(operand);
    }
    let is_negated = cursor.take_if(&TokenKind::Name("not"))?;
    let (test, is_undefined) = match cursor.kind() {
        TokenKind::Name("defined") => (ValueTest::Defined, false),
        TokenKind::Name("undefined") => (ValueTest::Defined, true),
        TokenKind::Name("none" | "None") => (ValueTest::None, false),
        _ => return Err(cursor.unexpected("`defined`, `undefined` or `none` after `is`")),
    };
    cursor.take()?;
    let is_negated = is_negated != is_undefined;
    let kind = ExpressionKind::Test { base: Box::new(operand), test, is_negated };
    Ok(TemplateExpression { offset, kind })
}

fn parse_signed<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    let offset = cursor.offset();
    if !cursor.take_if(&TokenKind::Symbol("-"))? {
        return parse_access(cursor);
    }
    cursor.enter()?;
    let operand = parse_signed(cursor)?;
    cursor.leave();
    Ok(TemplateExpression { offset, kind: ExpressionKind::Negative(Box::new(operand)) })
}

fn parse_filter<'t>(cursor: &mut TokenCursor<'t>) -> Result<FilterCall<'t>, TemplateFault> {
    let offset = cursor.offset();
    let filter = match cursor.kind() {
        TokenKind::Name(name) => TemplateFilter::from_name(name),
        _ => None,
    };
    let filter = filter.ok_or_else(|| cursor.unexpected(TemplateFilter::NAMES))?;
    cursor.take()?;
    let mut arguments = Vec::new();
    if cursor.take_if(&TokenKind::Symbol("("))? && !cursor.take_if(&TokenKind::Symbol(")"))? {
        loop {
            arguments.push(parse_expression(cursor)?);
            if cursor.take_if(&TokenKind::Symbol(")"))? {
                break;
            }
            cursor.expect(&TokenKind::Symbol(","), "`,` or `)` after an argument")?;
        }
    }
    let (fewest, most, expected) = filter.arguments();
    if !(fewest..=most).contains(&arguments.len()) {
        let found = match arguments.len() {
            0 => "no arguments".to_owned(),
            1 => "one argument".to_owned(),
            count => format!("{count} arguments"),
        };
        return Err(TemplateFault { offset, problem: TemplateProblem::Unexpected { found, expected } });
    }
    Ok(FilterCall { offset, filter, arguments })
}

/// Parses a value with its members.
fn parse_access<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    let base = parse_value(cursor)?;
    let mut steps = Vec::new();
    loop {
        let offset = cursor.offset();
        if cursor.take_if(&TokenKind::Symbol("."))? {
            let TokenKind::Name(name) = *cursor.kind() else {
                return Err(cursor.unexpected("the name of a member after `.`"));
            };
            let offset = cursor.take()?.offset;
            steps.push(AccessStep { offset, kind: AccessKind::Member(name) });
        } else if cursor.take_if(&TokenKind::Symbol("["))? {
            let index = parse_expression(cursor)?;
            cursor.expect(&TokenKind::Symbol("]"), "`]`")?;
            steps.push(AccessStep { offset, kind: AccessKind::Index(index) });
        } else {
            break;
        }
    }
    if steps.is_empty() {
        return Ok(base);
    }
    Ok(TemplateExpression {
        offset: base.offset,
        kind: ExpressionKind::Access { base: Box::new(base), steps },
    })
}

fn parse_value<'t>(cursor: &mut TokenCursor<'t>) -> ParseResult<'t> {
    match cursor.kind() {
        TokenKind::Name("true" | "True" | "false" | "False" | "none" | "None")
        | TokenKind::Quoted(_)
        | TokenKind::Integer(_)
        | TokenKind::Float(_) => {}
        TokenKind::Name(name) if !is_reserved(name) => {}
        TokenKind::Symbol("(") => {
            cursor.take()?;
            let inner = parse_expression(cursor)?;
            cursor.expect(&TokenKind::Symbol(")"), "`)` or an operator")?;
            return Ok(inner);
        }
        _ => return Err(cursor.unexpected(VALUE)),
    }
    let token = cursor.take()?;
    let kind = match token.kind {
        TokenKind::Name("true" | "True") => ExpressionKind::Boolean(true),
        TokenKind::Name("false" | "False") => ExpressionKind::Boolean(false),
        TokenKind::Name("none" | "None") => ExpressionKind::None,
        TokenKind::Name(name) => ExpressionKind::Name(name),
        TokenKind::Quoted(text) => ExpressionKind::Text(text),
        TokenKind::Integer(integer) => ExpressionKind::Integer(integer),
        TokenKind::Float(float) => ExpressionKind::Float(float),
        _ => ExpressionKind::None,
    };
    Ok(TemplateExpression { offset: token.offset, kind })
}
