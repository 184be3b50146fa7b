//! Services: every field survives, finders are scoped by organisation, lists have one order, keys are never reused.

use std::collections::HashMap;

use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use serde_json::{Map, json};
use watchkeeper::id::Id;
use watchkeeper::model::check::CheckType;
use watchkeeper::model::partition::PartitionSet;
use watchkeeper::model::quorum::Quorum;
use watchkeeper::model::service::{
    OverrideStatus, PauseReason, ProbeRole, Service, ServiceKey, ServicePause, ServiceSettings,
    StatusOverride,
};
use watchkeeper::model::service_outline::{ServiceOutline, SettingsOutline};
use watchkeeper::model::status_rules::FlappingRule;
use watchkeeper::model::status_rules::StatusRules;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::PageWindow;
use watchkeeper::store::services::definitions::{self, OwnedService};
use watchkeeper::store::services::{self, active, outlines};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, service, stored_organisation, stored_service};

fn bare(organisation: i64) -> Service {
    Service { target: None, settings: None, configured_at: None, ..service(organisation, "bare") }
}

fn full(organisation: i64) -> Service {
    let config = json!({"method": "GET", "headers": {"z-first": "sealed", "a-second": "sealed"}, "n": 1.5});
    let role = |code: &str, role| (code.to_owned(), role);
    Service {
        name: "Bäckerei 'Zum' \"Brot\" \\ 🥐".into(),
        check_type: CheckType::Http,
        target: Some("https://shop.example/path?q=ä".into()),
        settings: Some(ServiceSettings {
            interval_seconds: 604_800,
            timeout_seconds: 60,
            retries: 5,
            assigned_probes: Some(vec!["fra".into(), "ams".into()]),
            probe_roles: Some(vec![role("fra", ProbeRole::Reachability), role("ams", ProbeRole::Full)]),
            config: config.as_object().cloned().unwrap(),
            rules: StatusRules {
                quorum: Quorum::AtLeast(50),
                recovery_checks: 10,
                flapping: FlappingRule { changes: 0, minutes: 1_440 },
            },
        }),
        configured_at: Some(at(1_700_000_000_001)),
        pause: Some(ServicePause { reason: PauseReason::PlanLimit, at: at(1_700_000_000_002) }),
        status_override: Some(StatusOverride {
            status: OverrideStatus::Maintenance,
            reason: "moving".into(),
            at: at(1_700_000_000_003),
            by: "ops".into(),
        }),
        created_at: at(1_700_000_000_000),
        updated_at: at(1_700_000_000_004),
        revision: 41,
        ..service(organisation, "")
    }
}

fn empty_lists(organisation: i64) -> Service {
    let mut made = service(organisation, "empty lists");
    if let Some(settings) = &mut made.settings {
        settings.assigned_probes = Some(Vec::new());
        settings.probe_roles = Some(Vec::new());
        settings.config = Map::new();
    }
    Service { pause: Some(ServicePause { reason: PauseReason::Manual, at: at(9) }), ..made }
}

#[rstest]
#[tokio::test]
async fn every_field_survives(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(bare, full, empty_lists)] make: fn(i64) -> Service,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let made = make(owner.key);
    let stored = stored_service(&store, made.clone()).await;
    assert_eq!(stored, Service { key: stored.key, ..made });
    let found = services::find(store.main.reader(), Visibility::whole(owner.key), stored.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&stored));
    let with_owner =
        definitions::page(store.main.reader(), PartitionSet::ALL, ServiceKey::MIN, 10).await.unwrap();
    assert_eq!(with_owner.services, [OwnedService { service: stored.clone(), organisation: owner.id }]);

    let text = |service: &Service| {
        service.settings.as_ref().map(|settings| serde_json::to_string(&settings.config).unwrap())
    };
    assert_eq!(found.as_ref().and_then(text), text(&stored), "the order of the configuration is kept");
}

