//! `settings` of a channel: read by the catalogue, secrets sealed.
//!
//! What is sent changes what is stored, key by key; null takes a setting away; the placeholder keeps a stored secret. No
//! error text repeats a secret.

use serde_json::{Map, Value};

use crate::http::kit::field::Field;
use crate::http::kit::rule::FieldRule;
use crate::notify::kinds::{self, Definition, Shape};
use crate::notify::sealed::ChannelVault;

const URL_LENGTH: std::ops::RangeInclusive<usize> = 1..=2_048;

/// The settings with what the client has sent. `vault` seals what is secret; its second part is the placeholder.
pub(super) fn read_settings(
    field: &Field<'_>,
    definition: &'static Definition,
    stored: &Map<String, Value>,
    (vault, keep): (ChannelVault<'_>, &str),
) -> Option<Map<String, Value>> {
    let members = field.object()?;
    let names: Vec<&str> = definition.fields.iter().map(|field| field.name).collect();
    members.refuse_unknown(&names);
    let mut settings = stored.clone();
    for (name, value) in members.each() {
        let Some(about) = definition.field(name) else { continue };
        if value.value().is_null() {
            settings.remove(name);
            continue;
        }
        if about.is_secret && value.value().as_str() == Some(keep) {
            if !stored.contains_key(name) {
                value.refuse::<()>(FieldRule::SecretMissing);
            }
            continue;
        }
        let Some(read) = read_setting(&value, about) else {
            // Noted; it counts as given.
            settings.insert(name.to_owned(), Value::Null);
            continue;
        };
        let read = if about.is_secret { vault.seal(name, &read) } else { read };
        settings.insert(name.to_owned(), read);
    }
    for about in definition.fields {
        match about.shape {
            Shape::Select { default, .. } if !settings.contains_key(about.name) => {
                settings.insert(about.name.to_owned(), default.into());
            }
            _ if about.is_required && !settings.contains_key(about.name) => {
                members.refuse(about.name, FieldRule::Required);
            }
            _ => {}
        }
    }
    Some(settings)
}

fn read_setting(value: &Field<'_>, about: &kinds::Field) -> Option<Value> {
    let text = match about.shape {
        Shape::Url => {
            let text = value.text(URL_LENGTH)?;
            if !kinds::is_url(&text) {
                return value.refuse(FieldRule::TargetUrl);
            }
            text
        }
        Shape::Text { max_length, passes, form } => {
            let text = value.text(1..=max_length)?;
            if !passes(&text) {
                return value.refuse(FieldRule::Form(form));
            }
            text
        }
        Shape::Select { options, .. } => value.word(options)?.to_owned(),
    };
    Some(Value::from(text))
}
