//! A status page.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A public status page of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "statuspage")]
pub struct Model {
    /// Key.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The id that clients see.
    pub public_id: String,
    /// The organisation that owns it.
    pub organisation_id: i64,
    /// JSON object: text by language.
    pub name: String,
    /// Name in the URL, unique in the installation.
    pub slug: String,
    /// True if its address answers.
    pub is_published: bool,
    /// JSON list of languages; null = those of the organisation.
    pub supported_locales: Option<String>,
    /// Null = that of the organisation.
    pub default_locale: Option<String>,
    /// `#RRGGBB`.
    pub primary_color: Option<String>,
    /// `#RRGGBB`.
    pub secondary_color: Option<String>,
    /// Sanitised CSS of the organisation.
    pub custom_css: Option<String>,
    /// URL of the imprint.
    pub imprint_url: Option<String>,
    /// Address of the privacy policy.
    pub privacy_policy_url: Option<String>,
    /// True if visitors see the logo.
    pub show_logo: bool,
    /// `small`, `medium` or `large`.
    pub logo_size: String,
    /// True if incidents name their services.
    pub show_affected_services: bool,
    /// True if they name those without a component, too.
    pub show_unlinked_services: bool,
    /// True if past incidents are listed.
    pub show_incident_history: bool,
    /// True if the public JSON lists children that are hidden for being healthy.
    pub status_json_includes_hidden: bool,
    /// JSON object with every key.
    pub seo: String,
    /// `public`, `password` or `email_whitelist`.
    pub access_type: String,
    /// Hash of the password with its parameters.
    pub password_hash: Option<String>,
    /// JSON list of addresses.
    pub email_whitelist: String,
    /// `system`, `light` or `dark`.
    pub appearance: String,
    /// True if visitors may change it for themselves.
    pub allow_appearance_switch: bool,
    /// JSON list of channels.
    pub subscriber_channels: String,
    /// Time of creation.
    pub created_at: i64,
    /// Time of the last write by a client.
    pub updated_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
