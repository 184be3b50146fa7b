//! Access scopes: stored with their tags, and the rows of a visibility that is confined to one.

use rstest::rstest;
use watchkeeper::id::Id;
use watchkeeper::model::access::ApiToken;
use watchkeeper::model::access_scope::AccessScope;
use watchkeeper::model::tag::Tag;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::id_lookup::{services_by_id, services_to_link};
use watchkeeper::store::tags::TagFilter;
use watchkeeper::store::{PageWindow, access_scopes, services, tags};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, service, stored_organisation, stored_service, token};

const ALL: PageWindow = PageWindow { offset: 0, limit: 100 };

async fn stored_tag(store: &Store, organisation: i64, name: &str) -> Tag {
    let transaction = store.main.begin().await.unwrap();
    let tag = Tag::new(organisation, name.parse().unwrap(), None, at(1));
    let tag = tags::insert(&transaction, tag).await.unwrap();
    transaction.commit().await.unwrap();
    tag
}

fn scope(organisation: i64, name: &str) -> AccessScope {
    let (created_at, updated_at) = (at(1), at(2));
    AccessScope { key: 0, id: Id::random(), organisation, name: name.into(), created_at, updated_at }
}

async fn stored_scope(store: &Store, scope: AccessScope, tags: &[&Tag]) -> AccessScope {
    let transaction = store.main.begin().await.unwrap();
    let scope = access_scopes::insert(&transaction, scope).await.unwrap();
    let rows: Vec<i64> = tags.iter().map(|tag| tag.row).collect();
    access_scopes::set_tags(&transaction, scope.key, &rows).await.unwrap();
    transaction.commit().await.unwrap();
    scope
}

#[rstest]
#[tokio::test]
async fn a_scope_is_stored_with_its_tags(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let (owner, other) =
        (stored_organisation(&store, "1").await.key, stored_organisation(&store, "2").await.key);
    let (b, a) = (stored_tag(&store, owner, "b").await, stored_tag(&store, owner, "a").await);
    let made = stored_scope(&store, scope(owner, "Ärzte"), &[&b, &a]).await;
    let reader = store.main.reader();
    let whole = Visibility::whole(owner);
    assert_eq!(access_scopes::find(reader, whole, made.id).await.unwrap().as_ref(), Some(&made));
    assert_eq!(access_scopes::find(reader, Visibility::whole(other), made.id).await.unwrap(), None);
    assert_eq!(access_scopes::list(reader, whole, ALL).await.unwrap(), (vec![made.clone()], 1));
    assert_eq!(access_scopes::list(reader, Visibility::whole(other), ALL).await.unwrap(), (vec![], 0));
    assert_eq!(access_scopes::tags_of(reader, &[made.key]).await.unwrap()[&made.key], [a, b.clone()]);
    assert!(access_scopes::is_name_taken(reader, &scope(owner, "äRZTE")).await.unwrap());
    assert!(!access_scopes::is_name_taken(reader, &made).await.unwrap(), "by itself");
    assert!(!access_scopes::is_name_taken(reader, &scope(other, "Ärzte")).await.unwrap());
    assert_eq!(tags::users(reader, b.row, "en").await.unwrap(), ["access scope Ärzte"]);
    let transaction = store.main.begin().await.unwrap();
    let again = access_scopes::insert(&transaction, scope(owner, "ÄRZTE")).await;
    assert!(again.is_err(), "the database itself takes a name once");
    drop(transaction);
    let transaction = store.main.begin().await.unwrap();
    assert!(tags::delete(&transaction, b.row).await.is_err(), "the database itself keeps the tag");
    drop(transaction);
    let transaction = store.main.begin().await.unwrap();
    access_scopes::delete(&transaction, made.key).await.unwrap();
    tags::delete(&transaction, b.row).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(access_scopes::all(store.main.reader(), owner).await.unwrap(), []);
}

#[rstest]
#[tokio::test]
async fn a_confined_visibility_finds_rows_with_its_tags(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let [red, green, blue] = ["red", "green", "blue"].map(|name| stored_tag(&store, owner, name));
    let (red, green, blue) = (red.await, green.await, blue.await);
    let mut known = Vec::new();
    for carried in [vec![&red], vec![&red, &green], vec![&blue], vec![]] {
        let one = stored_service(&store, service(owner, "one")).await;
        let rows: Vec<i64> = carried.iter().map(|tag| tag.row).collect();
        let transaction = store.main.begin().await.unwrap();
        tags::set_of_service(&transaction, one.key, &rows).await.unwrap();
        transaction.commit().await.unwrap();
        known.push(one);
    }
    let made = stored_scope(&store, scope(owner, "red"), &[&red]).await;
    let visibility = Visibility::of(&ApiToken { access_scope: Some(made.key), ..token(owner, "bot") });
    let reader = store.main.reader();
    let (mut found, total) = services::list(reader, visibility, None, &[], ALL).await.unwrap();
    found.sort_by_key(|service| service.key);
    assert_eq!((&found[..], total), (&known[..2], 2));
    let with_green = services::list(reader, visibility, Some(green.row), &[], ALL).await.unwrap();
    assert_eq!(with_green, (vec![known[1].clone()], 1));
    assert_eq!(services::list(reader, visibility, Some(blue.row), &[], ALL).await.unwrap(), (vec![], 0));
    let ids: Vec<Id> = known.iter().map(|service| service.id).collect();
    assert_eq!(services_by_id(reader, visibility, &ids).await.unwrap().len(), 2);
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(services_to_link(&transaction, visibility, &ids).await.unwrap().len(), 2);
    for (place, service) in known.iter().enumerate() {
        let found = services::find_for_update(&transaction, visibility, service.id).await.unwrap();
        assert_eq!(found.is_some(), place < 2);
    }
    drop(transaction);
    let (shown, total) = tags::list(reader, visibility, &TagFilter::default(), ALL).await.unwrap();
    assert_eq!((shown, total), (vec![green.clone(), red.clone()], 2));
    let counts = tags::services_counts(reader, visibility, &[red.row, green.row, blue.row]).await.unwrap();
    assert_eq!(counts, [(red.row, 2), (green.row, 1)].into_iter().collect());
    assert_eq!(access_scopes::find_confining(reader, visibility).await.unwrap().as_ref(), Some(&made));
    assert_eq!(access_scopes::find(reader, visibility, made.id).await.unwrap(), None);
    assert_eq!(access_scopes::list(reader, visibility, ALL).await.unwrap(), (vec![], 0));
}

/// A scope without row shows nothing, so that a token never sees more than it should.
#[tokio::test]
async fn a_deleted_scope_shows_nothing() {
    let Some(store) = Backend::Sqlite.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    stored_service(&store, service(owner, "one")).await;
    let visibility = Visibility::of(&ApiToken { access_scope: Some(7), ..token(owner, "bot") });
    let reader = store.main.reader();
    assert_eq!(services::list(reader, visibility, None, &[], ALL).await.unwrap(), (vec![], 0));
    assert_eq!(tags::list(reader, visibility, &TagFilter::default(), ALL).await.unwrap(), (vec![], 0));
}
