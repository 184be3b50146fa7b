//! Public status pages of organisations.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A public status page of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "statuspage")]
pub struct Model {
    /// Database key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Public id, used by the API.
    pub public_id: String,
    /// Database key of the organisation that owns the row.
    pub organisation_id: i64,
    /// Name as a JSON object from language to text.
    pub name: String,
    /// Slug: the name in the URL, unique in the installation.
    pub slug: String,
    /// True if visitors can open the page.
    pub is_published: bool,
    /// Language codes of the page, as a JSON list; null for those of the organisation.
    pub supported_locales: Option<String>,
    /// Default language code; null for the one of the organisation.
    pub default_locale: Option<String>,
    /// Primary colour as `#RRGGBB`; null for the default.
    pub primary_color: Option<String>,
    /// Secondary colour as `#RRGGBB`; null for the default.
    pub secondary_color: Option<String>,
    /// Sanitised custom CSS; null for none.
    pub custom_css: Option<String>,
    /// URL of the imprint; null for none.
    pub imprint_url: Option<String>,
    /// URL of the privacy policy; null for none.
    pub privacy_policy_url: Option<String>,
    /// True if visitors see the logo.
    pub show_logo: bool,
    /// Size of the logo: `small`, `medium` or `large`.
    pub logo_size: String,
    /// True if incidents show the names of their services.
    pub show_affected_services: bool,
    /// True if incidents also name services that no component of the page shows.
    pub show_unlinked_services: bool,
    /// True if past incidents are listed.
    pub show_incident_history: bool,
    /// True if the document of a component shows from which locations it is reachable.
    pub show_locations: bool,
    /// True if the document of a component shows its agreed availability.
    pub show_sla: bool,
    /// True if the public JSON includes children that a group hides because they are operational.
    pub status_json_includes_hidden: bool,
    /// SEO settings as a JSON object with all members.
    pub seo: String,
    /// Access to the page: `public`, `password` or `email_whitelist`.
    pub access_type: String,
    /// Hash of the password, with its parameters; null without password.
    pub password_hash: Option<String>,
    /// Email addresses of the whitelist, as a JSON list.
    pub email_whitelist: String,
    /// Colour scheme: `system`, `light` or `dark`.
    pub appearance: String,
    /// True if visitors may switch the colour scheme.
    pub allow_appearance_switch: bool,
    /// Channels that subscribers can use, as a JSON list.
    pub subscriber_channels: String,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Time of the last write by a client, in Unix milliseconds.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
