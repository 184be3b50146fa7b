//! Finds items named on the command line, by id or by name in any case.

use crate::config::sources::ConfigError;
use crate::id::Id;
use crate::model::access::Organisation;

/// The words for a kind of item in messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedKind {
    /// Singular, such as `organisation`.
    pub(super) one: &'static str,
    /// Plural.
    pub(super) several: &'static str,
    /// Hint about how to list the items, such as `see watchkeeper org list`.
    pub(super) hint: &'static str,
}

const ORGANISATION: NamedKind =
    NamedKind { one: "organisation", several: "organisations", hint: "see watchkeeper org list" };

/// Returns the item with this id, or else the only one with this name.
///
/// # Errors
/// [`ConfigError`] if no item matches, or if several have the name.
pub(super) fn find_named<'a, T>(
    all: &'a [T],
    wanted: &str,
    kind: NamedKind,
    id_and_name: impl Fn(&T) -> (&Id, &str),
) -> Result<&'a T, ConfigError> {
    if let Some(found) = all.iter().find(|one| id_and_name(one).0.as_str() == wanted) {
        return Ok(found);
    }
    let NamedKind { one, several, hint } = kind;
    let folded = wanted.trim().to_lowercase();
    let mut so_called = all.iter().filter(|one| id_and_name(one).1.to_lowercase() == folded);
    match (so_called.next(), so_called.next()) {
        (Some(found), None) => Ok(found),
        (None, _) => Err(ConfigError(format!("there is no {one} '{wanted}'; {hint}"))),
        (Some(_), Some(_)) => {
            Err(ConfigError(format!("several {several} are called '{wanted}': use the id of one; {hint}")))
        }
    }
}

/// Returns the organisation with this id or name.
///
/// # Errors
///
/// As [`find_named`].
pub(super) fn find_organisation<'a>(
    all: &'a [Organisation],
    wanted: &str,
) -> Result<&'a Organisation, ConfigError> {
    find_named(all, wanted, ORGANISATION, |one| (&one.id, &one.name))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ONE: &str = "V1StGXR8_Z5jdHi6B-myT";

    #[rstest]
    #[case(ONE, Ok("Shop"))]
    #[case("shop", Ok("Shop"))]
    #[case(" Größe ", Ok("größe"))]
    #[case("twin", Err("several things are called 'twin': use the id of one; look there"))]
    #[case("none", Err("there is no thing 'none'; look there"))]
    fn a_row_is_found_by_id_or_by_unique_name(#[case] wanted: &str, #[case] expected: Result<&str, &str>) {
        let all = [
            (ONE.parse().unwrap(), "Shop"),
            (Id::random(), "Twin"),
            (Id::random(), "twin"),
            (Id::random(), "größe"),
        ];
        let kind = NamedKind { one: "thing", several: "things", hint: "look there" };
        let found = find_named(&all, wanted, kind, |(id, name)| (id, name));
        assert_eq!(found.map(|(_, name)| *name).map_err(|error| error.0), expected.map_err(str::to_owned));
    }
}
