//! Rows to store: plain ones, to be changed where a test needs it.

use std::num::NonZeroU32;

use serde_json::Map;
use watchkeeper::clock::Timestamp;
use watchkeeper::id::Id;
use watchkeeper::model::access::{ApiToken, Organisation, PermissionSet, Plan, TokenHolder};
use watchkeeper::model::check::{CheckFailure, CheckStatus, CheckType, ErrorCode, Measurement, PhaseTimings};
use watchkeeper::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
use watchkeeper::model::location::LocationCode;
use watchkeeper::model::service::{ProbeRole, Service, ServiceKey, ServiceSettings};
use watchkeeper::model::status_rules::StatusRules;
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::{History, append};
use watchkeeper::store::{organisations, services};

use crate::support::backend::Store;

/// A moment, in milliseconds.
pub(crate) const fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// A location code.
pub(crate) fn code(text: &str) -> LocationCode {
    text.parse().expect("a location code")
}

/// An organisation that is not stored yet.
pub(crate) fn organisation(name: &str) -> Organisation {
    Organisation {
        key: 0,
        id: Id::random(),
        name: name.into(),
        plan: Plan::Business,
        self_hosted: false,
        locales: vec!["en".into(), "de".into()],
        default_locale: "en".into(),
        created_at: at(1_000),
    }
}

/// A token that is not stored yet.
pub(crate) fn token(organisation: i64, name: &str) -> ApiToken {
    ApiToken {
        key: 0,
        id: Id::random(),
        organisation,
        name: name.into(),
        permissions: PermissionSet::all(),
        expires_at: None,
        access_scope: None,
        created_at: at(2_000),
        holder: TokenHolder::Program,
    }
}

/// A configured service that is not stored yet.
pub(crate) fn service(organisation: i64, name: &str) -> Service {
    Service {
        key: 0,
        id: Id::random(),
        organisation,
        name: name.into(),
        check_type: CheckType::Tcp,
        target: Some("shop.example:443".into()),
        settings: Some(ServiceSettings {
            interval_seconds: 60,
            timeout_seconds: 10,
            retries: 0,
            assigned_probes: None,
            probe_roles: None,
            config: Map::new(),
            rules: StatusRules::default(),
        }),
        configured_at: Some(at(3_000)),
        pause: None,
        status_override: None,
        created_at: at(3_000),
        updated_at: at(3_000),
        revision: 1,
        in_planned_maintenance: false,
    }
}

/// A finished check.
pub(crate) fn check(service: ServiceKey, location: &str, at_ms: i64, status: CheckStatus) -> CheckRecord {
    let failure =
        (status != CheckStatus::Up).then(|| CheckFailure::new(ErrorCode::ConnectRefused, "refused"));
    CheckRecord {
        service,
        location: code(location),
        role: ProbeRole::Full,
        scheduled_at: at(at_ms),
        checked_at: at(at_ms),
        attempt: 1,
        measurement: Measurement {
            status,
            response_time: NonZeroU32::new(1_234).filter(|_| status != CheckStatus::Down),
            timings: PhaseTimings::default(),
            status_code: None,
            failure: failure.map(Box::new),
        },
    }
}

/// A change of the measured status.
pub(crate) const fn change(
    service: ServiceKey,
    at_ms: i64,
    (from, to): (MeasuredStatus, MeasuredStatus),
) -> StatusChange {
    StatusChange { service, at: at(at_ms), from, to, cause: ChangeCause::Votes }
}

/// Appends checks as the recorder does.
pub(crate) async fn append_checks(history: &History, checks: &[CheckRecord]) -> LocationNumbers {
    let codes: Vec<LocationCode> = checks.iter().map(|check| check.location.clone()).collect();
    let transaction = history.begin().await.unwrap();
    let numbers = LocationNumbers::ensure(&transaction, &codes).await.unwrap();
    append::checks(&transaction, history.storage(), checks, &numbers).await.unwrap();
    transaction.commit().await.unwrap();
    numbers
}

/// Appends changes as the recorder does.
pub(crate) async fn append_changes(history: &History, changes: &[StatusChange]) {
    let transaction = history.begin().await.unwrap();
    append::changes(&transaction, changes).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Stores an organisation; its key.
pub(crate) async fn stored_organisation(store: &Store, name: &str) -> Organisation {
    let transaction = store.main.begin().await.unwrap();
    let stored = organisations::insert(&transaction, organisation(name)).await.unwrap();
    transaction.commit().await.unwrap();
    stored
}

/// Stores a service.
pub(crate) async fn stored_service(store: &Store, service: Service) -> Service {
    let transaction = store.main.begin().await.unwrap();
    let stored = services::insert(&transaction, service).await.unwrap();
    transaction.commit().await.unwrap();
    stored
}
