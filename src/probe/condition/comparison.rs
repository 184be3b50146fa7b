//! Comparisons of a probe's findings with the value of a condition (contract 4.2.4).
//!
//! Measured numbers are compared as `f64`. A number in a JSON document is compared exactly if the condition's
//! value is a whole number, otherwise as `f64`. Values of different JSON types are never equal: `"1"` is not
//! `1`. Missing values are handled by the caller.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use crate::probe::decimal::Decimal;
use crate::probe::fact::Fact;
use crate::probe::json_path::JsonPathValue;
use crate::probe::operator::Operator;

/// The value that a condition compares with.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Number {
        value: f64,
        /// The number as written, when it is whole.
        whole: Option<Box<str>>,
    },
    Bool(bool),
    Text(Box<str>),
    List(Box<[Self]>),
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { value, .. } => write!(f, "{value}"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                for (position, item) in items.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ", " };
                    write!(f, "{separator}{item}")?;
                }
                Ok(())
            }
        }
    }
}

impl Operand {
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number {
                value: number.as_f64()?,
                whole: (!number.is_f64()).then(|| number.to_string().into()),
            }),
            Value::Bool(flag) => Some(Self::Bool(*flag)),
            Value::String(text) => Some(Self::Text(text.as_str().into())),
            Value::Array(items) => items.iter().map(Self::of).collect::<Option<_>>().map(Self::List),
            Value::Null | Value::Object(_) => None,
        }
    }

    /// Returns the text; `None` for other values.
    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns true when `accept` holds for this value, or for one of its items.
    fn any(&self, accept: impl Fn(&Self) -> bool) -> bool {
        match self {
            Self::List(items) => items.iter().any(accept),
            single => accept(single),
        }
    }
}

/// The value that a probe found.
pub(super) enum ObservedValue<'a> {
    Number(f64),
    Text(Cow<'a, str>),
    Body {
        /// True when the body contains the operand.
        holds: bool,
    },
    List(Fact, &'a [String]),
    Json(JsonPathValue<'a>),
}

impl ObservedValue<'_> {
    /// Returns true when the comparison of this value with `operand` holds.
    pub(super) fn satisfies(&self, operator: Operator, operand: &Operand) -> bool {
        let order = || self.order(operand);
        match operator {
            Operator::Eq | Operator::In => operand.any(|value| self.equals(value)),
            Operator::Neq | Operator::NotIn => !operand.any(|value| self.equals(value)),
            Operator::Gt => matches!(order(), Some(Ordering::Greater)),
            Operator::Gte => matches!(order(), Some(Ordering::Greater | Ordering::Equal)),
            Operator::Lt => matches!(order(), Some(Ordering::Less)),
            Operator::Lte => matches!(order(), Some(Ordering::Less | Ordering::Equal)),
            Operator::Contains => self.contains(operand),
            Operator::NotContains => !self.contains(operand),
        }
    }

    fn order(&self, operand: &Operand) -> Option<Ordering> {
        match (self, operand) {
            (Self::Number(number), Operand::Number { value, .. }) => number.partial_cmp(value),
            (Self::Json(JsonPathValue::Number(text)), Operand::Number { whole: Some(whole), .. }) => {
                Some(Decimal::parse(text)?.compare(Decimal::parse(whole)?))
            }
            (Self::Json(JsonPathValue::Number(text)), Operand::Number { value, .. }) => {
                text.parse::<f64>().ok()?.partial_cmp(value)
            }
            _ => None,
        }
    }

    /// Returns true if both are equal and of the same JSON type: `"1"` is not `1`. `null`, objects and lists equal nothing.
    fn equals(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Number { .. } => self.order(operand) == Some(Ordering::Equal),
            Operand::Text(wanted) => match self {
                Self::Text(text) => **text == **wanted,
                Self::Json(JsonPathValue::Text(text)) => text.equals(wanted),
                _ => false,
            },
            Operand::Bool(flag) => matches!(self, Self::Json(JsonPathValue::Bool(seen)) if seen == flag),
            Operand::List(_) => false,
        }
    }

    /// Returns true if a text contains the operand, or a list has it as one of its items.
    fn contains(&self, operand: &Operand) -> bool {
        let Operand::Text(wanted) = operand else {
            return false;
        };
        match self {
            Self::List(fact, items) => items.iter().any(|item| is_item(*fact, item, wanted)),
            Self::Json(JsonPathValue::List { holds }) | Self::Body { holds } => *holds,
            Self::Json(JsonPathValue::Text(text)) => text.contains(wanted),
            Self::Text(text) => text.contains(&**wanted),
            Self::Json(_) | Self::Number(_) => false,
        }
    }
}

/// Compares an item: names and addresses regardless of case, texts exactly. A mail exchanger matches with or
/// without its preference.
fn is_item(fact: Fact, item: &str, wanted: &str) -> bool {
    match fact {
        Fact::TxtRecords => item == wanted,
        Fact::MxRecords => {
            let host = item.split_once(' ').map_or(item, |(_, host)| host);
            item.eq_ignore_ascii_case(wanted) || host.eq_ignore_ascii_case(wanted)
        }
        _ => item.eq_ignore_ascii_case(wanted),
    }
}
