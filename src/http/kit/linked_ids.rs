//! Ids of other resources in bodies and query strings: `service_ids`, `statuspage_ids` (contract 4.10.2, 4.10.5).
//!
//! In a body every id must exist in the organisation; in a filter, unknown and foreign ids are ignored. Only the form of ids
//! is checked here. The store checks whether they exist, with one query.

use std::collections::HashMap;

use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::ErrorCollector;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;

/// Maximum number of ids in one filter.
pub const FILTER_IDS_MAX: usize = 100;

/// The ids of a list in a body with their indices, without repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedIds {
    path: String,
    ids: Vec<(usize, Id)>,
}

/// Treatment of null entries in a list of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullEntries {
    /// Null entries are errors.
    Refused,
    /// Null entries are skipped.
    Ignored,
}

impl LinkedIds {
    /// Reads a list of at most `most` ids.
    #[must_use]
    pub fn read(field: &BodyField<'_>, most: usize, nulls: NullEntries) -> Option<Self> {
        let mut ids: Vec<(usize, Id)> = Vec::new();
        for (index, entry) in field.list(most)?.into_iter().enumerate() {
            if entry.value().is_null() && nulls == NullEntries::Ignored {
                continue;
            }
            // An entry of the wrong form has added an error; the existence of the other ids is still checked.
            if let Some(id) = read_id(&entry)
                && ids.iter().all(|(_, known)| *known != id)
            {
                ids.push((index, id));
            }
        }
        Some(Self { path: field.path().to_owned(), ids })
    }

    /// Returns the ids in the client's order.
    #[must_use]
    pub fn ids(&self) -> Vec<Id> {
        self.ids.iter().map(|(_, id)| *id).collect()
    }

    /// Returns the keys of the ids in the client's order. Adds an error for each id that is not `known`.
    pub fn resolve<K: Copy>(
        &self,
        kind: &'static str,
        known: &HashMap<Id, K>,
        errors: &ErrorCollector,
    ) -> Vec<K> {
        let mut keys = Vec::new();
        for (index, id) in &self.ids {
            match known.get(id) {
                Some(key) => keys.push(*key),
                None => errors
                    .add(format!("{}.{index}", self.path), FieldRule::UnknownId { kind, id: id.to_string() }),
            }
        }
        keys
    }
}

/// Reads an id; any other text is an error.
#[must_use]
pub fn read_id(field: &BodyField<'_>) -> Option<Id> {
    let text = field.string()?;
    text.trim().parse().ok().or_else(|| field.refuse(FieldRule::IdForm))
}

/// Reads the filter `service_ids`: `None` if it was not sent, an empty list if it selects nothing.
pub fn read_service_filter(query: &QueryString, errors: &mut FieldErrors) -> Option<Vec<Id>> {
    read_id_filter(query, "service_ids", errors)
}

/// Reads the filter by ids with this name, in the same way as [`read_service_filter`].
pub fn read_id_filter(query: &QueryString, name: &str, errors: &mut FieldErrors) -> Option<Vec<Id>> {
    let items = query.list(name)?;
    if items.len() > FILTER_IDS_MAX {
        errors.add(name, FieldRule::MaxItems(FILTER_IDS_MAX));
        return None;
    }
    let mut ids = Vec::new();
    for item in items {
        match item.text.parse() {
            Ok(id) => ids.push(id),
            Err(_) => errors.add(item.path(name), FieldRule::IdForm),
        }
    }
    Some(ids)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const A: &str = "rNSJxMbDTX2uHc08AiCqo";
    const B: &str = "8rumoia4tHtM30RLo1EcP";

    fn both_wrong() -> FieldErrors {
        let mut errors = FieldErrors::of("service_ids.2", FieldRule::IdForm);
        errors.add("service_ids.1", FieldRule::UnknownId { kind: "service", id: B.into() });
        errors
    }

    fn check(value: &Value, expected: &Result<Vec<&str>, FieldErrors>) {
        let errors = ErrorCollector::default();
        let ids = LinkedIds::read(&BodyField::new(value, "service_ids", &errors), 3, NullEntries::Ignored);
        let known = HashMap::from([(A.parse().unwrap(), "a")]);
        let keys = ids.map(|ids| ids.resolve("service", &known, &errors)).unwrap_or_default();
        assert_eq!(&errors.into_inner().into_result(keys), expected);
    }

    #[rstest]
    #[case(json!([]), Ok(vec![]))]
    #[case(json!([A, A, null]), Ok(vec!["a"]))]
    #[case(json!([A, A, A, A]), Err(FieldErrors::of("service_ids", FieldRule::MaxItems(3))))]
    #[case(json!([A, "short"]), Err(FieldErrors::of("service_ids.1", FieldRule::IdForm)))]
    #[case(json!([7]), Err(FieldErrors::of("service_ids.0", FieldRule::String)))]
    #[case(json!([null, B, "short"]), Err(both_wrong()))]
    #[case(json!(A), Err(FieldErrors::of("service_ids", FieldRule::List)))]
    #[case(
        json!([A, B]),
        Err(FieldErrors::of("service_ids.1", FieldRule::UnknownId { kind: "service", id: B.into() }))
    )]
    fn ids_of_a_body_must_exist(#[case] value: Value, #[case] expected: Result<Vec<&str>, FieldErrors>) {
        check(&value, &expected);
    }

    #[test]
    fn a_filter_takes_a_hundred_ids_of_the_right_form() {
        let read = |query: &str| {
            let mut errors = FieldErrors::default();
            let ids = read_service_filter(&QueryString::parse(query), &mut errors);
            errors.into_result(ids.map(|ids| ids.len()))
        };
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("service_ids="), Ok(Some(0)));
        assert_eq!(read(&format!("service_ids={A},{B}&service_ids[]={A}")), Ok(Some(1)));
        assert_eq!(read("service_ids=x"), Err(FieldErrors::of("service_ids.0", FieldRule::IdForm)));
        let many: Vec<String> = (0..101).map(|_| Id::random().to_string()).collect();
        let refused = FieldErrors::of("service_ids", FieldRule::MaxItems(100));
        assert_eq!(read(&format!("service_ids={}", many.join(","))), Err(refused));
        assert_eq!(read(&format!("service_ids={}", many[..100].join(","))), Ok(Some(100)));
    }
}
