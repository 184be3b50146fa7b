//! Computes the value of an expression. Each visit of a node is a step; the depth of the tree is limited by the parser, so
//! the stack is bounded.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arithmetic::{calculate, compare, negate};
use super::error::{TemplateFault, TemplateProblem};
use super::filter::{TemplateFilter, encode_url, to_lower, to_upper, trim, truncate};
use super::meter::WorkMeter;
use super::tree::{
    AccessKind, AccessStep, ConditionalExpression, ExpressionKind, FilterCall, TemplateExpression, ValueTest,
};
use super::value::{LoopState, TemplateValue};

/// The variable with the state of the innermost loop.
const LOOP: &str = "loop";

#[derive(Debug)]
pub(super) struct LoopEntry<'v> {
    /// Name of the loop variable.
    pub(super) name: &'v str,
    pub(super) entry: &'v Value,
    /// The progress of the loop.
    pub(super) state: LoopState,
}

#[derive(Debug)]
pub(super) struct ExpressionEvaluator<'v, 'm> {
    pub(super) facts: &'v Map<String, Value>,
    /// Running loops, innermost last.
    pub(super) loops: Vec<LoopEntry<'v>>,
    pub(super) meter: &'m mut WorkMeter,
}

type EvaluationResult<'v> = Result<TemplateValue<'v>, TemplateFault>;
/// The inner error is a missing value, which a default may replace; the outer error is final.
type LookupResult<'v> = Result<EvaluationResult<'v>, TemplateFault>;

