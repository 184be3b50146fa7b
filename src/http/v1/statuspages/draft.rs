//! Reads a status page from a request body (contract 4.13.2). Fields are read in the order of the table, and every error is
//! collected; nothing is stored.
//!
//! A rule between two fields is checked when the second one is read, on the resulting page.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::rule::FieldRule;
use crate::http::kit::translated::{TextLanguages, read_translated};
use crate::http::v1::statuspages::seo::read_seo;
use crate::model::access::Organisation;
use crate::model::css::sanitise;
use crate::model::email::is_address;
use crate::model::password::{PASSWORD_LENGTH, Password};
use crate::model::slug::{SLUG_LENGTH, is_slug};
use crate::model::statuspage::word::{AccessType, LogoSize, PageColorScheme, SubscriberChannel};
use crate::model::statuspage::{CSS_LENGTH, NAME_LENGTH, Statuspage, URL_LENGTH, WHITELIST_MAX, used_locale};
use crate::model::translated_text::TranslatedText;

/// Reads status pages of one organisation.
pub(super) struct StatuspageParser<'a> {
    /// The organisation that owns the page.
    pub(super) organisation: &'a Organisation,
    /// The requested slug if it is unavailable, else `None`.
    pub(super) unavailable: Option<String>,
    pub(super) now: Timestamp,
}

/// The contents of a valid body.
pub(super) struct StatuspageDraft {
    /// The page. Its slug is empty if it is to be derived from the name; its password hash is the old one.
    pub(super) page: Statuspage,
    pub(super) password: Option<Password>,
    /// True if a new page is to be published at once.
    pub(super) publish: bool,
}

/// Returns the requested slug, if it is well-formed.
pub(super) fn asked_slug(body: &Map<String, Value>) -> Option<String> {
    let slug = body.get("slug")?.as_str()?.trim();
    (is_slug(slug) && slug.len() <= SLUG_LENGTH).then(|| slug.to_owned())
}

