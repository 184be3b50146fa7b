//! Maintenances to store.

use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::model::maintenance::{
    Maintenance, MaintenanceKind, MaintenanceNotices, MaintenanceStatus, MaintenanceWindow,
};
use watchkeeper::model::service::ServiceKey;
use watchkeeper::model::translated_text::TranslatedText;

use crate::support::backend::Store;
use crate::support::rows::at;

/// A planned maintenance from 10,000 to 20,000 that is not stored yet; it starts and ends by itself.
pub(crate) fn maintenance(organisation: i64, status: MaintenanceStatus) -> Maintenance {
    let ran = matches!(status, MaintenanceStatus::InProgress | MaintenanceStatus::Completed);
    Maintenance {
        key: 0,
        id: Id::random(),
        organisation,
        title: TranslatedText::single("en", "Upgrade"),
        kind: MaintenanceKind::Planned,
        status,
        schedule: MaintenanceWindow { start: at(10_000), end: Some(at(20_000)) },
        actual_start: ran.then(|| at(11_000)),
        actual_end: (status == MaintenanceStatus::Completed).then(|| at(15_000)),
        auto_start: true,
        auto_complete: true,
        notices: MaintenanceNotices {
            announcement: true,
            day_before: false,
            hour_before: true,
            start: false,
            complete: true,
        },
        created_by: None,
        created_at: at(1_000),
        updated_at: at(2_000),
        origin: None,
    }
}

/// Stores a maintenance of these services, with the effect that it has at this moment.
pub(crate) async fn stored(
    store: &Store,
    maintenance: Maintenance,
    (services, now): (&[ServiceKey], i64),
) -> Maintenance {
    let transaction = store.main.begin().await.unwrap();
    let stored = lifecycle::maintenances::insert(&transaction, maintenance, services, &[]).await.unwrap();
    lifecycle::maintenances::align(&transaction, &stored, at(now)).await.unwrap();
    transaction.commit().await.unwrap();
    stored
}
