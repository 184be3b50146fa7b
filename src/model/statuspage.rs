//! A status page as it is stored (contract 4.13): its texts, its languages, its visibility.
//!
//! Its components, domains and files are in modules of their own. The password is stored only as its hash.

pub mod seo;
pub mod word;

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::statuspage::seo::SeoSettings;
use crate::model::statuspage::word::{AccessType, LogoSize, PageColorScheme, SubscriberChannel};
use crate::model::translated_text::TranslatedText;

/// Permitted number of characters of a name, per language.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Permitted number of characters of a style sheet.
pub const CSS_LENGTH: RangeInclusive<usize> = 0..=10_000;
/// Permitted number of characters of the address of an imprint or a privacy policy.
pub const URL_LENGTH: RangeInclusive<usize> = 0..=500;
/// Maximum number of addresses that may see a page.
pub const WHITELIST_MAX: usize = 500;

/// A status page as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuspage {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// Display name.
    pub name: TranslatedText,
    /// Name in the URL, unique in the installation.
    pub slug: String,
    /// True if its address answers.
    pub is_published: bool,
    /// Own languages as the client wrote them; `None` = those of the organisation.
    pub supported_locales: Option<Vec<String>>,
    /// Own default language as the client wrote it.
    pub default_locale: Option<String>,
    /// Main colour as `#RRGGBB`.
    pub primary_color: Option<String>,
    /// Second colour as `#RRGGBB`.
    pub secondary_color: Option<String>,
    /// Sanitised CSS of the organisation.
    pub custom_css: Option<String>,
    /// URL of the imprint.
    pub imprint_url: Option<String>,
    /// Address of the privacy policy.
    pub privacy_policy_url: Option<String>,
    /// The parts of the page that visitors see.
    pub shows: VisibleSections,
    /// Display size of the logo.
    pub logo_size: LogoSize,
    /// The settings for search engines and link previews.
    pub seo: SeoSettings,
    /// The visitors who may see the page.
    pub access_type: AccessType,
    /// Hash of the visitors' password.
    pub password_hash: Option<String>,
    /// Addresses that may see it, as written.
    pub email_whitelist: Vec<String>,
    /// Colour scheme.
    pub appearance: PageColorScheme,
    /// True if visitors may choose another colour scheme for themselves.
    pub allows_appearance_switch: bool,
    /// The channels through which visitors may subscribe.
    pub subscriber_channels: Vec<SubscriberChannel>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

/// The parts of a page that visitors see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleSections {
    /// True if the logo is shown.
    pub logo: bool,
    /// The services that an incident affects.
    pub affected_services: bool,
    /// Those of them without a component, too.
    pub unlinked_services: bool,
    /// True if past incidents are shown.
    pub incident_history: bool,
    /// In the public JSON: children that are hidden for being healthy.
    pub hidden_in_json: bool,
}

impl Default for VisibleSections {
    fn default() -> Self {
        Self {
            logo: true,
            affected_services: true,
            unlinked_services: false,
            incident_history: true,
            hidden_in_json: false,
        }
    }
}

impl Statuspage {
    /// A new page with every default of contract 4.13.1.
    #[must_use]
    pub fn new(organisation: i64, name: TranslatedText, now: Timestamp) -> Self {
        Self {
            key: 0,
            id: Id::random(),
            organisation,
            name,
            slug: String::new(),
            is_published: false,
            supported_locales: None,
            default_locale: None,
            primary_color: None,
            secondary_color: None,
            custom_css: None,
            imprint_url: None,
            privacy_policy_url: None,
            shows: VisibleSections::default(),
            logo_size: LogoSize::Medium,
            seo: SeoSettings::default(),
            access_type: AccessType::Public,
            password_hash: None,
            email_whitelist: Vec::new(),
            appearance: PageColorScheme::System,
            allows_appearance_switch: true,
            subscriber_channels: vec![SubscriberChannel::Email],
            created_at: now,
            updated_at: now,
        }
    }

    /// The languages that the page serves, in the spelling of the organisation.
    #[must_use]
    pub fn effective_locales(&self, organisation: &Organisation) -> Vec<String> {
        let own = self.supported_locales.iter().flatten();
        let mut served: Vec<String> = Vec::new();
        for locale in own.filter_map(|locale| used_locale(locale, &organisation.locales)) {
            if !served.contains(locale) {
                served.push(locale.clone());
            }
        }
        // An organisation may have removed a language since.
        if served.is_empty() { organisation.locales.clone() } else { served }
    }

    /// The language of a visitor who prefers none.
    #[must_use]
    pub fn effective_default_locale(&self, organisation: &Organisation) -> String {
        let served = self.effective_locales(organisation);
        let own = self.default_locale.as_ref().and_then(|own| used_locale(own, &served));
        let found = own.or_else(|| used_locale(&organisation.default_locale, &served)).or(served.first());
        found.unwrap_or(&organisation.default_locale).clone()
    }
}

/// The language of this name among those in use; languages are compared without case.
#[must_use]
pub fn used_locale<'a>(locale: &str, used: &'a [String]) -> Option<&'a String> {
    used.iter().find(|known| known.eq_ignore_ascii_case(locale))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::access::Plan;

    fn organisation() -> Organisation {
        Organisation {
            key: 1,
            id: Id::random(),
            name: "Example Ltd".into(),
            plan: Plan::Team,
            self_hosted: false,
            locales: vec!["en".into(), "de".into(), "pt-BR".into()],
            default_locale: "en".into(),
            created_at: Timestamp::from_ms(0),
        }
    }

    /// Contract 4.13.1: the languages that a page really serves.
    #[rstest]
    #[case(None, None, &["en", "de", "pt-BR"], "en")]
    #[case(None, Some("DE"), &["en", "de", "pt-BR"], "de")]
    #[case(Some(vec!["pt-br", "DE"]), None, &["pt-BR", "de"], "pt-BR")]
    #[case(Some(vec!["de", "en"]), None, &["de", "en"], "en")]
    #[case(Some(vec!["de", "de"]), Some("de"), &["de"], "de")]
    #[case(Some(vec!["fr"]), Some("fr"), &["en", "de", "pt-BR"], "en")]
    fn a_page_serves_its_own_languages_or_all(
        #[case] supported: Option<Vec<&str>>,
        #[case] default: Option<&str>,
        #[case] served: &[&str],
        #[case] served_default: &str,
    ) {
        let mut page = Statuspage::new(1, TranslatedText::single("en", "Shop"), Timestamp::from_ms(0));
        page.supported_locales = supported.map(|locales| locales.into_iter().map(str::to_owned).collect());
        page.default_locale = default.map(str::to_owned);
        assert_eq!(page.effective_locales(&organisation()), served);
        assert_eq!(page.effective_default_locale(&organisation()), served_default);
    }
}
