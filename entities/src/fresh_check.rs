//! Finished checks that have not been sealed into a block yet.

use sea_orm::entity::prelude::{
    ActiveModelBehavior, DeriveEntityModel, DerivePrimaryKey, DeriveRelation, EntityTrait, EnumIter,
    PrimaryKeyTrait,
};

/// A finished check from one location that has not been sealed into a block yet.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "fresh_check")]
pub struct Model {
    /// Database key of the service modulo 1,024. Rows that are written together are thus stored together.
    #[sea_orm(primary_key, auto_increment = false)]
    pub bucket: i16,
    /// Start of the deciding attempt, in Unix milliseconds.
    #[sea_orm(primary_key, auto_increment = false)]
    pub checked_at: i64,
    /// Database key of the service.
    #[sea_orm(primary_key, auto_increment = false)]
    pub service_id: i64,
    /// Number of the location.
    #[sea_orm(primary_key, auto_increment = false)]
    pub location_id: i32,
    /// Time at which the check was due, in Unix milliseconds.
    pub scheduled_at: i64,
    /// Number of the status: 0 up, 1 degraded, 2 down.
    pub status: i16,
    /// Number of the deciding attempt, from 1.
    pub attempt: i16,
    /// Role of the location: 0 full, 1 reachability.
    pub role: i16,
    /// HTTP status code of the response; null for other check types or without a response.
    pub status_code: Option<i16>,
    /// Response time in microseconds; null if the target did not answer.
    pub response_us: Option<i32>,
    /// Duration of the name resolution, in microseconds.
    pub dns_us: Option<i32>,
    /// Duration of the TCP handshake, in microseconds.
    pub connect_us: Option<i32>,
    /// Duration of the TLS handshake, in microseconds.
    pub tls_us: Option<i32>,
    /// Wait for the first byte of the response, in microseconds.
    pub ttfb_us: Option<i32>,
    /// Time from the first to the last byte of the response, in microseconds.
    pub transfer_us: Option<i32>,
    /// Duration of the whole attempt, in microseconds.
    pub total_us: Option<i32>,
    /// Number of the error code; null for a check without an error.
    pub error_code: Option<i16>,
    /// Short reason of the error, in English.
    pub error_message: Option<String>,
}

/// No relations are declared; `store` writes its joins itself.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
