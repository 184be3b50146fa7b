//! Views: the JSON objects that clients see. Each is one struct, from which both the response and its description are
//! derived.

use serde::Serialize;
use serde_json::Value;

/// Returns a view as JSON text, with members in the order of the struct.
///
/// # Panics
/// When a map of the view has keys other than strings; views have none.
#[must_use]
pub fn to_text(view: &impl Serialize) -> String {
    serde_json::to_string(view).unwrap_or_else(|error| unreachable!("a view is plain data: {error}"))
}

/// Returns a view as a JSON value, with members in the order of the struct.
///
/// # Panics
/// When a map of the view has keys other than strings; views have none.
#[must_use]
pub fn to_json(view: &impl Serialize) -> Value {
    serde_json::to_value(view).unwrap_or_else(|error| unreachable!("a view is plain data: {error}"))
}
