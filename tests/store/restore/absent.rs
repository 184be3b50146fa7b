//! A restart before the remote locations are known to the engine: the store says which of them will be.

use actix::System;
use rstest::rstest;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus;
use watchkeeper::model::location::Location;
use watchkeeper::model::service::{Service, ServiceSettings};
use watchkeeper::model::verdict::Verdict;
use watchkeeper::store::probe_locations::{self, Enrolment};

use super::{NOW_MS, restart};
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{
    append_changes, append_checks, at, change, check, code, service, stored_organisation, stored_service,
};

/// A service that is checked only from the remote location `far`.
async fn watched_from_far(store: &Store) -> Service {
    let owner = stored_organisation(store, "owner").await;
    let plain = service(owner.key, "watched");
    let assigned_probes = Some(vec!["far".into()]);
    let settings = plain.settings.clone().map(|settings| ServiceSettings { assigned_probes, ..settings });
    stored_service(store, Service { settings, ..plain }).await
}

async fn store_far(store: &Store, is_enabled: bool) {
    let name = "far".to_owned();
    let far = Location { code: code("far"), name, place: String::new(), country_code: "ZZ".into() };
    let enrolment = Enrolment { id: "enrolment-0000000001a".parse().unwrap(), expires_at: at(NOW_MS) };
    let transaction = store.main.begin().await.unwrap();
    probe_locations::insert(&transaction, &far, enrolment, at(0)).await.unwrap();
    if !is_enabled {
        probe_locations::disable(&transaction, &far.code).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

/// Regression: the status ended as if the service had been paused, because its location became known a moment later.
#[rstest]
#[case::in_use(true, Verdict::Down, &[])]
#[case::out_of_use(false, Verdict::Unknown, &[MeasuredStatus::Unknown])]
fn a_location_that_is_not_known_yet_keeps_its_vote(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] is_enabled: bool,
    #[case] verdict: Verdict,
    #[case] changes: &[MeasuredStatus],
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let service = watched_from_far(&store).await;
        store_far(&store, is_enabled).await;
        let last = NOW_MS - 20_000;
        append_checks(&store.history, &[check(service.key, "far", last, CheckStatus::Down)]).await;
        let down = (MeasuredStatus::Unknown, MeasuredStatus::Down);
        append_changes(&store.history, &[change(service.key, last - 600_000, down)]).await;
        let (snapshots, reported) = restart(&store, &[&service]).await;
        assert_eq!(snapshots[0].verdict, verdict);
        assert_eq!(reported.iter().map(|change| change.to).collect::<Vec<_>>(), changes);
    });
}
