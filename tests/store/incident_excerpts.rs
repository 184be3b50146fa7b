//! Incidents of many services are read in part, and change as a whole all the same.

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, EntityTrait as _, QueryOrder as _};
use sea_orm_migration::MigratorTrait as _;
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::automation::{AutomationState, EditedFields};
use watchkeeper::model::group_key::GroupKey;
use watchkeeper::model::incident::{Impact, IncidentStatus, IncidentTimelineEntry, Severity, WholeIncident};
use watchkeeper::model::incident_policy::{IncidentPolicy, OutageKind};
use watchkeeper::model::outage::Outage;
use watchkeeper::model::outage_evidence::OutageEvidence;
use watchkeeper::model::service::Service;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::incidents::recovery::{RecoveredService, mark_services};
use watchkeeper::store::incidents::{excerpt, group_keys};
use watchkeeper::store::outages::incident_end;
use watchkeeper::store::{Transaction, incident_policies, incidents, outages, services};
use watchkeeper_entities::incident_group_key::{Column, Entity};
use watchkeeper_migration::MainMigrator;

use crate::incidents::made;
use crate::support::Backend;
use crate::support::rows::{at, service, stored_organisation};

/// More than are read whole.
const SERVICES: usize = 1_100;

/// A stored incident of this organisation that affects many services, in the order in which they joined.
async fn large(transaction: &Transaction, owner: &Organisation) -> (WholeIncident, Vec<Service>) {
    let mut affected: Vec<Service> = Vec::new();
    for number in 0..SERVICES {
        let one = service(owner.key, &format!("s{number:04}"));
        affected.push(services::insert(transaction, one).await.unwrap());
    }
    let mut whole = made(owner, &affected.iter().collect::<Vec<_>>());
    for (ms, row) in (200..).zip(&mut whole.services) {
        row.added_at = at(ms);
    }
    lifecycle::incidents::insert(transaction, &mut whole).await.unwrap();
    (whole, affected)
}

#[rstest]
#[tokio::test]
async fn a_partially_read_incident_is_changed_as_a_whole(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let transaction = store.main.begin().await.unwrap();
    let (whole, affected) = large(&transaction, &owner).await;
    transaction.commit().await.unwrap();

    let transaction = store.main.begin().await.unwrap();
    let (key, asked) = (whole.incident.key, affected[700].key);
    let part = excerpt::of_key_for_update(&transaction, key, &[asked]).await.unwrap().unwrap();
    let expected: Vec<i64> = (0..50).chain([700, SERVICES - 1]).map(|place| affected[place].key).collect();
    assert_eq!(part.services.iter().map(|row| row.service).collect::<Vec<_>>(), expected);
    assert_eq!((part.others, part.updates.len()), (SERVICES - expected.len(), 1));
    let mut changed = part.clone();
    changed.set_severity(Severity::Critical);
    let entry = IncidentTimelineEntry {
        id: Id::random(),
        status: IncidentStatus::Resolved,
        message: TranslatedText::single("en", "Over."),
        notify_subscribers: true,
        created_at: at(9_000),
    };
    changed.resolve(entry, at(9_000));
    lifecycle::incidents::save(&transaction, &part, &changed, at(9_000)).await.unwrap();
    transaction.commit().await.unwrap();

    let visibility = Visibility::whole(owner.key);
    let found = incidents::find(store.main.reader(), visibility, whole.incident.id).await.unwrap().unwrap();
    let after = incidents::whole(store.main.reader(), visibility, found).await.unwrap();
    assert_eq!((after.services.len(), after.updates.len()), (SERVICES, 2));
    let is_changed = |(row, added): (&watchkeeper::model::incident::AffectedService, i64)| {
        row.impact == Some(Impact::MajorOutage)
            && row.recovered_at == Some(at(9_000))
            && row.added_at == at(added)
    };
    assert!(
        after.services.iter().zip(200..).all(is_changed),
        "those that were not read have changed as well"
    );
    assert_eq!(excerpt::last_recovery(store.main.reader(), key).await.unwrap(), Some(at(9_000)));
}

