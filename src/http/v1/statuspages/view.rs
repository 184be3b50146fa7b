//! Status pages as clients see them (contract 4.13.1), in the order of its example.
//!
//! A list shows the number of components, a single page shows the components, and a response about a file shows neither.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::openapi::shape::{
    ApiSchema, color, enum_of, id, integer, list_of, string_or_null, text, timestamp, translations, url,
    url_or_null,
};
use crate::http::v1::components::view::ComponentView;
use crate::http::v1::statuspages::asset_urls::AssetUrls;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::slug::SLUG_LENGTH;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::seo::SeoSettings;
use crate::model::statuspage::word::{
    AccessType, ImageAppearance, LogoSize, PageColorScheme, SubscriberChannel,
};
use crate::model::translated_text::TranslatedText;

/// A single status page.
#[derive(Serialize, ToSchema)]
pub(super) struct StatuspageView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    pub(super) page: StatuspageBodyView<'a>,
    #[schema(schema_with = components_count)]
    pub(super) components_count: usize,
    /// All components of the page in one flat list, parents before children.
    pub(super) components: Vec<ComponentView<'a>>,
    #[schema(schema_with = timestamp)]
    pub(super) created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    pub(super) updated_at: Timestamp,
}

/// A status page, as a row of a list.
#[derive(Serialize, ToSchema)]
pub(super) struct StatuspageRowView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    pub(super) page: StatuspageBodyView<'a>,
    #[schema(schema_with = components_count)]
    pub(super) components_count: u64,
    #[schema(schema_with = timestamp)]
    pub(super) created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    pub(super) updated_at: Timestamp,
}

/// A status page, in the response to a change of one of its files.
#[derive(Serialize, ToSchema)]
pub(super) struct StatuspageFilesView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    pub(super) page: StatuspageBodyView<'a>,
    #[schema(schema_with = timestamp)]
    pub(super) created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    pub(super) updated_at: Timestamp,
}

/// The members of a page that every response shows.
#[derive(Serialize, ToSchema)]
pub(super) struct StatuspageBodyView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    name: &'a str,
    #[schema(schema_with = translations)]
    name_translations: &'a TranslatedText,
    #[schema(schema_with = slug)]
    slug: &'a str,
    #[schema(schema_with = public_url)]
    url: String,
    is_published: bool,
    theme: &'static str,
    /// The languages of the page; null means those of the organisation.
    #[schema(required)]
    supported_locales: Option<&'a [String]>,
    #[schema(required)]
    default_locale: Option<&'a str>,
    effective_supported_locales: Vec<String>,
    effective_default_locale: String,
    #[schema(schema_with = color_or_null, required)]
    primary_color: Option<&'a str>,
    #[schema(schema_with = color_or_null, required)]
    secondary_color: Option<&'a str>,
    #[schema(schema_with = string_or_null, required)]
    custom_css: Option<&'a str>,
    #[schema(schema_with = string_or_null, required)]
    imprint_url: Option<&'a str>,
    #[schema(schema_with = string_or_null, required)]
    privacy_policy_url: Option<&'a str>,
    show_logo: bool,
    #[schema(schema_with = logo_size)]
    logo_size: &'static str,
    show_affected_services: bool,
    show_unlinked_services: bool,
    show_incident_history: bool,
    show_locations: bool,
    show_sla: bool,
    status_json_includes_hidden: bool,
    seo: SeoView<'a>,
    #[schema(schema_with = url_or_null, required)]
    logo_url: Option<String>,
    #[schema(schema_with = url_or_null, required)]
    logo_dark_url: Option<String>,
    #[schema(schema_with = url_or_null, required)]
    favicon_url: Option<String>,
    #[schema(schema_with = access_type)]
    access_type: &'static str,
    /// True if the page has a password, which itself is never shown.
    has_password: bool,
    email_whitelist: &'a [String],
    #[schema(schema_with = appearance)]
    appearance: &'static str,
    allow_appearance_switch: bool,
    #[schema(schema_with = subscriber_channels)]
    subscriber_channels: Vec<&'static str>,
}

/// The settings of a page for search engines and link previews. A text that exists in no language is an empty object.
#[derive(Serialize, ToSchema)]
#[schema(as = Seo)]
pub(super) struct SeoView<'a> {
    #[schema(schema_with = translations)]
    title: BTreeMap<&'a str, &'a str>,
    #[schema(schema_with = translations)]
    description: BTreeMap<&'a str, &'a str>,
    #[schema(schema_with = translations)]
    image_subtitle: BTreeMap<&'a str, &'a str>,
    #[schema(schema_with = image_appearance)]
    image_appearance: &'static str,
    indexable: bool,
    live_status: bool,
    event_images: bool,
}

