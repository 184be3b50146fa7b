//! Challenges for passkeys: valid once, for a time, for one purpose.

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::model::passkey::CHALLENGE_MS;
use watchkeeper::store::passkeys::{self, NewChallenge};
use watchkeeper::store::tokens;

use crate::support::Backend;
use crate::support::rows::{at, stored_organisation, token};

const MADE: Timestamp = at(1_000);

/// Taken after this time, by the user or by somebody who signs in.
#[rstest]
#[case::at_once(0, true, true)]
#[case::at_the_end(CHALLENGE_MS - 1, true, true)]
#[case::expired(CHALLENGE_MS, true, false)]
#[case::other_purpose(0, false, false)]
#[tokio::test]
async fn a_challenge_is_valid_once_for_five_minutes(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] after_ms: i64,
    #[case] by_user: bool,
    #[case] is_valid: bool,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let transaction = store.main.begin().await.unwrap();
    let user = tokens::insert(&transaction, token(owner.key, "user"), &[7; 32]).await.unwrap().key;
    let challenge = NewChallenge { hash: [1; 32], user: Some(user), origin: "https://wk.example" };
    passkeys::insert_challenge(&transaction, &challenge, MADE).await.unwrap();
    transaction.commit().await.unwrap();
    let taken_by = by_user.then_some(user);
    let expected = [is_valid.then(|| "https://wk.example".to_owned()), None];
    for expected in expected {
        let transaction = store.main.begin().await.unwrap();
        let now = MADE.plus_ms(after_ms);
        let origin = passkeys::take_challenge(&transaction, taken_by, &[1; 32], now).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(origin, expected);
    }
}