/// Figures over all services are known of an incident that is read in part.
#[rstest]
#[tokio::test]
async fn a_partially_read_incident_knows_unrecovered_services_and_evidence(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let transaction = store.main.begin().await.unwrap();
    let (whole, affected) = large(&transaction, &owner).await;
    let key = whole.incident.key;
    let asked = affected[800].key;
    let evidence = OutageEvidence { since: 1, target: None, depends_on: Vec::new(), last_failure: None };
    let before = excerpt::of_key_for_update(&transaction, key, &[asked]).await.unwrap().unwrap();
    let mut after = before.clone();
    let row = after.services.iter_mut().find(|row| row.service == asked).unwrap();
    row.evidence = Some(Box::new(evidence));
    lifecycle::incidents::save(&transaction, &before, &after, at(5_000)).await.unwrap();
    let recovered: Vec<RecoveredService> = affected
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != 900)
        .map(|(_, service)| RecoveredService { service: service.key, at: at(6_000), incident: None })
        .collect();
    let marked = mark_services(&transaction, &recovered).await.unwrap();
    assert_eq!(marked.len(), SERVICES - 1);
    assert!(mark_services(&transaction, &recovered).await.unwrap().is_empty(), "again it is no news");

    let part = excerpt::of_key_for_update(&transaction, key, &[]).await.unwrap().unwrap();
    let expected: Vec<i64> =
        (0..50).chain([800, 900, SERVICES - 1]).map(|place| affected[place].key).collect();
    assert_eq!(part.services.iter().map(|row| row.service).collect::<Vec<_>>(), expected);
    assert_eq!(part.unrecovered().collect::<Vec<_>>(), [affected[900].key]);
    assert_eq!(part.services.iter().filter(|row| row.evidence.is_some()).count(), 1);
    assert_eq!(excerpt::last_recovery(&transaction, key).await.unwrap(), Some(at(6_000)));
    // It has never failed: nobody waits for it.
    assert!(!incident_end::is_any_failing(&transaction, key).await.unwrap());
    let failing = Outage::begun(owner.key, affected[900].key, OutageKind::Down, at(300));
    outages::save(&transaction, &[failing]).await.unwrap();
    assert!(incident_end::is_any_failing(&transaction, key).await.unwrap());
    transaction.commit().await.unwrap();
}

/// A key leads to the incident that a service with it joined last, while that is open; also when the policy of the incident is
/// deleted.
#[rstest]
#[tokio::test]
async fn a_group_key_finds_the_incident_of_its_policy(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let policy = incident_policies::list(store.main.reader(), owner.key).await.unwrap().remove(0);
    let transaction = store.main.begin().await.unwrap();
    let second_policy = IncidentPolicy { key: 0, id: Id::random(), position: 2, ..policy.clone() };
    let second_policy = incident_policies::insert(&transaction, second_policy).await.unwrap();
    let automation = Some(AutomationState { policy: Some(policy.key), edited: EditedFields::default() });
    let mut first = WholeIncident { automation, ..made(&owner, &[]) };
    let mut second = WholeIncident { automation, ..made(&owner, &[]) };
    for whole in [&mut first, &mut second] {
        lifecycle::incidents::insert(&transaction, whole).await.unwrap();
    }
    let keys = [GroupKey::Tag(7), GroupKey::Service(7), GroupKey::Service(8)];
    group_keys::assign_keys(&transaction, policy.key, first.incident.key, &keys).await.unwrap();
    group_keys::assign_keys(&transaction, policy.key, second.incident.key, &keys[..1]).await.unwrap();
    let found = group_keys::find(&transaction, &policy, &keys).await.unwrap();
    let leads = keys.map(|key| found.get(&key).cloned());
    let [one, other] = [&first, &second].map(|whole| Some(vec![whole.incident.key]));
    assert_eq!(leads, [other.clone(), one.clone(), one.clone()]);
    assert_eq!(group_keys::find(&transaction, &second_policy, &keys).await.unwrap().len(), 0);

    incident_policies::delete(&transaction, &policy).await.unwrap();
    let found = group_keys::find(&transaction, &second_policy, &keys).await.unwrap();
    assert_eq!(keys.map(|key| found.get(&key).cloned()), [other, one.clone(), one], "they are taken over");
    let stranger = IncidentPolicy { organisation: owner.key + 1, ..second_policy.clone() };
    assert!(group_keys::find(&transaction, &stranger, &keys).await.unwrap().is_empty());
    group_keys::assign_keys(&transaction, second_policy.key, first.incident.key, &keys[..1]).await.unwrap();
    let found = group_keys::find(&transaction, &second_policy, &keys[..1]).await.unwrap();
    assert_eq!(found[&keys[0]], [second.incident.key, first.incident.key], "the newest comes first");

    let stored = incidents::of_key_for_update(&transaction, first.incident.key).await.unwrap().unwrap();
    let mut over = stored.clone();
    over.incident.resolved_at = Some(at(9_000));
    lifecycle::incidents::save(&transaction, &stored, &over, at(9_000)).await.unwrap();
    let visibility = Visibility::whole(owner.key);
    let found = group_keys::find(&transaction, &second_policy, &keys).await.unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(keys[0], vec![second.incident.key])]);
    let id = second.incident.id;
    assert!(lifecycle::incidents::delete(&transaction, visibility, id, at(9_000)).await.unwrap());
    assert!(group_keys::find(&transaction, &second_policy, &keys).await.unwrap().is_empty());
    transaction.commit().await.unwrap();
}

