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

/// Returns the paths of the secrets of a configuration that are those of the stored one: they were not entered again. A text
/// that is sealed twice is never the same.
#[must_use]
pub fn kept_leaves(config: &Map<String, Value>, stored: &Map<String, Value>) -> Vec<String> {
    let mut kept = Vec::new();
    for block in BLOCKS {
        let members = |config: &Map<String, Value>| config.get(block).and_then(Value::as_object).cloned();
        let (Some(members), Some(stored)) = (members(config), members(stored)) else { continue };
        let is_secret = |name: &str| block == HEADERS || CREDENTIALS.contains(&name);
        let is_kept = |value: &Value| stored.values().any(|known| known == value);
        let found = members.iter().filter(|(name, value)| is_secret(name) && is_kept(value));
        kept.extend(found.map(|(name, _)| format!("settings.config.{block}.{name}")));
    }
    kept
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
    fn secrets_that_were_not_entered_again_are_kept() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let stored = object(json!({
            "headers": {"X-Api-Key": "a", "Accept": "b"},
            "auth": {"type": "basic", "username": "c", "password": "d"},
        }));
        let tried = object(json!({
            "headers": {"x-api-key": "a", "Accept": "new", "X-New": "f"},
            "auth": {"type": "basic", "username": "c", "password": "d"},
        }));
        let expected = ["settings.config.headers.x-api-key", "settings.config.auth.password"];
        assert_eq!(kept_leaves(&tried, &stored), expected);
        assert_eq!(kept_leaves(&stored, &object(json!({}))), Vec::<String>::new());
    }

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
