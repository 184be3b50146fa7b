//! Migrations: every one can be applied, reverted and applied again, with both databases apart and in one.

use std::ops::Range;

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, EntityTrait as _, QueryOrder as _};
use sea_orm_migration::MigratorTrait;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::model::notification::NotificationEvent;
use watchkeeper::store::notification_channels as channels;
use watchkeeper::store::{Databases, organisations};
use watchkeeper_entities::incident_policy;
use watchkeeper_migration::{HistoryMigrator, MainMigrator, SegmentMigrator};

use crate::support::rows::stored_organisation;
use crate::support::{Backend, Place};

async fn connect(url: &str) -> DatabaseConnection {
    sea_orm::Database::connect(url).await.unwrap()
}

async fn has_table(connection: &DatabaseConnection, table: &str) -> bool {
    connection.execute_unprepared(&format!("SELECT 1 FROM {table}")).await.is_ok()
}

#[rstest]
#[tokio::test]
async fn every_migration_can_be_applied_reverted_and_applied_again(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(place) = backend.place().await else { return };
    let main = connect(&place.main_url).await;
    let history = connect(&place.history_url).await;
    for _ in 0..2 {
        MainMigrator::up(&main, None).await.unwrap();
        HistoryMigrator::up(&history, None).await.unwrap();
        assert!(has_table(&main, "service").await && has_table(&history, "fresh_check").await);
        HistoryMigrator::down(&history, None).await.unwrap();
        assert!(!has_table(&history, "fresh_check").await && !has_table(&history, "location").await);
        assert!(has_table(&main, "service").await, "the other database is left alone");
        MainMigrator::down(&main, None).await.unwrap();
        assert!(!has_table(&main, "organisation").await);
    }
    MainMigrator::up(&main, None).await.unwrap();
    HistoryMigrator::up(&history, None).await.unwrap();
    assert!(has_table(&main, "service").await && has_table(&history, "fresh_check").await);
}

/// The names of the copies that were made before upgrades.
fn copies(folder: &std::path::Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains(".before")).collect();
    names.sort_unstable();
    names
}

/// One migration behind after the other; the newest two copies are kept.
#[tokio::test]
async fn the_main_database_is_copied_before_a_migration_changes_it() {
    let folder = tempfile::tempdir().unwrap();
    let [main_url, history_url] = ["main.db", "history.db"]
        .map(|name| watchkeeper::store::database::sqlite_url(&folder.path().join(name)));
    let limits = StoreLimits::default();
    let steps = MainMigrator::migrations();
    let before = |behind: usize| format!("main.db.before-{}", steps[steps.len() - behind].name());
    for (behind, expected) in [(3, vec![3]), (2, vec![3, 2]), (1, vec![2, 1]), (1, vec![2, 1])] {
        let main = connect(&main_url).await;
        let number = u32::try_from(steps.len() - behind).unwrap();
        if copies(folder.path()).is_empty() {
            MainMigrator::up(&main, Some(number)).await.unwrap();
        } else {
            MainMigrator::down(&main, Some(u32::try_from(behind).unwrap())).await.unwrap();
        }
        main.close().await.unwrap();
        let opened = Databases::open(&main_url, &history_url, &limits).await.unwrap();
        opened.main.close().await;
        opened.history.close().await;
        let expected: Vec<String> = expected.into_iter().map(before).collect();
        assert_eq!(copies(folder.path()), expected);
        // Opened again, there is nothing to come.
        let again = Databases::open(&main_url, &history_url, &limits).await.unwrap();
        again.main.close().await;
        again.history.close().await;
        assert_eq!(copies(folder.path()), expected);
    }
    let copy = connect(&watchkeeper::store::database::sqlite_url(&folder.path().join(before(1)))).await;
    let had = MainMigrator::get_migration_models(&copy).await.unwrap();
    assert_eq!(had.len(), steps.len() - 1);
}

#[tokio::test]
async fn a_new_database_needs_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let [main_url, history_url] = ["main.db", "history.db"]
        .map(|name| watchkeeper::store::database::sqlite_url(&folder.path().join(name)));
    Databases::open(&main_url, &history_url, &StoreLimits::default()).await.unwrap();
    assert_eq!(copies(folder.path()), Vec::<String>::new());
}