impl StatuspageParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<StatuspageDraft, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| self.read_name(&field));
        // A missing name has added an error, so the page with this name is not returned.
        let name = name.unwrap_or_else(|| TranslatedText::single(&self.organisation.default_locale, ""));
        let page = Statuspage::new(self.organisation.key, name, self.now);
        let mut drafted = self.read(&fields, page);
        let publish = fields.optional("is_published").and_then(|field| field.boolean());
        drafted.publish = publish.unwrap_or(true);
        errors.into_inner().into_result(drafted)
    }

    /// Reads the body of an update request, and returns the stored page with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &Statuspage,
    ) -> Result<StatuspageDraft, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let mut page = stored.clone();
        set(&mut page.name, fields.optional("name").and_then(|field| self.read_name(&field)));
        let drafted = self.read(&fields, page);
        errors.into_inner().into_result(drafted)
    }

    fn read_name(&self, field: &BodyField<'_>) -> Option<TranslatedText> {
        read_translated(field, NAME_LENGTH, self.organisation)
    }

    /// Reads all fields except the name.
    fn read(&self, fields: &BodyFields<'_>, mut page: Statuspage) -> StatuspageDraft {
        set(&mut page.slug, fields.skippable("slug").and_then(|field| self.read_slug(&field)));
        change(&mut page.primary_color, read_color(fields, "primary_color"));
        change(&mut page.secondary_color, read_color(fields, "secondary_color"));
        change(&mut page.custom_css, read_css(fields));
        change(&mut page.imprint_url, read_url(fields, "imprint_url"));
        change(&mut page.privacy_policy_url, read_url(fields, "privacy_policy_url"));
        for (name, flag) in [
            ("show_logo", &mut page.shows.logo),
            ("show_affected_services", &mut page.shows.affected_services),
            ("show_unlinked_services", &mut page.shows.unlinked_services),
            ("show_incident_history", &mut page.shows.incident_history),
            ("show_locations", &mut page.shows.locations),
            ("show_sla", &mut page.shows.sla),
            ("status_json_includes_hidden", &mut page.shows.hidden_in_json),
        ] {
            set(flag, fields.optional(name).and_then(|field| field.boolean()));
        }
        let logo_size = fields.optional("logo_size").and_then(|field| field.word(LogoSize::WORDS));
        set(&mut page.logo_size, logo_size.and_then(|word| word.parse().ok()));
        let password = read_access(fields, &mut page);
        let appearance = fields.optional("appearance").and_then(|field| field.word(PageColorScheme::WORDS));
        set(&mut page.appearance, appearance.and_then(|word| word.parse().ok()));
        let may_switch = fields.optional("allow_appearance_switch").and_then(|field| field.boolean());
        set(&mut page.allows_appearance_switch, may_switch);
        let channels = fields.optional("subscriber_channels").and_then(|field| read_channels(&field));
        set(&mut page.subscriber_channels, channels);
        self.read_locales(fields, &mut page);
        self.read_seo(fields, &mut page);
        StatuspageDraft { page, password, publish: false }
    }

    /// Reads `seo` in the languages that the page will offer. Texts are required in the organisation's default language, or
    /// in the page's own default if the page does not offer that language.
    fn read_seo(&self, fields: &BodyFields<'_>, page: &mut Statuspage) {
        let offered = page.effective_locales(self.organisation);
        let default = used_locale(&self.organisation.default_locale, &offered);
        let default = default.cloned().unwrap_or_else(|| page.effective_default_locale(self.organisation));
        let languages =
            TextLanguages { used: &self.organisation.locales, offered: &offered, default: &default };
        set(&mut page.seo, fields.optional("seo").and_then(|field| read_seo(&field, languages)));
    }

    fn read_slug(&self, field: &BodyField<'_>) -> Option<String> {
        let slug = field.text(1..=SLUG_LENGTH)?;
        if !is_slug(&slug) {
            return field.refuse(FieldRule::SlugForm);
        }
        if self.unavailable.as_ref() == Some(&slug) {
            return field.refuse(FieldRule::SlugTaken);
        }
        Some(slug)
    }

    fn read_locales(&self, fields: &BodyFields<'_>, page: &mut Statuspage) {
        let given = fields.nullable("supported_locales");
        let was_given = !matches!(given, FieldPatch::Absent);
        let supported = given.read(|field| {
            let entries = field.list(usize::MAX)?;
            if entries.is_empty() {
                return field.refuse(FieldRule::MinItems(1));
            }
            collect(entries.iter().map(|entry| {
                let locale = entry.text(1..=usize::MAX)?;
                if used_locale(&locale, &self.organisation.locales).is_none() {
                    return entry.refuse(FieldRule::LocaleUnknown(locale));
                }
                Some(locale)
            }))
        });
        let is_sound = !was_given || !matches!(supported, FieldPatch::Absent);
        change(&mut page.supported_locales, supported);
        change(&mut page.default_locale, fields.nullable_text("default_locale", 1..=usize::MAX));
        let served = page.effective_locales(self.organisation);
        let is_served = page.default_locale.as_ref().is_none_or(|own| used_locale(own, &served).is_some());
        // A stored default language is only checked again if the body changes the languages.
        if is_sound && !is_served && (was_given || fields.has("default_locale")) {
            fields.refuse("default_locale", FieldRule::LocaleSubset);
        }
    }
}

/// Reads `access_type`, `password` and `email_whitelist`, which depend on each other.
fn read_access(fields: &BodyFields<'_>, page: &mut Statuspage) -> Option<Password> {
    let access_type = fields.optional("access_type").and_then(|field| field.word(AccessType::WORDS));
    let is_readable = access_type.is_some() || !fields.has("access_type");
    set(&mut page.access_type, access_type.and_then(|word| word.parse().ok()));
    let needs = |access_type| is_readable && page.access_type == access_type;
    let (needs_password, needs_list) = (needs(AccessType::Password), needs(AccessType::EmailWhitelist));

    let sent = match fields.nullable("password") {
        FieldPatch::Value(field) if field.value().as_str() == Some("") => FieldPatch::Null,
        given => given.read(|field| {
            let text = field.string()?;
            field.check_length(text, &PASSWORD_LENGTH)?;
            Some(Password::new(text.to_owned()))
        }),
    };
    let password = match sent {
        FieldPatch::Value(password) => Some(password),
        FieldPatch::Null => {
            page.password_hash = None;
            if needs_password {
                fields.refuse("password", FieldRule::PasswordNeeded);
            }
            None
        }
        FieldPatch::Absent => {
            if needs_password && page.password_hash.is_none() {
                fields.refuse("password", FieldRule::Required);
            }
            None
        }
    };

    let given = fields.nullable("email_whitelist");
    let list = match given {
        FieldPatch::Null => Some(Vec::new()),
        FieldPatch::Absent => None,
        FieldPatch::Value(field) => read_whitelist(&field),
    };
    set(&mut page.email_whitelist, list);
    if needs_list && page.email_whitelist.is_empty() {
        fields.refuse("email_whitelist", FieldRule::WhitelistNeeded);
    }
    password
}

