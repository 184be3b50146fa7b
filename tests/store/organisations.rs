//! Organisations: stored as they are, listed oldest first.

use rstest::rstest;
use watchkeeper::model::access::{Organisation, Plan};
use watchkeeper::store::organisations;

use crate::support::Backend;
use crate::support::rows::{at, organisation, stored_organisation};

#[rstest]
#[tokio::test]
async fn every_field_survives(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(Plan::Free, Plan::Solo, Plan::Team, Plan::Business)] plan: Plan,
) {
    let Some(store) = backend.open().await else { return };
    let made = Organisation {
        plan,
        name: "Grüße & 'Co' 🚀".into(),
        self_hosted: plan == Plan::Business,
        locales: vec!["de".into(), "pt-br".into()],
        default_locale: "pt-br".into(),
        created_at: at(4_102_444_800_123),
        ..organisation("")
    };
    let transaction = store.main.begin().await.unwrap();
    let stored = organisations::insert(&transaction, made.clone()).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(stored, Organisation { key: stored.key, ..made });
    assert_eq!(organisations::get(store.main.reader(), stored.key).await.unwrap(), Some(stored.clone()));
    assert_eq!(organisations::get(store.main.reader(), stored.key + 1).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn all_are_listed_oldest_first_and_counted(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    assert_eq!(organisations::count(store.main.reader()).await.unwrap(), 0);
    for name in ["one", "two", "three"] {
        stored_organisation(&store, name).await;
    }
    let listed = organisations::list(store.main.reader()).await.unwrap();
    assert_eq!(listed.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(), ["one", "two", "three"]);
    assert_eq!(organisations::count(store.main.reader()).await.unwrap(), 3);
}

#[rstest]
#[tokio::test]
async fn uncommitted_rows_are_not_visible(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let transaction = store.main.begin().await.unwrap();
    let stored = organisations::insert(&transaction, organisation("half")).await.unwrap();
    organisations::lock(&transaction, stored.key).await.unwrap();
    drop(transaction);
    assert_eq!(organisations::count(store.main.reader()).await.unwrap(), 0);
}
