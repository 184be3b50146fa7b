//! The certificates of custom domains.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The certificate of a custom domain, and the state of its orders. A row exists since the first order.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "domain_certificate")]
pub struct Model {
    /// Database key of the domain.
    #[sea_orm(primary_key, auto_increment = false)]
    pub custom_domain_id: i64,
    /// Address of the directory of the authority of the last order.
    pub directory_url: String,
    /// Sealed: the chain and the private key; null before the first certificate is issued.
    pub sealed: Option<String>,
    /// Start of the certificate's validity; null without a certificate.
    pub not_before: Option<i64>,
    /// End of the certificate's validity; null without a certificate.
    pub not_after: Option<i64>,
    /// Greater than that of every earlier certificate of the installation; 0 without a certificate.
    pub revision: i64,
    /// Number of failed orders since the last certificate.
    pub failures: i32,
    /// The reason of the last failure; null without one since the last certificate.
    pub last_error: Option<String>,
    /// Time of the next order.
    pub due_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
