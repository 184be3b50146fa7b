//! Reads `settings.config.headers` and `settings.config.auth`, the two blocks with secrets (contract 4.2.2, 4.2.3,
//! 4.3.5).
//!
//! A block that is sent replaces the stored one. The placeholder keeps a single stored secret in its sealed form. Neither
//! responses nor error texts ever contain a secret.

use std::convert::Infallible;
use std::ops::RangeInclusive;

use http::header::HOST;
use serde_json::{Map, Value};

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::BodyFields;
use crate::http::kit::rule::FieldRule;
use crate::model::service_secrets::each_leaf;
use crate::model::vault::ServiceVault;
use crate::probe::header::{self, HeaderNameRefusal};

/// Length of a header's value in characters.
pub(super) const HEADER_VALUE_LENGTH: RangeInclusive<usize> = 0..=8192;

/// Reads a block of headers; `stored` is the block of the stored configuration.
#[must_use]
pub fn read_headers(
    field: &BodyField<'_>,
    most: usize,
    stored: &Map<String, Value>,
    vault: &ServiceVault<'_>,
) -> Option<Map<String, Value>> {
    let members = field.object()?;
    if members.each().count() > most {
        return field.refuse(FieldRule::MaxItems(most));
    }
    let mut headers: Map<String, Value> = Map::new();
    for (name, value) in members.each() {
        let sealed = match header::configured_name(name) {
            Err(refusal) => value.refuse(name_rule(refusal)),
            Ok(_) if holds(&headers, name) => value.refuse(FieldRule::HeaderTwice),
            Ok(_) => read_header(name, &value, stored, vault),
        };
        // The name of a refused header is taken as well, so that a second header of this name counts as a duplicate.
        headers.insert(name.to_owned(), sealed.unwrap_or_default());
    }
    Some(headers)
}

fn read_header(
    name: &str,
    value: &BodyField<'_>,
    stored: &Map<String, Value>,
    vault: &ServiceVault<'_>,
) -> Option<Value> {
    if vault.is_placeholder(value.value()) {
        let same = stored.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        return same.map(|(_, sealed)| sealed.clone()).or_else(|| value.refuse(FieldRule::SecretMissing));
    }
    let text = value.string()?;
    value.check_length(text, &HEADER_VALUE_LENGTH)?;
    check_header_value(value, text)?;
    if name.eq_ignore_ascii_case(HOST.as_str()) && !header::is_host(text) {
        return value.refuse(FieldRule::HeaderValue);
    }
    Some(vault.seal(value.path(), text))
}

fn holds(headers: &Map<String, Value>, name: &str) -> bool {
    headers.keys().any(|known| known.eq_ignore_ascii_case(name))
}

fn name_rule(refusal: HeaderNameRefusal) -> FieldRule {
    match refusal {
        HeaderNameRefusal::Form => FieldRule::HeaderName,
        HeaderNameRefusal::Reserved => FieldRule::HeaderReserved,
    }
}

/// Refuses a text that is not allowed in a header line, because it has control characters other than tab.
fn check_header_value(field: &BodyField<'_>, text: &str) -> Option<()> {
    let is_sendable = |character: char| character == '\t' || !character.is_ascii_control();
    if text.chars().all(is_sendable) { Some(()) } else { field.refuse(FieldRule::HeaderValue) }
}

/// A key of a block of credentials.
struct CredentialKey {
    key: &'static str,
    form: CredentialForm,
}

enum CredentialForm {
    /// A secret that is sent in a header line, as a whole or as a part.
    HeaderSecret,
    /// A secret that is encoded before it is sent.
    Password,
    /// A user name, which is shown.
    Username,
    /// The name of a header, which is shown.
    HeaderName,
}

/// The types of credentials of contract 4.2.3, with their keys.
const AUTH_TYPES: [(&str, &[CredentialKey]); 4] = [
    ("none", &[]),
    ("bearer", &[CredentialKey { key: "token", form: CredentialForm::HeaderSecret }]),
    (
        "basic",
        &[
            CredentialKey { key: "username", form: CredentialForm::Username },
            CredentialKey { key: "password", form: CredentialForm::Password },
        ],
    ),
    (
        "api_key",
        &[
            CredentialKey { key: "header", form: CredentialForm::HeaderName },
            CredentialKey { key: "value", form: CredentialForm::HeaderSecret },
        ],
    ),
];

