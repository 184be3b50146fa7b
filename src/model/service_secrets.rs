//! The secrets in a service's configuration (contract 4.2.3, 4.3.5): which leaves are secret, and where each is
//! sealed.
//!
//! Code that seals, opens or hides them uses this module, so that all of them agree on the leaves and their paths.

use serde_json::{Map, Value};

use crate::id::Id;
use crate::model::secret::SecretPlace;

/// The blocks with secrets: every header is one, and so are some members of the credentials.
const BLOCKS: [&str; 2] = [HEADERS, "auth"];
const HEADERS: &str = "headers";
/// The secret members of the credentials, of any type.
const CREDENTIALS: [&str; 3] = ["password", "token", "value"];

/// Visits every secret leaf of a configuration, with its path.
///
/// # Errors
///
/// The first error of `visit`.
pub fn each_leaf<E>(
    config: &mut Map<String, Value>,
    mut visit: impl FnMut(String, &mut Value) -> Result<(), E>,
) -> Result<(), E> {
    for block in BLOCKS {
        let Some(Value::Object(members)) = config.get_mut(block) else { continue };
        let is_secret = |name: &str| block == HEADERS || CREDENTIALS.contains(&name);
        for (name, value) in members.iter_mut().filter(|(name, _)| is_secret(name)) {
            visit(path_of(&format!("settings.config.{block}.{name}")), value)?;
        }
    }
    Ok(())
}

/// Returns the path under which a leaf is sealed; header names have no case, so paths have none either.
#[must_use]
pub fn path_of(path: &str) -> String {
    path.to_ascii_lowercase()
}

/// Returns the place of the leaf at `path`, to which its sealed text is bound.
#[must_use]
pub fn place_of<'a>(organisation: &'a Id, service: &'a Id, path: &'a str) -> SecretPlace<'a> {
    SecretPlace { organisation: organisation.as_str(), table: "service", row: service.as_str(), field: path }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    #[test]
    fn headers_and_the_secret_parts_of_credentials_are_leaves() {
        let config = json!({
            "method": "GET", "headers": {"X-Api-Key": "a", "accept": "b"},
            "auth": {"type": "basic", "username": "c", "password": "d", "token": "e", "header": "f", "value": "g"},
            "body": "h", "conditions": [],
        });
        let Value::Object(mut config) = config else { unreachable!() };
        let mut found = Vec::new();
        let visited: Result<(), Infallible> = each_leaf(&mut config, |path, value| {
            found.push((path, value.take()));
            Ok(())
        });
        assert!(visited.is_ok());
        let found: Vec<String> = found.iter().map(|(path, value)| format!("{path} {value}")).collect();
        let expected = [
            r#"settings.config.headers.x-api-key "a""#,
            r#"settings.config.headers.accept "b""#,
            r#"settings.config.auth.password "d""#,
            r#"settings.config.auth.token "e""#,
            r#"settings.config.auth.value "g""#,
        ];
        assert_eq!(found, expected);
    }
}
