//! Slugs that are unique and held, and groups that follow a tag, on both kinds of databases.

use std::collections::HashSet;

use rstest::rstest;
use sea_orm::{ActiveValue::Set, EntityTrait as _};
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::id::Id;
use watchkeeper::model::component::Component;
use watchkeeper::model::slug::{HOLD_MS, holds_of_organisation};
use watchkeeper::model::statuspage::Statuspage;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::statuspages::{page_extras, slugs};
use watchkeeper::store::{component_inputs, components, statuspages, synced_groups};
use watchkeeper_entities::{service_tag, tag};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, service, stored_organisation, stored_service};

fn page(organisation: i64, slug: &str) -> Statuspage {
    let new = Statuspage::new(organisation, TranslatedText::single("en", "Shop"), at(0));
    Statuspage { slug: slug.into(), ..new }
}

async fn stored_page(store: &Store, page: Statuspage, now: i64) -> Option<Statuspage> {
    let write = store.main.begin().await.unwrap();
    let stored = slugs::insert(&write, page, JudgedTime::trusted(at(now))).await.unwrap();
    write.commit().await.unwrap();
    stored
}

#[rstest]
#[tokio::test]
async fn a_slug_has_one_page_and_stays_reserved(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let mine = stored_organisation(&store, "mine").await.key;
    let theirs = stored_organisation(&store, "theirs").await.key;
    let stored = stored_page(&store, page(mine, "shop"), 0).await.unwrap();
    let found = statuspages::find(store.main.reader(), Visibility::whole(mine), stored.id).await.unwrap();
    assert_eq!(found, Some(stored.clone()));
    assert_eq!(
        statuspages::find(store.main.reader(), Visibility::whole(theirs), stored.id).await.unwrap(),
        None
    );
    assert_eq!(
        stored_page(&store, page(theirs, "shop"), 0).await,
        None,
        "taken, and the transaction goes on"
    );
    let other = stored_page(&store, page(theirs, "till"), 0).await.unwrap();

    let write = store.main.begin().await.unwrap();
    assert!(!slugs::rename(&write, &other, "shop", JudgedTime::trusted(at(0))).await.unwrap());
    drop(write);
    let write = store.main.begin().await.unwrap();
    statuspages::delete(&write, &stored, at(100)).await.unwrap();
    write.commit().await.unwrap();
    let reader = store.main.reader();
    assert!(slugs::is_taken(reader, theirs, "shop", JudgedTime::trusted(at(100))).await.unwrap());
    assert!(!slugs::is_taken(reader, mine, "shop", JudgedTime::trusted(at(100))).await.unwrap());
    assert_eq!(stored_page(&store, page(theirs, "shop"), 100).await, None, "held");
    let asked = ["shop", "shop-2", "kiosk"].map(str::to_owned);
    let taken = slugs::taken_among(reader, theirs, &asked, JudgedTime::trusted(at(100))).await.unwrap();
    assert_eq!(taken, HashSet::from(["shop".to_owned()]));
    assert!(stored_page(&store, page(theirs, "shop"), 100 + HOLD_MS).await.is_some(), "30 days later");
    let write = store.main.begin().await.unwrap();
    assert!(slugs::rename(&write, &other, "kiosk", JudgedTime::trusted(at(0))).await.unwrap());
    write.commit().await.unwrap();
    assert!(slugs::is_taken(reader, mine, "till", JudgedTime::trusted(at(1))).await.unwrap());
}

/// The slugs of these that are reserved for their organisation.
async fn reserved_slugs(store: &Store, stranger: i64, slugs: &[String]) -> Vec<String> {
    let mut held = Vec::new();
    for slug in slugs {
        if slugs::is_taken(store.main.reader(), stranger, slug, JudgedTime::trusted(at(0))).await.unwrap() {
            held.push(slug.clone());
        }
    }
    held
}

