//! Facts about the installation itself, such as the check value of its secret key.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A fact about the installation itself, such as the check value of its secret key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "installation")]
pub struct Model {
    /// Name of the fact.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// Value of the fact, as text.
    pub value: String,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
