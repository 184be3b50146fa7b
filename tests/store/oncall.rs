//! Overrides and absences of on-call schedules: old rows are deleted for new ones, but only by a trusted clock.

use rstest::rstest;
use watchkeeper::clock::DAY_MS;
use watchkeeper::id::Id;
use watchkeeper::model::contact::{Contact, NamedContact};
use watchkeeper::model::oncall::entry::{AbsenceEntry, RETENTION_MS};
use watchkeeper::model::time_range::TimeRange;
use watchkeeper::store::contacts;
use watchkeeper::store::oncall::absences;

use crate::support::Backend;
use crate::support::rows::{at, stored_organisation};

fn contact(organisation: i64) -> Contact {
    Contact {
        key: 0,
        id: Id::random(),
        organisation,
        name: "Anna".into(),
        email: "anna@example.com".into(),
        zone: "UTC".parse().unwrap(),
        language: "en".into(),
        channels: Vec::new(),
        quiet: None,
        created_at: at(0),
        updated_at: at(0),
    }
}

/// A clock that was set ahead deletes nothing while it is doubted.
#[rstest]
#[tokio::test]
async fn old_rows_are_deleted_only_by_a_trusted_clock(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let transaction = store.main.begin().await.unwrap();
    let Contact { key, id, name, .. } = contacts::insert(&transaction, contact(owner)).await.unwrap();
    let away = AbsenceEntry {
        key: 0,
        id: Id::random(),
        organisation: owner,
        contact: NamedContact { key, id, name },
        range: TimeRange { from: at(0), to: at(DAY_MS) },
        created_at: at(0),
        updated_at: at(0),
    };
    absences::insert(&transaction, away).await.unwrap();
    for (trusted_now, left) in
        [(None, 1), (Some(DAY_MS + RETENTION_MS), 1), (Some(DAY_MS + RETENTION_MS + 1), 0)]
    {
        let count = absences::make_room(&transaction, owner, trusted_now.map(at)).await.unwrap();
        assert_eq!(count, left, "{trusted_now:?}");
    }
}