#[rstest]
#[tokio::test]
async fn an_update_stores_every_field_under_the_next_revision(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let first = stored_service(&store, full(owner.key)).await;
    let other = stored_service(&store, service(owner.key, "other")).await;
    let changed = Service { key: first.key, id: first.id, revision: first.revision, ..bare(owner.key) };
    let transaction = store.main.begin().await.unwrap();
    let locked =
        services::find_for_update(&transaction, Visibility::whole(owner.key), first.id).await.unwrap();
    assert_eq!(locked.as_ref(), Some(&first));
    let updated = services::update(&transaction, changed.clone()).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(updated, Service { revision: 42, ..changed });
    let reader = store.main.reader();
    assert_eq!(services::find(reader, Visibility::whole(owner.key), first.id).await.unwrap(), Some(updated));
    assert_eq!(services::find(reader, Visibility::whole(owner.key), other.id).await.unwrap(), Some(other));
}

/// Reliability 22: another organisation's service is not there.
fn outline(service: &Service) -> ServiceOutline {
    let settings = service.settings.as_ref().map(|settings| SettingsOutline {
        interval_seconds: settings.interval_seconds,
        timeout_seconds: settings.timeout_seconds,
        retries: settings.retries,
        assigned_probes: settings.assigned_probes.clone(),
        recovery_checks: settings.rules.recovery_checks,
    });
    ServiceOutline {
        key: service.key,
        id: service.id,
        organisation: service.organisation,
        name: service.name.clone(),
        check_type: service.check_type,
        target: service.target.clone(),
        settings,
        pause: service.pause,
        status_override: service.status_override.clone(),
        created_at: service.created_at,
    }
}