#[rstest]
#[tokio::test]
async fn opening_twice_changes_nothing(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    stored_organisation(&store, "kept").await;
    let (place, limits) = (&store.place, StoreLimits::default());
    let again = Databases::open(&place.main_url, &place.history_url, &limits).await.unwrap();
    let names = organisations::list(again.main.reader()).await.unwrap();
    assert_eq!(names.len(), 1);
    again.main.ping().await.unwrap();
    again.history.ping().await.unwrap();
}

async fn refusal(place: &Place) -> String {
    let opened = Databases::open(&place.main_url, &place.history_url, &StoreLimits::default()).await;
    // As the command line shows it: with the causes.
    format!("{:#}", anyhow::Error::from(opened.unwrap_err()))
}

#[rstest]
#[case::main(true)]
#[case::history(false)]
#[tokio::test]
async fn a_database_of_a_newer_version_is_refused(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] is_main: bool,
) {
    let Some(place) = backend.place().await else { return };
    let (main, history) = (connect(&place.main_url).await, connect(&place.history_url).await);
    MainMigrator::up(&main, None).await.unwrap();
    HistoryMigrator::up(&history, None).await.unwrap();
    let (changed, table) = if is_main { (main, "main_migration") } else { (history, "history_migration") };
    let row = format!("INSERT INTO {table} (version, applied_at) VALUES ('m2099_from_later', 0)");
    changed.execute_unprepared(&row).await.unwrap();
    let refusal = refusal(&place).await;
    assert!(
        refusal.contains("is of a newer Watchkeeper (m2099_from_later): start that version"),
        "{refusal}"
    );
    assert_eq!(refusal.matches("m2099").count(), 1, "{refusal}");
}

/// Columns: the bytes that are overwritten, what is said of the file.
#[rstest]
#[case::no_database(0..100, "is not a database, or its beginning is damaged: restore a backup")]
#[case::a_broken_database(4_096..65_536, "is damaged: restore a backup")]
#[tokio::test]
async fn a_damaged_file_is_named(#[case] broken: Range<usize>, #[case] said: &str) {
    let Some(place) = Backend::Sqlite.place().await else { return };
    let main = connect(&place.main_url).await;
    MainMigrator::up(&main, None).await.unwrap();
    main.close().await.unwrap();
    let file =
        place.main_url.trim_start_matches("sqlite:").trim_start_matches("//").split('?').next().unwrap();
    let mut content = std::fs::read(file).unwrap();
    content[broken].fill(0x5a);
    std::fs::write(file, content).unwrap();
    let refusal = refusal(&place).await;
    assert!(refusal.contains(file) && refusal.contains(said), "{refusal}");
}

/// The policy of a new organisation grouped by any tag before; edited ones keep their meaning.
#[rstest]
#[tokio::test]
async fn only_unedited_default_policies_group_by_parent(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    const STEP: &str = "m0035_group_by_tag_keys";
    let Some(place) = backend.place().await else { return };
    let main = connect(&place.main_url).await;
    let before = MainMigrator::migrations().iter().position(|step| step.name() == STEP).unwrap();
    MainMigrator::up(&main, Some(u32::try_from(before).unwrap())).await.unwrap();
    let organisation = "INSERT INTO organisation (id, public_id, name, plan, self_hosted, locales, default_locale, \
        created_at) VALUES (1, 'o', 'o', 'business', FALSE, '[]', 'en', 5)";
    main.execute_unprepared(organisation).await.unwrap();
    let rows = [
        ("unedited", "'Default', 0, 60, 'tag_or_parent', 5, 5"),
        ("renamed", "'Ours', 0, 60, 'tag_or_parent', 5, 5"),
        ("written", "'Default', 0, 60, 'tag_or_parent', 5, 6"),
        ("slower", "'Default', 9, 60, 'tag_or_parent', 5, 5"),
        ("by_tag", "'Default', 0, 60, 'tag', 5, 5"),
        ("alone", "'Default', 0, 60, 'none', 5, 5"),
    ];
    for (id, values) in rows {
        let insert = format!(
            "INSERT INTO incident_policy (public_id, organisation_id, position, down_severity, unstable_severity, \
            publish, group_window_seconds, name, open_after_seconds, resolve_after_seconds, group_by, created_at, \
            updated_at) VALUES ('{id}', 1, 1, 'major', 'minor', FALSE, 60, {values})"
        );
        main.execute_unprepared(&insert).await.unwrap();
    }
    MainMigrator::up(&main, Some(1)).await.unwrap();
    let found = incident_policy::Entity::find().order_by_asc(incident_policy::Column::Id).all(&main).await;
    let found = found.unwrap().into_iter().map(|row| (row.public_id, row.group_by, row.group_by_tag_keys));
    let expected = ["parent", "parent_or_tags", "parent_or_tags", "parent_or_tags", "tags", "none"];
    let expected = rows.iter().zip(expected).map(|((id, _), word)| ((*id).into(), word.into(), "[]".into()));
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<(String, String, String)>>());
}

