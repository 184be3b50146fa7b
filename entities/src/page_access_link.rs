//! Links by which readers of a page with an e-mail list were let in.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// The last link that an address on the list of a page asked for. Using the link deletes the row.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "page_access_link")]
pub struct Model {
    /// Database key of the page.
    #[sea_orm(primary_key, auto_increment = false)]
    pub statuspage_id: i64,
    /// The e-mail address in lower case.
    #[sea_orm(primary_key, auto_increment = false)]
    pub address: String,
    /// Random id of the link.
    pub link_id: String,
    /// Time of the request.
    pub asked_at: i64,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
