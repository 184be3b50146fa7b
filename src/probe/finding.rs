//! The findings of a single check, to be shown to users: the facts that conditions may test, with their values.

use crate::probe::fact::{Fact, FactSource};

/// A fact with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFinding {
    /// The name that conditions use.
    pub field: &'static str,
    /// The value that was found.
    pub value: FindingValue,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingValue {
    /// A number, in the unit of its fact.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl CheckFinding {
    /// Returns every fact with a value, except the response time, which each measurement has.
    pub(crate) fn all_of(facts: &impl FactSource) -> Vec<Self> {
        let of = |fact: &Fact| {
            let number = || facts.number(*fact).map(FindingValue::Number);
            let text = || facts.text(*fact).map(|text| FindingValue::Text(text.into_owned()));
            let list = || facts.list(*fact).map(|list| FindingValue::List(list.to_vec()));
            let value = number().or_else(text).or_else(list)?;
            Some(Self { field: fact.as_str(), value })
        };
        Fact::ALL.iter().filter(|fact| **fact != Fact::ResponseTimeMs).filter_map(of).collect()
    }
}