#[rstest]
#[tokio::test]
async fn a_page_keeps_its_last_five_slugs(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let mine = stored_organisation(&store, "mine").await.key;
    let theirs = stored_organisation(&store, "theirs").await.key;
    let names: Vec<String> = (0..8).map(|number| format!("shop-{number}")).collect();
    let mut stored = stored_page(&store, page(mine, &names[0]), 0).await.unwrap();
    for (now, slug) in (1..).zip(&names[1..]) {
        let write = store.main.begin().await.unwrap();
        assert!(slugs::rename(&write, &stored, slug, JudgedTime::trusted(at(now))).await.unwrap());
        write.commit().await.unwrap();
        stored.slug.clone_from(slug);
    }
    assert_eq!(
        reserved_slugs(&store, theirs, &names).await,
        names[2..],
        "five old ones, and the present one"
    );
    let write = store.main.begin().await.unwrap();
    statuspages::delete(&write, &stored, at(100)).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!(reserved_slugs(&store, theirs, &names).await, names[3..]);
}

#[rstest]
#[tokio::test]
async fn deleted_pages_leave_a_bounded_number_of_slugs(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let mine = stored_organisation(&store, "mine").await.key;
    let theirs = stored_organisation(&store, "theirs").await.key;
    let most = usize::try_from(holds_of_organisation(0)).unwrap();
    let names: Vec<String> = (0..most + 3).map(|number| format!("shop-{number}")).collect();
    let write = store.main.begin().await.unwrap();
    for (now, slug) in (0..).zip(&names) {
        let made = slugs::insert(&write, page(mine, slug), JudgedTime::trusted(at(now))).await.unwrap();
        statuspages::delete(&write, &made.unwrap(), at(now)).await.unwrap();
    }
    write.commit().await.unwrap();
    assert_eq!(reserved_slugs(&store, theirs, &names).await, names[3..]);
}

#[rstest]
#[tokio::test]
async fn a_group_follows_its_tag(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let one = stored_service(&store, service(owner.key, "one")).await;
    let page = stored_page(&store, page(owner.key, "shop"), 0).await.unwrap();
    let write = store.main.begin().await.unwrap();
    let row = tag::ActiveModel {
        public_id: Set(Id::tag().to_string()),
        organisation_id: Set(owner.key),
        key: Set("env".into()),
        value: Set(String::new()),
        color: Set("#000000".into()),
        source: Set("user".into()),
        created_at: Set(0),
        ..Default::default()
    };
    let tag = tag::Entity::insert(row).exec(&write).await.unwrap().last_insert_id;
    let carried = service_tag::ActiveModel { service_id: Set(one.key), tag_id: Set(tag) };
    service_tag::Entity::insert(carried).exec_without_returning(&write).await.unwrap();
    let group = Component {
        is_group: true,
        sync_tag: Some(tag),
        ..Component::new(page.key, TranslatedText::single("en", "All"), at(0))
    };
    let group = components::insert(&write, group).await.unwrap();
    synced_groups::follow_group(&write, &owner, &group, at(1)).await.unwrap();
    synced_groups::follow_services(&write, &owner, &[one.key], at(2)).await.unwrap();
    write.commit().await.unwrap();

    let reader = store.main.reader();
    let all = components::of_page(reader, Visibility::whole(owner.key), page.key).await.unwrap();
    let child = &all[1];
    assert_eq!((all.len(), child.service, child.parent), (2, Some(one.key), Some(group.key)));
    assert!(child.is_sync_managed);
    assert_eq!(components::sync_tags(reader, Visibility::whole(owner.key), page.key).await.unwrap().len(), 1);
    let facts = component_inputs::gather(reader, Visibility::whole(owner.key), page.key).await.unwrap();
    let shown: Vec<_> = facts.services.iter().map(|service| service.key).collect();
    assert_eq!(shown, [one.key]);
    assert_eq!(
        page_extras::of_pages(reader, Visibility::whole(owner.key), &[page.key]).await.unwrap()[&page.key]
            .components_count,
        2
    );

    let write = store.main.begin().await.unwrap();
    synced_groups::forget_service(&write, one.key).await.unwrap();
    components::delete(&write, group.key).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!(components::of_page(reader, Visibility::whole(owner.key), page.key).await.unwrap(), []);
}
