//! Values during the filling of a template. They borrow from the message's facts and from the template; only texts created by
//! a filter or `~` are owned.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::error::TemplateProblem;
use super::filter::to_json;
use super::meter::WorkMeter;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TemplateValue<'v> {
    /// `none`, null in JSON.
    None,
    Boolean(bool),
    Integer(i64),
    /// A number with a fraction, always finite.
    Float(f64),
    Text(Cow<'v, str>),
    /// A list of the facts.
    List(&'v [Value]),
    /// An object of the facts.
    Object(&'v Map<String, Value>),
    /// The variable `loop`.
    Loop(LoopState),
}

/// The progress of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopState {
    /// The index of the entry, counted from 0.
    pub(super) index: usize,
    pub(super) length: usize,
}

impl LoopState {
    fn member(self, name: &str) -> Option<TemplateValue<'static>> {
        let number = |count: usize| TemplateValue::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        Some(match name {
            "index" => number(self.index + 1),
            "index0" => number(self.index),
            "first" => TemplateValue::Boolean(self.index == 0),
            "last" => TemplateValue::Boolean(self.index + 1 == self.length),
            "length" => number(self.length),
            _ => return None,
        })
    }
}

impl<'v> TemplateValue<'v> {
    pub(super) fn of(fact: &'v Value) -> Self {
        match fact {
            Value::Null => Self::None,
            Value::Bool(boolean) => Self::Boolean(*boolean),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Integer(integer),
                None => number.as_f64().filter(|float| float.is_finite()).map_or(Self::None, Self::Float),
            },
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
            Value::Array(entries) => Self::List(entries),
            Value::Object(members) => Self::Object(members),
        }
    }

    /// The kind of the value in words, for errors.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Boolean(_) => "true or false",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Loop(_) => "loop",
        }
    }

    /// Returns false for none, false, zero and empty values.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Boolean(boolean) => *boolean,
            Self::Integer(integer) => *integer != 0,
            Self::Float(float) => *float != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(entries) => !entries.is_empty(),
            Self::Object(members) => !members.is_empty(),
            Self::Loop(_) => true,
        }
    }

    /// Returns the member of an object or of `loop`; `None` if there is none.
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        match self {
            Self::Object(members) => members.get(name).map(Self::of),
            Self::Loop(state) => state.member(name),
            _ => None,
        }
    }

    /// Returns the entry of a list, counted from 0, or from its end if the index is negative; `None` if there is none.
    pub(super) fn entry(&self, index: i64) -> Option<Self> {
        let Self::List(entries) = self else { return None };
        let from_end = usize::try_from(index.unsigned_abs()).ok()?;
        let at = if index < 0 { entries.len().checked_sub(from_end)? } else { from_end };
        entries.get(at).map(Self::of)
    }

    /// Converts the value to text: lists and objects as JSON.
    pub(super) fn into_text(self, meter: &mut WorkMeter) -> Result<Cow<'v, str>, TemplateProblem> {
        Ok(match self {
            Self::None => Cow::Borrowed("none"),
            Self::Boolean(true) => Cow::Borrowed("true"),
            Self::Boolean(false) => Cow::Borrowed("false"),
            Self::Integer(integer) => number_text(&integer, meter)?,
            Self::Float(float) => number_text(&float, meter)?,
            Self::Text(text) => text,
            Self::List(_) | Self::Object(_) | Self::Loop(_) => Cow::Owned(self.to_json(meter)?),
        })
    }

    /// Converts the value to JSON.
    pub(super) fn to_json(&self, meter: &mut WorkMeter) -> Result<String, TemplateProblem> {
        match self {
            Self::None => to_json(&(), meter),
            Self::Boolean(boolean) => to_json(boolean, meter),
            Self::Integer(integer) => to_json(integer, meter),
            Self::Float(float) => to_json(float, meter),
            Self::Text(text) => to_json(text, meter),
            Self::List(entries) => to_json(entries, meter),
            Self::Object(members) => to_json(members, meter),
            Self::Loop(_) => {
                let wanted = "a value of the message";
                Err(TemplateProblem::WrongKind { operation: "writing", wanted, found: self.kind() })
            }
        }
    }
}

fn number_text(
    number: &impl std::fmt::Debug,
    meter: &mut WorkMeter,
) -> Result<Cow<'static, str>, TemplateProblem> {
    let mut text = String::new();
    // Writing to a `String` does not fail.
    let _ = write!(text, "{number:?}");
    meter.spend_bytes(text.len())?;
    Ok(Cow::Owned(text))
}
