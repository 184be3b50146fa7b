//! Tags: every field survives, finders are scoped by organisation, lists have the order of the contract, services carry them.

use rstest::rstest;
use sea_orm::{ActiveValue::Set, EntityTrait as _};
use watchkeeper::id::Id;
use watchkeeper::model::service::{Service, ServiceKey};
use watchkeeper::model::tag::{Tag, TagName, TagSource};
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::tags::{self, TagFilter};
use watchkeeper::store::{PageWindow, services, usage};
use watchkeeper_entities::{component, statuspage};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, service, stored_organisation, stored_service};

fn name(label: &str) -> TagName {
    label.parse().unwrap()
}

async fn stored(store: &Store, organisation: i64, label: &str) -> Tag {
    stored_as(store, organisation, label, TagSource::User).await
}

async fn stored_as(store: &Store, organisation: i64, label: &str, source: TagSource) -> Tag {
    let transaction = store.main.begin().await.unwrap();
    let tag = Tag { source, ..Tag::new(organisation, name(label), Some("#ABCdef".into()), at(1_000)) };
    let tag = tags::insert(&transaction, tag).await.unwrap();
    transaction.commit().await.unwrap();
    tag
}

async fn give(store: &Store, service: ServiceKey, given: &[&Tag]) {
    let transaction = store.main.begin().await.unwrap();
    let rows: Vec<i64> = given.iter().map(|tag| tag.row).collect();
    tags::set_of_service(&transaction, service, &rows).await.unwrap();
    transaction.commit().await.unwrap();
}

fn labels(tags: &[Tag]) -> Vec<String> {
    tags.iter().map(|tag| tag.name.label()).collect()
}

/// Contract 1.4, 4.4: by key, then by value, the one without value first; bytes count, not languages.
#[rstest]
#[tokio::test]
async fn tags_are_listed_by_key_and_value(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let other = stored_organisation(&store, "other").await.key;
    for label in ["env:prod", "a_b", "env", "env:Prod", "a-b", "env:Übung", "b", "a.b"] {
        stored(&store, owner, label).await;
    }
    stored(&store, other, "env").await;
    let reader = store.main.reader();
    let (all, total) = tags::list(
        reader,
        Visibility::whole(owner),
        &TagFilter::default(),
        PageWindow { offset: 0, limit: 10 },
    )
    .await
    .unwrap();
    assert_eq!(labels(&all), ["a-b", "a.b", "a_b", "b", "env", "env:Prod", "env:prod", "env:Übung"]);
    assert_eq!(total, 8);
    let (page, total) = tags::list(
        reader,
        Visibility::whole(owner),
        &TagFilter::default(),
        PageWindow { offset: 2, limit: 2 },
    )
    .await
    .unwrap();
    assert_eq!((labels(&page), total), (vec!["a_b".to_owned(), "b".to_owned()], 8));
    for (label, key, expected) in [
        (Some("env:prod"), None, vec!["env:prod"]),
        (Some("env"), None, vec!["env"]),
        (Some("env:PROD"), None, vec![]),
        (None, Some("env"), vec!["env", "env:Prod", "env:prod", "env:Übung"]),
        (Some("env:prod"), Some("env"), vec!["env:prod"]),
        (Some("env:prod"), Some("b"), vec![]),
    ] {
        let filter = TagFilter { name: label.map(name), key: key.map(str::to_owned) };
        let (found, total) =
            tags::list(reader, Visibility::whole(owner), &filter, PageWindow { offset: 0, limit: 10 })
                .await
                .unwrap();
        assert_eq!(
            (labels(&found), total),
            (expected.iter().map(|label| (*label).to_owned()).collect(), expected.len() as u64)
        );
    }
}

#[rstest]
#[tokio::test]
async fn a_tag_is_found_only_in_its_organisation(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (mine, other) =
        (stored_organisation(&store, "m").await.key, stored_organisation(&store, "o").await.key);
    let (tag, bare) = (stored(&store, mine, "env:Prod").await, stored(&store, mine, "env").await);
    let reader = store.main.reader();
    assert_eq!(tags::find(reader, Visibility::whole(mine), tag.id).await.unwrap().as_ref(), Some(&tag));
    assert_eq!(
        tags::find_named(reader, Visibility::whole(mine), &name("env:Prod")).await.unwrap().as_ref(),
        Some(&tag)
    );
    assert_eq!(
        tags::find_named(reader, Visibility::whole(mine), &name("env")).await.unwrap().as_ref(),
        Some(&bare)
    );
    assert_eq!(tags::find_named(reader, Visibility::whole(mine), &name("env:prod")).await.unwrap(), None);
    let wanted = ([tag.id, Id::random()], [name("env"), name("nowhere")]);
    let mut all = tags::find_all(reader, Visibility::whole(mine), &wanted.0, &wanted.1).await.unwrap();
    all.sort_by_key(|tag| tag.row);
    assert_eq!(all, [tag.clone(), bare]);
    assert_eq!(tags::find(reader, Visibility::whole(other), tag.id).await.unwrap(), None);
    assert_eq!(tags::find_named(reader, Visibility::whole(other), &tag.name).await.unwrap(), None);
    assert_eq!(tags::find_all(reader, Visibility::whole(other), &wanted.0, &wanted.1).await.unwrap(), []);
}

/// Contract 4.4: the database itself lets no name be there twice; no value is a value of its own.
#[rstest]
#[tokio::test]
async fn a_tag_name_is_unique(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    for label in ["env", "env:prod", "env:Prod"] {
        stored(&store, owner, label).await;
        let transaction = store.main.begin().await.unwrap();
        let again = Tag::new(owner, name(label), None, at(1));
        assert!(tags::insert(&transaction, again).await.is_err(), "{label}");
    }
}