/// A failure after an upgrade joins the incident that was open before.
#[rstest]
#[tokio::test]
async fn open_incidents_of_an_earlier_version_have_keys(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    const STEP: &str = "m0041_incident_group_keys";
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let policy = incident_policies::list(store.main.reader(), owner.key).await.unwrap().remove(0);
    let transaction = store.main.begin().await.unwrap();
    let [parent, child, alone] = ["parent", "child", "alone"].map(|name| service(owner.key, name));
    let parent = services::insert(&transaction, parent).await.unwrap();
    let child = services::insert(&transaction, child).await.unwrap();
    let alone = services::insert(&transaction, alone).await.unwrap();
    let rows = [
        format!(
            "INSERT INTO service_dependency (service_id, position, parent_id) VALUES ({}, 0, {})",
            child.key, parent.key
        ),
        format!(
            "INSERT INTO tag (id, public_id, organisation_id, key, value, color, source, created_at) \
            VALUES (7, 't', {}, 'shop', '', '#000000', 'user', 5)",
            owner.key
        ),
        format!("INSERT INTO service_tag (service_id, tag_id) VALUES ({}, 7)", alone.key),
    ];
    for row in rows {
        transaction.execute_unprepared(&row).await.unwrap();
    }
    let of = |policy| Some(AutomationState { policy, edited: EditedFields::default() });
    let mut followed = WholeIncident { automation: of(Some(policy.key)), ..made(&owner, &[&child, &alone]) };
    let mut over = WholeIncident { automation: followed.automation, ..made(&owner, &[&child, &alone]) };
    over.incident.resolved_at = Some(at(9_000));
    let mut orphan = WholeIncident { automation: of(None), ..made(&owner, &[&alone]) };
    for whole in [&mut followed, &mut over, &mut orphan] {
        lifecycle::incidents::insert(&transaction, whole).await.unwrap();
    }
    transaction.commit().await.unwrap();

    let main: DatabaseConnection = sea_orm::Database::connect(&store.place.main_url).await.unwrap();
    let before = MainMigrator::migrations().iter().position(|step| step.name() == STEP).unwrap();
    let undone = MainMigrator::migrations().len() - before;
    MainMigrator::down(&main, Some(u32::try_from(undone).unwrap())).await.unwrap();
    MainMigrator::up(&main, None).await.unwrap();
    let found =
        Entity::find().order_by_asc(Column::Kind).order_by_asc(Column::KeyId).order_by_asc(Column::PolicyId);
    let found = found.all(&main).await.unwrap();
    let found: Vec<_> =
        found.iter().map(|row| (&*row.kind, row.key_id, row.policy_id, row.incident_id)).collect();
    let (incident, other) = (followed.incident.key, orphan.incident.key);
    let mut expected = vec![
        ("service", parent.key, policy.key, incident),
        ("service", child.key, policy.key, incident),
        ("tag", 7, 0, other),
        ("tag", 7, policy.key, incident),
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
}
