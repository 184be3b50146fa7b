//! The installation remembers which key its secrets were sealed with.

use std::path::Path;

use futures_util::future::join_all;
use rstest::rstest;
use watchkeeper::app::first_start;
use watchkeeper::clock::Clock;
use watchkeeper::config::Config;
use watchkeeper::model::secret::SecretSealer;
use watchkeeper::store::installation::{KeyCheck, check_key};
use watchkeeper::store::organisations;

use crate::support::Backend;

/// Reliability 25: the wrong key is noticed before anything is started.
#[rstest]
#[tokio::test]
async fn a_key_that_differs_from_the_first_start_is_refused(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (first, other) = (SecretSealer::new(&[1; 32]), SecretSealer::new(&[2; 32]));
    for (sealer, expected) in [
        (&first, KeyCheck::Right),
        (&first, KeyCheck::Right),
        (&other, KeyCheck::Wrong),
        (&first, KeyCheck::Right),
    ] {
        let transaction = store.main.begin().await.unwrap();
        assert_eq!(check_key(&transaction, sealer).await.unwrap(), expected);
        transaction.commit().await.unwrap();
    }
}

/// Nodes that start for the first time on one database, at the same moment.
#[rstest]
#[tokio::test]
async fn nodes_that_start_at_once_create_one_organisation(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let sealer = SecretSealer::new(&[1; 32]);
    let folders = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let start = async |folder: &Path| {
        let transaction = store.main.begin().await.unwrap();
        assert_eq!(check_key(&transaction, &sealer).await.unwrap(), KeyCheck::Right);
        transaction.commit().await.unwrap();
        let config = Config { data_dir: folder.to_owned(), ..Config::default() };
        first_start::once(&config, &Clock::System, &store).await.unwrap()
    };
    let started = join_all(folders.iter().map(|folder| start(folder.path()))).await;
    let first: Vec<_> = started.iter().flatten().collect();
    assert_eq!(first.len(), 1);
    assert_eq!(organisations::count(store.main.reader()).await.unwrap(), 1);
    let tokens = folders.iter().filter(|folder| folder.path().join("token").exists());
    assert_eq!(tokens.count(), 1);
}
