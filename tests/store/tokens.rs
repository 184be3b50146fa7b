//! Tokens: found by their hash alone, gone at once when revoked.

use rstest::rstest;
use watchkeeper::id::Id;
use watchkeeper::model::access::{ApiToken, Permission, PermissionSet};
use watchkeeper::store::tokens;

use crate::support::Backend;
use crate::support::rows::{at, stored_organisation, token};

#[rstest]
#[case::no_permission(&[], None)]
#[case::one_permission(&[Permission::ServicesView], Some(at(5_000)))]
#[case::all_permissions(Permission::ALL, Some(at(i64::MAX)))]
#[tokio::test]
async fn a_token_is_found_by_its_hash_with_every_field(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] permissions: &[Permission],
    #[case] expires_at: Option<watchkeeper::clock::Timestamp>,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let permissions: PermissionSet = permissions.iter().copied().collect();
    let made = ApiToken { permissions, expires_at, ..token(owner.key, "ci 'token'") };
    let transaction = store.main.begin().await.unwrap();
    let stored = tokens::insert(&transaction, made.clone(), &[7; 32]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(stored, ApiToken { key: stored.key, ..made });
    let reader = store.main.reader();
    assert_eq!(tokens::find_by_hash(reader, &[7; 32]).await.unwrap(), Some(stored));
    assert_eq!(tokens::find_by_hash(reader, &[8; 32]).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn tokens_are_listed_by_organisation_and_revoked_by_id(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = (stored_organisation(&store, "1").await, stored_organisation(&store, "2").await);
    let transaction = store.main.begin().await.unwrap();
    let mut stored = Vec::new();
    for (number, owner) in [(1, one.key), (2, two.key), (3, one.key)] {
        stored.push(tokens::insert(&transaction, token(owner, "t"), &[number; 32]).await.unwrap());
    }
    transaction.commit().await.unwrap();
    let reader = store.main.reader();
    assert_eq!(tokens::list(reader, None).await.unwrap(), stored);
    assert_eq!(tokens::list(reader, Some(one.key)).await.unwrap(), [stored[0].clone(), stored[2].clone()]);

    let transaction = store.main.begin().await.unwrap();
    assert!(tokens::delete(&transaction, stored[0].id).await.unwrap());
    assert!(!tokens::delete(&transaction, stored[0].id).await.unwrap(), "a second time there is none");
    assert!(!tokens::delete(&transaction, Id::random()).await.unwrap());
    transaction.commit().await.unwrap();
    assert_eq!(tokens::find_by_hash(reader, &[1; 32]).await.unwrap(), None);
    assert_eq!(tokens::list(reader, None).await.unwrap().len(), 2);
}

#[rstest]
#[tokio::test]
async fn two_tokens_cannot_share_a_hash(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let transaction = store.main.begin().await.unwrap();
    tokens::insert(&transaction, token(owner.key, "a"), &[1; 32]).await.unwrap();
    assert!(tokens::insert(&transaction, token(owner.key, "b"), &[1; 32]).await.is_err());
}