/// The stored configurations are unreadable, so reading an outline does not read them.
#[rstest]
#[tokio::test]
async fn an_outline_is_the_service_without_its_configuration(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "mine").await.key;
    let mut made = Vec::new();
    for service in [bare(owner), service(owner, "plain"), full(owner)] {
        made.push(stored_service(&store, service).await);
    }
    let transaction = store.main.begin().await.unwrap();
    transaction.execute_unprepared("UPDATE service SET config = '{' WHERE config IS NOT NULL").await.unwrap();
    transaction.commit().await.unwrap();
    let reader = store.main.reader();
    let keys: Vec<ServiceKey> = made.iter().map(|service| service.key).collect();
    assert!(services::by_keys(reader, &keys).await.is_err());
    let mut found = outlines::by_keys(reader, &keys).await.unwrap();
    found.sort_by_key(|outline| outline.key);
    assert_eq!(found, made.iter().map(outline).collect::<Vec<_>>());
    let one = outlines::find(reader, Visibility::whole(owner), made[1].id).await.unwrap();
    assert_eq!(one, Some(outline(&made[1])));
    assert_eq!(outlines::find(reader, Visibility::whole(owner + 1), made[1].id).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn finders_see_one_organisation(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let (mine, other) = (stored_organisation(&store, "m").await, stored_organisation(&store, "o").await);
    let hidden = stored_service(&store, service(other.key, "hidden")).await;
    let reader = store.main.reader();
    assert_eq!(services::find(reader, Visibility::whole(mine.key), hidden.id).await.unwrap(), None);
    assert_eq!(services::find(reader, Visibility::whole(mine.key), Id::random()).await.unwrap(), None);
    assert_eq!(
        services::list(reader, Visibility::whole(mine.key), None, &[], PageWindow { offset: 0, limit: 10 })
            .await
            .unwrap(),
        (Vec::new(), 0)
    );
    assert_eq!(services::count_active(reader, mine.key).await.unwrap(), 0);
    let transaction = store.main.begin().await.unwrap();
    assert_eq!(
        services::find_for_update(&transaction, Visibility::whole(mine.key), hidden.id).await.unwrap(),
        None
    );
}

async fn store_many(store: &Store, organisation: i64, count: i64) -> Vec<Service> {
    let mut stored = Vec::new();
    for number in 0..count {
        // Some are created in the same millisecond, and none in the order of their keys.
        let created_at = at((count - number) / 3 * 1_000);
        let made = Service { created_at, ..service(organisation, &format!("service {number}")) };
        stored.push(stored_service(store, made).await);
    }
    stored
}

/// More services than one statement reads.
#[rstest]
#[tokio::test]
async fn the_revisions_of_very_many_services_are_read(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let [owner, other] =
        [stored_organisation(&store, "owner").await, stored_organisation(&store, "other").await];
    let first = stored_service(&store, bare(owner.key)).await;
    stored_service(&store, bare(other.key)).await;
    let copies = format!(
        "WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < 20500) \
        INSERT INTO service (public_id, organisation_id, name, check_type, created_at, updated_at, revision) \
        SELECT 'id-of-a-service-' || (100000 + n), {}, 'copy', 'manual', 0, 0, n FROM number",
        owner.key
    );
    let transaction = store.main.begin().await.unwrap();
    transaction.execute_unprepared(&copies).await.unwrap();
    transaction.commit().await.unwrap();
    let found = services::revisions(store.main.reader(), owner.key).await.unwrap();
    assert_eq!(found.len(), 20_500);
    assert_eq!(found[0], (first.key, first.revision));
    assert!(found.is_sorted_by_key(|(key, _)| *key));
    assert!(found[1..].iter().map(|(_, revision)| *revision).eq(2..=20_500));
}

/// The database's own collation may order ids otherwise; what counts is that every page follows the same order.
#[rstest]
#[tokio::test]
async fn no_page_repeats_or_skips_a_service(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let all = store_many(&store, owner.key, 10).await;
    let reader = store.main.reader();
    let (whole, total) =
        services::list(reader, Visibility::whole(owner.key), None, &[], PageWindow { offset: 0, limit: 100 })
            .await
            .unwrap();
    assert_eq!(total, 10);
    let mut walked = Vec::new();
    for offset in 0..10 {
        let (page, total) =
            services::list(reader, Visibility::whole(owner.key), None, &[], PageWindow { offset, limit: 1 })
                .await
                .unwrap();
        assert_eq!(total, 10);
        walked.extend(page);
    }
    assert_eq!(walked, whole);
    let (mut walked, mut last) = (Vec::new(), None);
    loop {
        let visible = Visibility::whole(owner.key);
        let page = outlines::listed_after(reader, visible, None, &[], last.as_ref(), 3).await.unwrap();
        walked.extend(page.iter().map(|service| service.key));
        let Some(end) = page.into_iter().next_back() else { break };
        last = Some(end);
    }
    assert_eq!(walked, whole.iter().map(|service| service.key).collect::<Vec<_>>());
    assert!(whole.is_sorted_by_key(|service| service.created_at));
    let ids = |services: &[Service]| {
        services.iter().map(|service| service.id).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(ids(&whole), ids(&all));
}

#[rstest]
#[tokio::test]
async fn only_services_that_are_not_paused_count_as_active(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    for make in [bare, full, empty_lists] {
        stored_service(&store, make(owner.key)).await;
    }
    assert_eq!(services::count_active(store.main.reader(), owner.key).await.unwrap(), 1);
}

#[rstest]
#[tokio::test]
async fn the_newest_services_beyond_a_limit_are_paused(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let [owner, other] = ["owner", "other"].map(|name| stored_organisation(&store, name));
    let (owner, other) = (owner.await.key, other.await.key);
    let mut made = Vec::new();
    for created_at in [3_000, 1_000, 2_000] {
        let service = Service { created_at: at(created_at), ..service(owner, "x") };
        made.push(stored_service(&store, service).await);
    }
    stored_service(&store, full(owner)).await;
    stored_service(&store, service(other, "x")).await;
    let counts = active::count_by_organisation(store.main.reader()).await.unwrap();
    assert_eq!(counts, HashMap::from([(owner, 3), (other, 1)]), "one of the first is paused");
    let transaction = store.main.begin().await.unwrap();
    let beyond = active::beyond(&transaction, owner, 1).await.unwrap();
    assert_eq!(beyond, [made[0].key, made[2].key]);
    let pause = ServicePause { reason: PauseReason::PlanLimit, at: at(9_000) };
    active::pause(&transaction, &beyond, pause).await.unwrap();
    transaction.commit().await.unwrap();
    let read = services::by_keys(store.main.reader(), &beyond[..1]).await.unwrap();
    let revision = made[0].revision + 1;
    let paused = Service { pause: Some(pause), updated_at: at(9_000), revision, ..made[0].clone() };
    assert_eq!(read, [paused]);
    assert_eq!(services::count_active(store.main.reader(), owner).await.unwrap(), 1);
}

#[rstest]
#[tokio::test]
async fn definitions_are_walked_by_key_over_all_organisations(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = (stored_organisation(&store, "1").await, stored_organisation(&store, "2").await);
    let mut expected = Vec::new();
    for owner in [&one, &two, &one, &two, &one] {
        let service = stored_service(&store, service(owner.key, "s")).await;
        expected.push(OwnedService { service, organisation: owner.id });
    }
    let (mut walked, mut after) = (Vec::new(), ServiceKey::MIN);
    loop {
        let page = definitions::page(store.main.reader(), PartitionSet::ALL, after, 2).await.unwrap();
        let Some(last) = page.last else { break };
        after = last;
        walked.extend(page.services);
    }
    assert_eq!(walked, expected);
}

/// Neither the service of an organisation whose id cannot be read.
#[rstest]
#[tokio::test]
async fn a_service_that_cannot_be_read_is_left_out_of_the_definitions(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = (stored_organisation(&store, "1").await, stored_organisation(&store, "2").await);
    let mut keys = Vec::new();
    for owner in [&one, &one, &two, &one] {
        keys.push(stored_service(&store, service(owner.key, "s")).await.key);
    }
    let write = store.main.begin().await.unwrap();
    let broken = [
        format!("UPDATE service SET check_type = 'nonsense' WHERE id = {}", keys[1]),
        format!("UPDATE organisation SET public_id = 'nonsense' WHERE id = {}", two.key),
    ];
    for statement in broken {
        write.execute_unprepared(&statement).await.unwrap();
    }
    write.commit().await.unwrap();
    let reader = store.main.reader();
    let walked = definitions::page(reader, PartitionSet::ALL, ServiceKey::MIN, 10).await.unwrap();
    let named = definitions::with_keys(reader, &keys).await.unwrap();
    for page in [walked, named] {
        let read: Vec<ServiceKey> = page.services.iter().map(|owned| owned.service.key).collect();
        assert_eq!((read, page.unreadable), (vec![keys[0], keys[3]], vec![keys[1], keys[2]]));
    }
    let last = definitions::page(reader, PartitionSet::ALL, keys[0], 2).await.unwrap();
    assert_eq!((last.services.len(), last.last), (0, Some(keys[2])), "and the walk goes on");
}

#[rstest]
#[tokio::test]
async fn a_deleted_service_leaves_an_erasure_and_its_key_is_never_reused(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let gone = stored_service(&store, service(owner.key, "gone")).await;
    let transaction = store.main.begin().await.unwrap();
    services::delete(&transaction, gone.key).await.unwrap();
    transaction.commit().await.unwrap();
    let reader = store.main.reader();
    assert_eq!(services::find(reader, Visibility::whole(owner.key), gone.id).await.unwrap(), None);
    assert_eq!(services::erasures(reader).await.unwrap(), [gone.key]);
    let next = stored_service(&store, service(owner.key, "next")).await;
    assert!(next.key > gone.key, "measurements of {} may still be there", gone.key);

    let transaction = store.main.begin().await.unwrap();
    services::finish_erasure(&transaction, gone.key).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(services::erasures(reader).await.unwrap(), Vec::<ServiceKey>::new());
}