/// Regression: a step that was cut off left its first table behind, and no later start could do it.
#[tokio::test]
async fn an_interrupted_migration_leaves_nothing() {
    let Some(place) = Backend::Sqlite.place().await else { return };
    let history = connect(&place.history_url).await;
    HistoryMigrator::up(&history, Some(1)).await.unwrap();
    history.execute_unprepared("CREATE TABLE history_segment (id INTEGER)").await.unwrap();
    HistoryMigrator::up(&history, None).await.unwrap_err();
    assert!(has_table(&history, "check_result").await && !has_table(&history, "fresh_check").await);
    history.execute_unprepared("DROP TABLE history_segment").await.unwrap();
    HistoryMigrator::up(&history, None).await.unwrap();
    assert!(has_table(&history, "fresh_check").await);
}

/// A step that is cut off anywhere can be started again.
#[test]
fn every_migration_is_a_transaction_on_every_database() {
    let all = [MainMigrator::migrations(), HistoryMigrator::migrations(), SegmentMigrator::migrations()];
    for step in all.iter().flatten() {
        assert_eq!(step.use_transaction(), Some(true), "{}", step.name());
    }
}

/// Events of channels with exactly the former default, and of one with its own choice.
#[rstest]
#[tokio::test]
async fn channels_with_the_former_default_get_the_new_default(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(place) = backend.place().await else { return };
    let main = connect(&place.main_url).await;
    let before = MainMigrator::migrations().iter().position(|step| step.name() == "m0039_events_of_channels");
    MainMigrator::up(&main, before.map(|steps| u32::try_from(steps).unwrap())).await.unwrap();
    let former = r#"{"events":["incident.opened","incident.reopened","incident.resolved","certificate.expiring","location.impaired","monitor.trouble","sla.burning","oncall.gap"],"min_severity":"minor","selection":null,"quiet":null,"digest_above":20}"#;
    let chosen = r#"{"events":["incident.opened"],"min_severity":"minor","selection":null,"quiet":null,"digest_above":null}"#;
    let organisation = "INSERT INTO organisation (id, public_id, name, plan, self_hosted, locales, default_locale, created_at)";
    main.execute_unprepared(&format!("{organisation} VALUES (1, 'a', 'Acme', 'free', true, 'en', 'en', 0)"))
        .await
        .unwrap();
    for (key, routing) in [(1, former), (2, chosen)] {
        let columns = "id, public_id, organisation_id, kind, name, is_enabled, settings, routing, created_at, updated_at";
        let values = format!(
            "{key}, 'rNSJxMbDTX2uHc08AiCq{key}', 1, 'webhook', 'Hook', true, '{{}}', '{routing}', 0, 0"
        );
        main.execute_unprepared(&format!("INSERT INTO notification_channel ({columns}) VALUES ({values})"))
            .await
            .unwrap();
    }
    MainMigrator::up(&main, None).await.unwrap();
    let rows = channels::enabled(&main, 1).await.unwrap();
    assert_eq!(rows[0].routing.events, NotificationEvent::USUAL);
    assert_eq!(rows[0].routing.digest_above, Some(20));
    assert_eq!(rows[1].routing.events, [NotificationEvent::IncidentOpened]);
}
