//! Reads whole numbers of settings, within their bounds.

use std::ops::RangeInclusive;

use crate::http::kit::fields::BodyFields;

/// Returns the sent number, else `default`; adds an error for an invalid number.
pub(super) fn read_number<T>(
    members: &BodyFields<'_>,
    name: &str,
    bounds: &RangeInclusive<T>,
    default: T,
) -> T
where
    T: Copy + Into<i64> + TryFrom<i64>,
{
    let bounds = (*bounds.start()).into()..=(*bounds.end()).into();
    let sent = members.optional(name).and_then(|field| field.integer(bounds));
    sent.and_then(|number| T::try_from(number).ok()).unwrap_or(default)
}