fn read_whitelist(field: &BodyField<'_>) -> Option<Vec<String>> {
    collect(field.list(WHITELIST_MAX)?.iter().map(|entry| {
        let address = entry.text(0..=usize::MAX)?;
        if is_address(&address) { Some(address) } else { entry.refuse(FieldRule::Email) }
    }))
}

fn read_channels(field: &BodyField<'_>) -> Option<Vec<SubscriberChannel>> {
    let entries = field.list(SubscriberChannel::WORDS.len())?;
    if entries.is_empty() {
        return field.refuse(FieldRule::MinItems(1));
    }
    collect(entries.iter().map(|entry| entry.word(SubscriberChannel::WORDS)?.parse().ok()))
}

fn read_color(fields: &BodyFields<'_>, name: &str) -> FieldPatch<String> {
    let color = fields.nullable_text(name, 1..=usize::MAX);
    color.read(|color| {
        let is_color = color
            .strip_prefix('#')
            .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if !is_color {
            fields.refuse(name, FieldRule::Color);
        }
        is_color.then_some(color)
    })
}

fn read_css(fields: &BodyFields<'_>) -> FieldPatch<String> {
    match fields.nullable_text("custom_css", CSS_LENGTH).read(|sheet| Some(sanitise(&sheet))) {
        FieldPatch::Value(sheet) if sheet.is_empty() => FieldPatch::Null,
        given => given,
    }
}

fn read_url(fields: &BodyFields<'_>, name: &str) -> FieldPatch<String> {
    fields.nullable_text(name, URL_LENGTH).read(|text| {
        if !is_url(&text) {
            fields.refuse(name, FieldRule::Url);
            return None;
        }
        Some(text)
    })
}

/// Returns true for a URL that starts with `http://`, `https://` or `mailto:` and has a host or an address.
fn is_url(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let known = ["http://", "https://", "mailto:"].iter().any(|start| lower.starts_with(start));
    let parsed = url::Url::parse(text).ok();
    let names_something = parsed.is_some_and(|url| url.has_host() || url.path().contains('@'));
    is_plain && known && names_something
}

/// Reads all entries; returns `None` if one of them is invalid.
fn collect<T>(entries: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let entries: Vec<Option<T>> = entries.collect();
    entries.into_iter().collect()
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn change<T>(field: &mut Option<T>, given: FieldPatch<T>) {
    *field = given.or_stored(field.take());
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Contract 4.13.2: a URL starts with `http://`, `https://` or `mailto:`.
    #[rstest]
    #[case("https://example.com/imprint?a=b#c", true)]
    #[case("http://example.com", true)]
    #[case("mailto:legal@example.com", true)]
    #[case("HTTPS://EXAMPLE.COM", true)]
    #[case("ftp://example.com", false)]
    #[case("javascript:alert(1)", false)]
    #[case("example.com", false)]
    #[case("//example.com", false)]
    #[case("http://", false)]
    #[case("https:example.com", false)]
    #[case("mailto:", false)]
    #[case("https://example.com/a b", false)]
    #[case("java\tscript:alert(1)", false)]
    #[case("https://exa\nmple.com", false)]
    fn an_address_is_absolute_and_harmless(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(is_url(text), fits);
    }
}
