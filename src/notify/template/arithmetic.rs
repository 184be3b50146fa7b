//! Arithmetic and comparisons. A result that is not a 64-bit number is an error, never a wrong number.

use std::cmp::Ordering;

use super::error::TemplateProblem;
use super::meter::WorkMeter;
use super::tree::{ArithmeticOperator, ComparisonOperator};
use super::value::TemplateValue;

/// Returns the result of an operation on two numbers. Whole numbers stay whole except in a division by `/`.
pub(super) fn calculate(
    operator: ArithmeticOperator,
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
) -> Result<TemplateValue<'static>, TemplateProblem> {
    if let (TemplateValue::Integer(left), TemplateValue::Integer(right)) = (left, right)
        && operator != ArithmeticOperator::Divide
    {
        return calculate_whole(operator, *left, *right).map(TemplateValue::Integer);
    }
    let (left, right) = (float(left)?, float(right)?);
    let divisor = || if right == 0.0 { Err(TemplateProblem::DivisionByZero) } else { Ok(right) };
    let result = match operator {
        ArithmeticOperator::Add => left + right,
        ArithmeticOperator::Subtract => left - right,
        ArithmeticOperator::Multiply => left * right,
        ArithmeticOperator::Divide => left / divisor()?,
        ArithmeticOperator::DivideWhole => (left / divisor()?).floor(),
        ArithmeticOperator::Remainder => {
            let remainder = left % divisor()?;
            let has_other_sign = remainder != 0.0 && (remainder < 0.0) != (right < 0.0);
            if has_other_sign { remainder + right } else { remainder }
        }
    };
    if result.is_finite() { Ok(TemplateValue::Float(result)) } else { Err(TemplateProblem::NumberTooLarge) }
}

fn calculate_whole(operator: ArithmeticOperator, left: i64, right: i64) -> Result<i64, TemplateProblem> {
    let is_division = matches!(operator, ArithmeticOperator::DivideWhole | ArithmeticOperator::Remainder);
    if is_division && right == 0 {
        return Err(TemplateProblem::DivisionByZero);
    }
    let has_other_sign = |remainder: i64| remainder != 0 && (remainder < 0) != (right < 0);
    let result = match operator {
        ArithmeticOperator::Add => left.checked_add(right),
        ArithmeticOperator::Subtract => left.checked_sub(right),
        ArithmeticOperator::Multiply => left.checked_mul(right),
        ArithmeticOperator::Divide | ArithmeticOperator::DivideWhole => left
            .checked_div(right)
            .zip(left.checked_rem(right))
            .map(|(quotient, remainder)| quotient - i64::from(has_other_sign(remainder))),
        ArithmeticOperator::Remainder => left
            .checked_rem(right)
            .map(|remainder| if has_other_sign(remainder) { remainder + right } else { remainder }),
    };
    result.ok_or(TemplateProblem::NumberTooLarge)
}

pub(super) fn negate(value: &TemplateValue<'_>) -> Result<TemplateValue<'static>, TemplateProblem> {
    match value {
        TemplateValue::Integer(integer) => {
            integer.checked_neg().map(TemplateValue::Integer).ok_or(TemplateProblem::NumberTooLarge)
        }
        _ => Ok(TemplateValue::Float(-float(value)?)),
    }
}

/// Converts to a floating-point number; a whole number beyond 2^53 loses its last digits.
fn float(value: &TemplateValue<'_>) -> Result<f64, TemplateProblem> {
    match value {
        TemplateValue::Integer(integer) => Ok(*integer as f64),
        TemplateValue::Float(float) => Ok(*float),
        _ => Err(TemplateProblem::WrongKind {
            operation: "arithmetic",
            wanted: "numbers (~ joins texts)",
            found: value.kind(),
        }),
    }
}

/// Returns the result of a comparison. Values of different kinds are not equal; ordering them is an error.
pub(super) fn compare(
    operator: ComparisonOperator,
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
    meter: &mut WorkMeter,
) -> Result<bool, TemplateProblem> {
    match operator {
        ComparisonOperator::Equal => are_equal(left, right, meter),
        ComparisonOperator::NotEqual => Ok(!are_equal(left, right, meter)?),
        ComparisonOperator::Less => Ok(order(left, right, meter)?.is_lt()),
        ComparisonOperator::LessOrEqual => Ok(order(left, right, meter)?.is_le()),
        ComparisonOperator::Greater => Ok(order(left, right, meter)?.is_gt()),
        ComparisonOperator::GreaterOrEqual => Ok(order(left, right, meter)?.is_ge()),
    }
}

fn are_equal(
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
    meter: &mut WorkMeter,
) -> Result<bool, TemplateProblem> {
    use TemplateValue::{Boolean, Float, Integer, List, Loop, None, Object, Text};
    match (left, right) {
        (None, None) => Ok(true),
        (Boolean(left), Boolean(right)) => Ok(left == right),
        (Integer(left), Integer(right)) => Ok(left == right),
        (Text(left), Text(right)) => {
            meter.spend_bytes(left.len().min(right.len()))?;
            Ok(left == right)
        }
        (Integer(_) | Float(_), Integer(_) | Float(_)) => Ok(order(left, right, meter)?.is_eq()),
        (List(_), List(_)) | (Object(_), Object(_)) | (Loop(_), Loop(_)) => {
            let wanted = "numbers, texts, true, false and none";
            Err(TemplateProblem::WrongKind { operation: "a comparison", wanted, found: left.kind() })
        }
        _ => Ok(false),
    }
}

fn order(
    left: &TemplateValue<'_>,
    right: &TemplateValue<'_>,
    meter: &mut WorkMeter,
) -> Result<Ordering, TemplateProblem> {
    use TemplateValue::{Float, Integer, Text};
    match (left, right) {
        (Integer(left), Integer(right)) => Ok(left.cmp(right)),
        (Text(left), Text(right)) => {
            meter.spend_bytes(left.len().min(right.len()))?;
            Ok(left.cmp(right))
        }
        // Finite numbers always have an order.
        (Integer(_) | Float(_), Integer(_) | Float(_)) => {
            Ok(float(left)?.partial_cmp(&float(right)?).unwrap_or(Ordering::Equal))
        }
        (Integer(_) | Float(_) | Text(_), other) | (other, _) => Err(TemplateProblem::WrongKind {
            operation: "an order",
            wanted: "two numbers or two texts",
            found: other.kind(),
        }),
    }
}