#[rstest]
#[tokio::test]
async fn services_carry_tags(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let (z, a) = (stored(&store, owner, "z").await, stored(&store, owner, "a:1").await);
    let agent = stored_as(&store, owner, "os:linux", TagSource::System).await;
    let later = Service { created_at: at(4_000), ..service(owner, "2") };
    let (one, two) = (stored_service(&store, service(owner, "1")).await, stored_service(&store, later).await);
    give(&store, one.key, &[&z, &agent, &a]).await;
    give(&store, two.key, &[&z]).await;
    give(&store, two.key, &[&a]).await;
    let reader = store.main.reader();
    let carried = tags::of_services(reader, &[one.key, two.key]).await.unwrap();
    assert_eq!(labels(&carried[&one.key]), ["a:1", "os:linux", "z"]);
    assert_eq!(labels(&carried[&two.key]), ["a:1"]);
    let counts = tags::services_counts(reader, Visibility::whole(owner), &[z.row, a.row, -1]).await.unwrap();
    assert_eq!((counts.get(&z.row), counts.get(&a.row), counts.len()), (Some(&1), Some(&2), 2));
    let (found, total) = services::list(
        reader,
        Visibility::whole(owner),
        Some(a.row),
        &[],
        PageWindow { offset: 0, limit: 10 },
    )
    .await
    .unwrap();
    assert_eq!((found, total), (vec![one.clone(), two.clone()], 2));
    assert_eq!(
        services::list(
            reader,
            Visibility::whole(owner),
            Some(z.row),
            &[],
            PageWindow { offset: 0, limit: 10 }
        )
        .await
        .unwrap(),
        (vec![one.clone()], 1)
    );
    assert_eq!(tags::count_user(reader, owner).await.unwrap(), 2);
    let transaction = store.main.begin().await.unwrap();
    tags::delete(&transaction, a.row).await.unwrap();
    services::delete(&transaction, one.key).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(tags::of_services(reader, &[one.key, two.key]).await.unwrap().is_empty());
    assert_eq!(tags::count_user(reader, owner).await.unwrap(), 1);
}

/// A status page; the key of its row.
async fn page(store: &Store, organisation: i64, name: &str, is_published: bool) -> i64 {
    let transaction = store.main.begin().await.unwrap();
    let id = Id::random().to_string();
    let row = statuspage::ActiveModel {
        slug: Set(id.to_lowercase()),
        public_id: Set(id),
        organisation_id: Set(organisation),
        name: Set(name.to_owned()),
        is_published: Set(is_published),
        show_logo: Set(true),
        logo_size: Set("medium".into()),
        show_affected_services: Set(true),
        show_unlinked_services: Set(true),
        show_incident_history: Set(true),
        show_locations: Set(false),
        show_sla: Set(false),
        status_json_includes_hidden: Set(true),
        seo: Set("{}".into()),
        access_type: Set("public".into()),
        email_whitelist: Set("[]".into()),
        appearance: Set("system".into()),
        allow_appearance_switch: Set(true),
        subscriber_channels: Set("[]".into()),
        created_at: Set(1),
        updated_at: Set(1),
        ..statuspage::ActiveModel::default()
    };
    let key = statuspage::Entity::insert(row).exec(&transaction).await.unwrap().last_insert_id;
    transaction.commit().await.unwrap();
    key
}

async fn synced_group(store: &Store, page: i64, tag: &Tag) {
    let transaction = store.main.begin().await.unwrap();
    let row = component::ActiveModel {
        public_id: Set(Id::random().to_string()),
        statuspage_id: Set(page),
        sync_tag_id: Set(Some(tag.row)),
        name: Set(r#"{"en":"Group"}"#.into()),
        has_own_name: Set(true),
        is_group: Set(true),
        is_visible: Set(true),
        show_uptime_bars: Set(true),
        hide_operational_children: Set(false),
        default_open: Set(true),
        sync_new_visible: Set(true),
        is_sync_managed: Set(false),
        display_order: Set(0),
        created_at: Set(1),
        ..component::ActiveModel::default()
    };
    component::Entity::insert(row).exec_without_returning(&transaction).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Contract 4.4, "in use": the pages whose groups follow the tag, each once, in the language asked for.
#[rstest]
#[tokio::test]
async fn synced_groups_use_a_tag(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await.key;
    let (used, free) = (stored(&store, owner, "env").await, stored(&store, owner, "b").await);
    let first = page(&store, owner, r#"{"de":"Laden","en":"Shop"}"#, true).await;
    let second = page(&store, owner, r#"{"en":"Internal"}"#, false).await;
    for page in [first, second, first] {
        synced_group(&store, page, &used).await;
    }
    let reader = store.main.reader();
    let users = tags::users(reader, used.row, "de").await.unwrap();
    assert_eq!(users, ["status page Laden", "status page Internal"]);
    assert_eq!(tags::users(reader, free.row, "de").await.unwrap(), Vec::<String>::new());
    let counted = usage::count(reader, owner).await.unwrap();
    let expected = usage::PlanUsage {
        services: 0,
        tags: 2,
        statuspages: 2,
        published_statuspages: 1,
        incident_policies: 1,
        notification_channels: 0,
        sla_targets: 0,
        escalation_policies: 0,
        contacts: 0,
        oncall_schedules: 0,
        access_scopes: 0,
        maintenance_series: 0,
    };
    assert_eq!(counted, expected);
}