/// Returns the block of a service without credentials.
#[must_use]
pub fn no_auth() -> Map<String, Value> {
    [("type".to_owned(), Value::from("none"))].into_iter().collect()
}

/// Reads a block of credentials as a whole, with the keys of its `type`. `stored` is the block of the stored configuration.
#[must_use]
pub fn read_auth(
    field: &BodyField<'_>,
    stored: &Map<String, Value>,
    vault: &ServiceVault<'_>,
) -> Option<Map<String, Value>> {
    let members = field.object()?;
    let (name, parts) = read_auth_type(&members, vault)?;
    let mut auth = Map::new();
    auth.insert("type".into(), name.into());
    for part in parts {
        let value = members.required(part.key).and_then(|field| read_part(part, &field, stored, vault));
        auth.insert(part.key.into(), value.unwrap_or_default());
    }
    refuse_foreign(&members, parts);
    Some(auth)
}

fn read_auth_type(
    members: &BodyFields<'_>,
    vault: &ServiceVault<'_>,
) -> Option<(&'static str, &'static [CredentialKey])> {
    let field = members.required("type")?;
    if vault.is_placeholder(field.value()) {
        return field.refuse(FieldRule::SecretMisplaced);
    }
    let name = field.word(&AUTH_TYPES.map(|(name, _)| name))?;
    AUTH_TYPES.into_iter().find(|(known, _)| *known == name)
}

fn read_part(
    part: &CredentialKey,
    field: &BodyField<'_>,
    stored: &Map<String, Value>,
    vault: &ServiceVault<'_>,
) -> Option<Value> {
    let is_secret = matches!(part.form, CredentialForm::HeaderSecret | CredentialForm::Password);
    if is_secret && vault.is_placeholder(field.value()) {
        return stored.get(part.key).cloned().or_else(|| field.refuse(FieldRule::SecretMissing));
    }
    if !is_secret && vault.is_placeholder_when_trimmed(field.value()) {
        return field.refuse(FieldRule::SecretMisplaced);
    }
    let text = match part.form {
        CredentialForm::HeaderSecret => {
            field.text(1..=8192).filter(|text| check_header_value(field, text).is_some())?
        }
        CredentialForm::Password => field.text(0..=8192)?,
        CredentialForm::Username => field.text(1..=1024)?,
        CredentialForm::HeaderName => match header::credential_name(field.string()?) {
            Err(refusal) => return field.refuse(name_rule(refusal)),
            Ok(_) => field.string()?.to_owned(),
        },
    };
    Some(if is_secret { vault.seal(field.path(), &text) } else { text.into() })
}

/// Refuses all keys that do not belong to the type. Keys of other types are allowed with null, as typed clients send them.
fn refuse_foreign(members: &BodyFields<'_>, own: &[CredentialKey]) {
    let is_part_of = |parts: &[CredentialKey], key: &str| parts.iter().any(|part| part.key == key);
    let known: Vec<&str> = ["type"].into_iter().chain(own.iter().map(|part| part.key)).collect();
    for (key, value) in members.each() {
        let of_another_type = AUTH_TYPES.iter().any(|(_, parts)| is_part_of(parts, key));
        let is_harmless = of_another_type && value.value().is_null();
        if key != "type" && !is_part_of(own, key) && !is_harmless {
            value.refuse::<()>(FieldRule::unknown_key(&known));
        }
    }
}

/// Returns a configuration with the placeholder in place of every secret.
#[must_use]
pub fn masked(mut config: Map<String, Value>, keep: &str) -> Map<String, Value> {
    let hidden: Result<(), Infallible> = each_leaf(&mut config, |_, value| {
        *value = keep.into();
        Ok(())
    });
    match hidden {
        Ok(()) => config,
    }
}
