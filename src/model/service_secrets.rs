//! The secrets in the configuration of a service (contract 4.2.3, 4.3.5): which values are secret, and to which field each
//! sealed text is bound.
//!
//! Code that seals, opens or hides secrets uses this module, so that it agrees on the secret values and their paths.

use serde_json::{Map, Value};

use crate::id::Id;
use crate::model::secret::SecretPlace;

/// The objects of a configuration that contain secrets: all headers, and some members of the credentials.
const BLOCKS: [&str; 2] = [HEADERS, "auth"];
const HEADERS: &str = "headers";
/// The secret members of the credentials, for all types of credentials.
const CREDENTIALS: [&str; 3] = ["password", "token", "value"];

/// Calls `visit` for every secret value of a configuration, with its path.
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

/// Returns the path under which a secret is sealed, in lower case, because names of headers are not case-sensitive.
#[must_use]
pub fn path_of(path: &str) -> String {
    path.to_ascii_lowercase()
}

/// Returns the field of the secret at `path`, to which its sealed text is bound.
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
