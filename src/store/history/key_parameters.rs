//! Lists of keys in statements.

use sea_orm::Value;

/// Keys as bound parameters of a statement.
pub(super) struct KeyParameters {
    /// The placeholders, as the text between the parentheses of `IN`.
    pub(super) placeholders: String,
    /// The values of the parameters.
    pub(super) values: Vec<Value>,
    /// The number of the next free parameter.
    pub(super) next: usize,
}

/// Binds keys to parameters, the first of which has the number `first`. The last key is repeated up to a power of two, so
/// that only a few statement texts are prepared.
pub(super) fn listed(first: usize, keys: &[i64]) -> KeyParameters {
    let next = first + keys.len().next_power_of_two();
    let placeholders: Vec<String> = (first..next).map(|number| format!("${number}")).collect();
    let padding = keys.last().into_iter().cycle();
    let values = keys.iter().chain(padding).take(next - first).map(|key| Value::from(*key)).collect();
    KeyParameters { placeholders: placeholders.join(","), values, next }
}
