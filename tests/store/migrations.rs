//! Migrations: every step goes up, down and up again, with both databases apart and in one.

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};
use sea_orm_migration::{MigrationName as _, MigratorTrait};
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::model::notification::Event;
use watchkeeper::store::notification_channels as channels;
use watchkeeper::store::{Databases, organisations};
use watchkeeper_migration::{HistoryMigrator, MainMigrator};

use crate::support::Backend;
use crate::support::rows::stored_organisation;

async fn connect(url: &str) -> DatabaseConnection {
    sea_orm::Database::connect(url).await.unwrap()
}

async fn has_table(connection: &DatabaseConnection, table: &str) -> bool {
    connection.execute_unprepared(&format!("SELECT 1 FROM {table}")).await.is_ok()
}

#[rstest]
#[tokio::test]
async fn every_step_goes_up_down_and_up_again(
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

/// Named after what it mends: a step that was cut off left its first table behind, and no later start could do it.
#[tokio::test]
async fn a_step_that_is_cut_off_leaves_nothing() {
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

/// What is told to channels that hold exactly the former default, and to one that chose for itself.
#[rstest]
#[tokio::test]
async fn channels_with_the_former_default_are_told_more(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(place) = backend.place().await else { return };
    let main = connect(&place.main_url).await;
    let before = MainMigrator::migrations().iter().position(|step| step.name() == "m0055_events_of_channels");
    MainMigrator::up(&main, before.map(|steps| u32::try_from(steps).unwrap())).await.unwrap();
    let former = r#"{"events":["incident.opened","incident.reopened","incident.resolved","certificate.expiring","location.impaired","monitor.trouble","sla.burning","oncall.gap"],"min_severity":"minor","selection":null,"quiet":null,"digest_above":20}"#;
    let chosen = r#"{"events":["incident.opened"],"min_severity":"minor","selection":null,"quiet":null,"digest_above":null}"#;
    let organisation = "INSERT INTO organisation (id, public_id, name, plan, self_hosted, locales, default_locale, created_at)";
    main.execute_unprepared(&format!("{organisation} VALUES (1, 'a', 'Acme', 'free', true, 'en', 'en', 0)"))
        .await
        .unwrap();
    for (key, routing) in [(1, former), (2, chosen)] {
        let columns = "id, public_id, organisation_id, kind, name, is_enabled, settings, routing, created_at, updated_at";
        let values = format!("{key}, 'c{key}', 1, 'webhook', 'Hook', true, '{{}}', '{routing}', 0, 0");
        main.execute_unprepared(&format!("INSERT INTO notification_channel ({columns}) VALUES ({values})"))
            .await
            .unwrap();
    }
    MainMigrator::up(&main, None).await.unwrap();
    let rows = channels::enabled(&main, 1).await.unwrap();
    assert_eq!(rows[0].routing.events, Event::USUAL);
    assert_eq!(rows[0].routing.digest_above, Some(20));
    assert_eq!(rows[1].routing.events, [Event::IncidentOpened]);
}
