//! A status page as it is stored (contract 4.13): its texts, languages, appearance and access.
//!
//! Components, domains and files of a page are in other modules. Of the password only a hash is stored.

pub mod access_link;
pub mod seo;
pub mod word;

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::statuspage::seo::SeoSettings;
use crate::model::statuspage::word::{AccessType, LogoSize, PageColorScheme, SubscriberChannel};
use crate::model::translated_text::TranslatedText;

/// Permitted number of characters of the name of a page, per language.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Permitted number of characters of a style sheet.
pub const CSS_LENGTH: RangeInclusive<usize> = 0..=10_000;
/// Permitted number of characters of the URL of an imprint or a privacy policy.
pub const URL_LENGTH: RangeInclusive<usize> = 0..=500;
/// Maximum number of e-mail addresses on the access list of a page.
pub const WHITELIST_MAX: usize = 500;

/// A status page as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuspage {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the page.
    pub organisation: i64,
    /// Display name.
    pub name: TranslatedText,
    /// Name in the URL, unique in the installation.
    pub slug: String,
    /// True if the page is published, so that visitors can open it.
    pub is_published: bool,
    /// Languages of the page as the client wrote them; `None` = all languages of the organisation.
    pub supported_locales: Option<Vec<String>>,
    /// Default language of the page as the client wrote it; `None` = that of the organisation.
    pub default_locale: Option<String>,
    /// Main colour as `#RRGGBB`; `None` = the default.
    pub primary_color: Option<String>,
    /// Second colour as `#RRGGBB`; `None` = the default.
    pub secondary_color: Option<String>,
    /// Sanitised style sheet of the organisation, if any.
    pub custom_css: Option<String>,
    /// URL of the imprint, if any.
    pub imprint_url: Option<String>,
    /// URL of the privacy policy, if any.
    pub privacy_policy_url: Option<String>,
    /// The optional parts of the page that visitors see.
    pub shows: VisibleSections,
    /// Display size of the logo.
    pub logo_size: LogoSize,
    /// The settings for search engines and link previews.
    pub seo: SeoSettings,
    /// Who may see the page.
    pub access_type: AccessType,
    /// Hash of the password for visitors, if one is set.
    pub password_hash: Option<String>,
    /// E-mail addresses whose readers may see the page, as the client wrote them.
    pub email_whitelist: Vec<String>,
    /// Colour scheme of the page.
    pub appearance: PageColorScheme,
    /// True if visitors may choose another colour scheme.
    pub allows_appearance_switch: bool,
    /// The channels through which visitors may subscribe.
    pub subscriber_channels: Vec<SubscriberChannel>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

/// The optional parts of a page that visitors see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleSections {
    /// Show the logo.
    pub logo: bool,
    /// Show which services an incident affects.
    pub affected_services: bool,
    /// Also show affected services that have no component on the page.
    pub unlinked_services: bool,
    /// Show past incidents.
    pub incident_history: bool,
    /// Show from which locations a component is reachable.
    pub locations: bool,
    /// Show the agreed availability of a component.
    pub sla: bool,
    /// Include components in the public JSON that the page hides while they are healthy.
    pub hidden_in_json: bool,
}

impl Default for VisibleSections {
    fn default() -> Self {
        Self {
            logo: true,
            affected_services: true,
            unlinked_services: false,
            incident_history: true,
            locations: false,
            sla: false,
            hidden_in_json: false,
        }
    }
}

impl Statuspage {
    /// A new page with all defaults of contract 4.13.1.
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

    /// Returns true if an e-mail address is on the access list of the page; compared without case.
    #[must_use]
    pub fn lists_address(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        self.email_whitelist.iter().any(|listed| listed.to_lowercase() == address)
    }

    /// The channels through which visitors can subscribe, with or without a mail server. Readers on an e-mail list can use
    /// only their addresses, so that nobody gets news who is no longer on it.
    #[must_use]
    pub fn visitor_channels(&self, sends_mails: bool) -> Vec<SubscriberChannel> {
        let is_offered = |channel: &SubscriberChannel| match channel {
            SubscriberChannel::Email => sends_mails,
            _ => self.access_type != AccessType::EmailWhitelist,
        };
        self.subscriber_channels.iter().copied().filter(is_offered).collect()
    }

    /// The languages that the page offers, as the organisation spells them.
    #[must_use]
    pub fn effective_locales(&self, organisation: &Organisation) -> Vec<String> {
        let own = self.supported_locales.iter().flatten();
        let mut served: Vec<String> = Vec::new();
        for locale in own.filter_map(|locale| used_locale(locale, &organisation.locales)) {
            if !served.contains(locale) {
                served.push(locale.clone());
            }
        }
        // The organisation may have removed the languages of the page.
        if served.is_empty() { organisation.locales.clone() } else { served }
    }

    /// The language for a visitor without a preference.
    #[must_use]
    pub fn effective_default_locale(&self, organisation: &Organisation) -> String {
        let served = self.effective_locales(organisation);
        let own = self.default_locale.as_ref().and_then(|own| used_locale(own, &served));
        let found = own.or_else(|| used_locale(&organisation.default_locale, &served)).or(served.first());
        found.unwrap_or(&organisation.default_locale).clone()
    }
}

/// The entry of `used` for this language, compared without case; `None` if it is not in the list.
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

    /// Contract 4.13.1: the languages that a page offers, and its default language.
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