/// Data of a page in addition to its own row.
pub(super) struct StatuspageDetails {
    pub(super) files: AssetUrls,
    pub(super) url: String,
}

impl<'a> StatuspageBodyView<'a> {
    /// Creates the view of a page of this organisation.
    pub(super) fn of(
        page: &'a Statuspage,
        beside: StatuspageDetails,
        organisation: &Organisation,
        languages: &AnswerLanguage,
    ) -> Self {
        let StatuspageDetails { files, url } = beside;
        Self {
            id: page.id,
            name: languages.text(&page.name),
            name_translations: &page.name,
            slug: &page.slug,
            url,
            is_published: page.is_published,
            theme: "default",
            supported_locales: page.supported_locales.as_deref(),
            default_locale: page.default_locale.as_deref(),
            effective_supported_locales: page.effective_locales(organisation),
            effective_default_locale: page.effective_default_locale(organisation),
            primary_color: page.primary_color.as_deref(),
            secondary_color: page.secondary_color.as_deref(),
            custom_css: page.custom_css.as_deref(),
            imprint_url: page.imprint_url.as_deref(),
            privacy_policy_url: page.privacy_policy_url.as_deref(),
            show_logo: page.shows.logo,
            logo_size: page.logo_size.as_str(),
            show_affected_services: page.shows.affected_services,
            show_unlinked_services: page.shows.unlinked_services,
            show_incident_history: page.shows.incident_history,
            show_locations: page.shows.locations,
            show_sla: page.shows.sla,
            status_json_includes_hidden: page.shows.hidden_in_json,
            seo: SeoView::of(&page.seo),
            logo_url: files.logo,
            logo_dark_url: files.logo_dark,
            favicon_url: files.favicon,
            access_type: page.access_type.as_str(),
            has_password: page.password_hash.is_some(),
            email_whitelist: &page.email_whitelist,
            appearance: page.appearance.as_str(),
            allow_appearance_switch: page.allows_appearance_switch,
            subscriber_channels: page.subscriber_channels.iter().map(|channel| channel.as_str()).collect(),
        }
    }
}

impl<'a> SeoView<'a> {
    /// Creates the view of the `seo` block.
    fn of(seo: &'a SeoSettings) -> Self {
        let texts = |text: &'a Option<TranslatedText>| text.iter().flat_map(TranslatedText::iter).collect();
        Self {
            title: texts(&seo.title),
            description: texts(&seo.description),
            image_subtitle: texts(&seo.image_subtitle),
            image_appearance: seo.image_appearance.as_str(),
            indexable: seo.indexable,
            live_status: seo.live_status,
            event_images: seo.event_images,
        }
    }
}

pub(super) fn slug() -> ApiSchema {
    text(1, SLUG_LENGTH).pattern("^[a-z0-9]+(-[a-z0-9]+)*$")
}

/// The schema of the size of the logo.
pub(super) fn logo_size() -> ApiSchema {
    enum_of(LogoSize::WORDS).says("Height of the logo.")
}

/// Returns the schema of the access type of a page.
pub(super) fn access_type() -> ApiSchema {
    enum_of(AccessType::WORDS).says(
        "`public`: everybody sees the page. Other values show nobody the page yet: visitors see that access is restricted, \
         without a form for a password.",
    )
}

/// The schema of the colour scheme of a page.
pub(super) fn appearance() -> ApiSchema {
    enum_of(PageColorScheme::WORDS)
        .says("Colours before the visitor chooses; `system`: those of the visitor's system.")
}

/// Returns the schema of the channels through which visitors may subscribe.
pub(super) fn subscriber_channels() -> ApiSchema {
    list_of(enum_of(SubscriberChannel::WORDS)).says("The channels through which visitors may subscribe.")
}

/// The schema of the colours of the preview image.
pub(super) fn image_appearance() -> ApiSchema {
    enum_of(ImageAppearance::WORDS)
        .default_value(ImageAppearance::Auto.as_str())
        .says("Stored; previews have no image yet.")
}

pub(super) fn color_or_null() -> ApiSchema {
    color().nullable()
}

fn public_url() -> ApiSchema {
    url().says("Public address; it answers 404 until the page is published.")
}

fn components_count() -> ApiSchema {
    integer().at_least(0).says("Number of components, groups and their children included.")
}