impl<'v> ExpressionEvaluator<'v, '_> {
    /// Returns the value of an expression.
    pub(super) fn evaluate(&mut self, expression: &'v TemplateExpression<'v>) -> EvaluationResult<'v> {
        self.find(expression)?
    }

    /// Returns the value of an expression, or the name that is missing.
    fn find(&mut self, expression: &'v TemplateExpression<'v>) -> LookupResult<'v> {
        let offset = expression.offset;
        let fault = |problem| TemplateFault { offset, problem };
        self.meter.spend_step().map_err(fault)?;
        Ok(Ok(match &expression.kind {
            ExpressionKind::None => TemplateValue::None,
            ExpressionKind::Boolean(boolean) => TemplateValue::Boolean(*boolean),
            ExpressionKind::Integer(integer) => TemplateValue::Integer(*integer),
            ExpressionKind::Float(float) => TemplateValue::Float(*float),
            ExpressionKind::Text(text) => TemplateValue::Text(Cow::Borrowed(text)),
            ExpressionKind::Name(name) => {
                let missing = || fault(TemplateProblem::Missing(format!("`{name}`")));
                return Ok(self.look_up(name).ok_or_else(missing));
            }
            ExpressionKind::Access { base, steps } => return self.access(base, steps),
            ExpressionKind::Filtered { base, filters } => return self.filter(base, filters).map(Ok),
            ExpressionKind::Test { base, test, is_negated } => {
                let is_so = match (self.find(base)?, test) {
                    (found, ValueTest::Defined) => found.is_ok(),
                    (found, ValueTest::None) => found? == TemplateValue::None,
                };
                TemplateValue::Boolean(is_so != *is_negated)
            }
            ExpressionKind::Not(operand) => TemplateValue::Boolean(!self.evaluate(operand)?.is_true()),
            ExpressionKind::Negative(operand) => negate(&self.evaluate(operand)?).map_err(fault)?,
            ExpressionKind::All(operands) => self.first_that(operands, false)?,
            ExpressionKind::Any(operands) => self.first_that(operands, true)?,
            ExpressionKind::Comparison { operator, sides } => {
                let (left, right) = (self.evaluate(&sides.0)?, self.evaluate(&sides.1)?);
                let is_so = compare(*operator, &left, &right, self.meter).map_err(fault)?;
                TemplateValue::Boolean(is_so)
            }
            ExpressionKind::Arithmetic { first, rest } => {
                let mut result = self.evaluate(first)?;
                for (operator, offset, operand) in rest {
                    let operand = self.evaluate(operand)?;
                    let fault = |problem| TemplateFault { offset: *offset, problem };
                    result = calculate(*operator, &result, &operand).map_err(fault)?;
                }
                result
            }
            ExpressionKind::Concatenation(operands) => self.join(operands)?,
            ExpressionKind::Conditional(conditional) => {
                let ConditionalExpression { condition, value, otherwise } = &**conditional;
                let chosen = if self.evaluate(condition)?.is_true() { value } else { otherwise };
                return self.find(chosen);
            }
        }))
    }

    fn look_up(&self, name: &str) -> Option<TemplateValue<'v>> {
        if name == LOOP {
            return self.loops.last().map(|under_way| TemplateValue::Loop(under_way.state));
        }
        let of_loop = self.loops.iter().rev().find(|under_way| under_way.name == name);
        let fact = of_loop.map(|under_way| under_way.entry).or_else(|| self.facts.get(name));
        fact.map(TemplateValue::of)
    }

    /// Returns the first operand whose truth is `wanted`, or the last one: the result of `and` and `or`.
    fn first_that(&mut self, operands: &'v [TemplateExpression<'v>], wanted: bool) -> EvaluationResult<'v> {
        let mut last = TemplateValue::None;
        for operand in operands {
            last = self.evaluate(operand)?;
            if last.is_true() == wanted {
                break;
            }
        }
        Ok(last)
    }

    fn join(&mut self, operands: &'v [TemplateExpression<'v>]) -> EvaluationResult<'v> {
        let mut joined = String::new();
        for operand in operands {
            let fault = |problem| TemplateFault { offset: operand.offset, problem };
            let text = self.evaluate(operand)?.into_text(self.meter).map_err(fault)?;
            self.meter.spend_bytes(text.len()).map_err(fault)?;
            joined.push_str(&text);
        }
        Ok(TemplateValue::Text(Cow::Owned(joined)))
    }

    fn access(&mut self, base: &'v TemplateExpression<'v>, steps: &'v [AccessStep<'v>]) -> LookupResult<'v> {
        let mut value = match self.find(base)? {
            Ok(value) => value,
            missing => return Ok(missing),
        };
        for AccessStep { offset, kind } in steps {
            let fault = |problem| TemplateFault { offset: *offset, problem };
            self.meter.spend_step().map_err(fault)?;
            let member = match kind {
                AccessKind::Member(name) => value.member(name).ok_or_else(|| format!("`{name}`")),
                AccessKind::Index(index) => match self.evaluate(index)? {
                    TemplateValue::Text(name) => {
                        self.meter.spend_bytes(name.len()).map_err(fault)?;
                        value.member(&name).ok_or_else(|| format!("`{}`", shorten(&name)))
                    }
                    TemplateValue::Integer(index) => {
                        value.entry(index).ok_or_else(|| format!("entry {index}"))
                    }
                    other => {
                        let wanted = "a whole number or a text";
                        let found = other.kind();
                        return Err(fault(TemplateProblem::WrongKind { operation: "[ ]", wanted, found }));
                    }
                },
            };
            match member {
                Ok(member) => value = member,
                Err(name) => {
                    let missing = TemplateProblem::Missing(format!("{name} in {}", value.kind()));
                    return Ok(Err(fault(missing)));
                }
            }
        }
        Ok(Ok(value))
    }

    fn filter(
        &mut self,
        base: &'v TemplateExpression<'v>,
        filters: &'v [FilterCall<'v>],
    ) -> EvaluationResult<'v> {
        let mut value = self.find(base)?;
        for call in filters {
            let fault = |problem| TemplateFault { offset: call.offset, problem };
            self.meter.spend_step().map_err(fault)?;
            let filtered = match call.filter {
                TemplateFilter::Default => self.or_default(value.ok(), &call.arguments)?,
                TemplateFilter::Truncate => {
                    let text = value?.into_text(self.meter).map_err(fault)?;
                    let most = self.read_length(call)?;
                    TemplateValue::Text(truncate(text, most, self.meter).map_err(fault)?)
                }
                filter => TemplateValue::Text(apply(filter, value?, self.meter).map_err(fault)?),
            };
            value = Ok(filtered);
        }
        value
    }

    fn or_default(
        &mut self,
        value: Option<TemplateValue<'v>>,
        arguments: &'v [TemplateExpression<'v>],
    ) -> EvaluationResult<'v> {
        let replaces_false = match arguments.get(1) {
            Some(argument) => self.evaluate(argument)?.is_true(),
            None => false,
        };
        match (value, arguments.first()) {
            (None | Some(TemplateValue::None), Some(default)) => self.evaluate(default),
            (Some(value), Some(default)) if replaces_false && !value.is_true() => self.evaluate(default),
            (value, _) => Ok(value.unwrap_or(TemplateValue::None)),
        }
    }

    fn read_length(&mut self, call: &'v FilterCall<'v>) -> Result<usize, TemplateFault> {
        let length = match call.arguments.first() {
            Some(argument) => self.evaluate(argument)?,
            None => TemplateValue::None,
        };
        match length {
            TemplateValue::Integer(length) if length >= 0 => {
                Ok(usize::try_from(length).unwrap_or(usize::MAX))
            }
            other => {
                let (wanted, found) = ("a whole number of characters from 0", other.kind());
                let problem = TemplateProblem::WrongKind { operation: "truncate", wanted, found };
                Err(TemplateFault { offset: call.offset, problem })
            }
        }
    }
}

fn apply<'v>(
    filter: TemplateFilter,
    value: TemplateValue<'v>,
    meter: &mut WorkMeter,
) -> Result<Cow<'v, str>, TemplateProblem> {
    if filter == TemplateFilter::ToJson {
        return value.to_json(meter).map(Cow::Owned);
    }
    let text = value.into_text(meter)?;
    Ok(match filter {
        TemplateFilter::UrlEncode => Cow::Owned(encode_url(&text, meter)?),
        TemplateFilter::Upper => Cow::Owned(to_upper(&text, meter)?),
        TemplateFilter::Lower => Cow::Owned(to_lower(&text, meter)?),
        TemplateFilter::Trim => trim(text, meter)?,
        TemplateFilter::ToJson | TemplateFilter::Default | TemplateFilter::Truncate => text,
    })
}

/// Shortens a name for errors.
fn shorten(name: &str) -> String {
    name.chars().take(40).collect()
}
