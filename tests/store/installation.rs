//! The installation remembers which key its secrets were sealed with.

use rstest::rstest;
use watchkeeper::model::secret::Sealer;
use watchkeeper::store::installation::{KeyCheck, check_key};

use crate::support::Backend;

/// Reliability 25: the wrong key is noticed before anything is started.
#[rstest]
#[tokio::test]
async fn another_key_than_that_of_the_first_start_is_wrong(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (first, other) = (Sealer::new(&[1; 32]), Sealer::new(&[2; 32]));
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
