//! Reads the `settings` of a channel as its kind defines them, and seals secrets.
//!
//! Sent settings replace stored ones, key by key. Null removes a setting, and the placeholder keeps a stored secret. No
//! error text repeats a secret.

use serde_json::{Map, Value};

use crate::http::kit::field::BodyField;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::notification_channels::template_flaws::TemplateFlaws;
use crate::notify::kinds::{self, ChannelDefinition, FieldShape};
use crate::notify::sealed::ChannelVault;

const URL_LENGTH: std::ops::RangeInclusive<usize> = 1..=2_048;

/// Returns the stored settings with the sent ones applied. `flaws` are the errors of the sent templates, `vault` seals
/// secrets, and `keep` is the placeholder.
pub(super) fn read_settings(
    field: &BodyField<'_>,
    definition: &'static ChannelDefinition,
    stored: &Map<String, Value>,
    flaws: &TemplateFlaws,
    vault: ChannelVault<'_>,
    keep: &str,
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
        let Some(read) = read_setting(&value, about, flaws) else {
            // An error has been added, so this value is not stored. It only prevents a second error for a missing setting.
            settings.insert(name.to_owned(), Value::Null);
            continue;
        };
        let read = if about.is_secret { vault.seal(name, &read) } else { read };
        settings.insert(name.to_owned(), read);
    }
    for about in definition.fields {
        match about.shape {
            FieldShape::Number { default, .. } if !settings.contains_key(about.name) => {
                settings.insert(about.name.to_owned(), default.into());
            }
            FieldShape::Select { default, .. } if !settings.contains_key(about.name) => {
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

fn read_setting(value: &BodyField<'_>, about: &kinds::ChannelField, flaws: &TemplateFlaws) -> Option<Value> {
    Some(match about.shape {
        FieldShape::Url => {
            let text = value.text(URL_LENGTH)?;
            if !kinds::is_url(&text) {
                return value.refuse(FieldRule::TargetUrl);
            }
            text.into()
        }
        FieldShape::Text { max_length, passes, form } => read_text(value, max_length, passes, form)?.into(),
        FieldShape::Template { max_length, .. } => {
            let text = value.text(1..=max_length)?;
            if let Some(flaw) = flaws.of(about.name) {
                return value.refuse(FieldRule::Template(flaw.to_string()));
            }
            text.into()
        }
        FieldShape::List { max_items, max_length, passes, form } => {
            let entries = value.list(max_items)?;
            if entries.is_empty() {
                return value.refuse(FieldRule::MinItems(1));
            }
            let read: Vec<_> =
                entries.iter().map(|entry| read_text(entry, max_length, passes, form)).collect();
            read.into_iter().collect::<Option<Vec<String>>>()?.into()
        }
        FieldShape::Headers { max_items } => read_headers(value, max_items)?,
        FieldShape::Number { min, max, .. } => value.integer(min..=max)?.into(),
        FieldShape::Select { options, .. } => value.word(options)?.into(),
    })
}

fn read_text(
    value: &BodyField<'_>,
    max_length: usize,
    passes: fn(&str) -> bool,
    form: &'static str,
) -> Option<String> {
    let text = value.text(1..=max_length)?;
    if passes(&text) { Some(text) } else { value.refuse(FieldRule::Form(form)) }
}

fn read_headers(value: &BodyField<'_>, max_items: usize) -> Option<Value> {
    let members = value.object()?;
    let mut headers = Map::new();
    let mut is_whole = true;
    for (name, member) in members.each() {
        if headers.len() == max_items {
            return value.refuse(FieldRule::MaxItems(max_items));
        }
        if !kinds::is_header_name(name) {
            value.refuse::<()>(FieldRule::Form("names of headers that a request may bring"));
            is_whole = false;
            continue;
        }
        let text = read_text(&member, kinds::HEADER_LENGTH, kinds::is_header_value, "printable ASCII");
        is_whole &= text.is_some();
        headers.insert(name.to_owned(), text.into());
    }
    is_whole.then_some(Value::Object(headers))
}
