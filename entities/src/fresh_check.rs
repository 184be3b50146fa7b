//! One finished check of one location that is not sealed into a block yet.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// One finished check of one location that is not sealed into a block yet.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "fresh_check")]
pub struct Model {
    /// The service's number modulo 1,024: rows that are written together are stored together.
    #[sea_orm(primary_key, auto_increment = false)]
    pub bucket: i16,
    /// Start of the deciding attempt.
    #[sea_orm(primary_key, auto_increment = false)]
    pub checked_at: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Number of the location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub location_id: i32,
    /// The time at which the check was due.
    pub scheduled_at: i64,
    /// 0 up, 1 degraded, 2 down.
    pub status: i16,
    /// The attempt that decided, from 1.
    pub attempt: i16,
    /// 0 full, 1 reachability.
    pub role: i16,
    /// Status code of the response, HTTP only.
    pub status_code: Option<i16>,
    /// Response time, set when the target answered.
    pub response_us: Option<i32>,
    /// Name resolution, in microseconds.
    pub dns_us: Option<i32>,
    /// TCP handshake, in microseconds.
    pub connect_us: Option<i32>,
    /// TLS handshake, in microseconds.
    pub tls_us: Option<i32>,
    /// Wait for the first byte.
    pub ttfb_us: Option<i32>,
    /// From first to last byte, in microseconds.
    pub transfer_us: Option<i32>,
    /// The whole attempt, in microseconds.
    pub total_us: Option<i32>,
    /// Number of the error code.
    pub error_code: Option<i16>,
    /// Short English reason.
    pub error_message: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
