//! The facts of services in different states, and the sentences that follow.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::id::Id;
use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
use crate::model::heartbeat::HeartbeatPing;
use crate::model::history::ChangeCause;
use crate::model::service::{NamedService, OverrideStatus};
use crate::model::status_rules::StatusRules;
use crate::model::verdict::Verdict;
use crate::verdict_texts::explanation::VerdictExplanation;

/// 2026-11-28 14:09:52 UTC.
const NOW: Timestamp = Timestamp::from_ms(1_795_874_992_000);

fn service(check_type: CheckType) -> Service {
    let config = json!({ "grace_seconds": 60 });
    Service {
        key: 1,
        id: Id::random(),
        organisation: 1,
        name: "Shop front".into(),
        check_type,
        target: Some("https://shop.example/".into()),
        settings: Some(ServiceSettings {
            interval_seconds: 60,
            timeout_seconds: 10,
            retries: 2,
            assigned_probes: None,
            probe_roles: None,
            config: config.as_object().unwrap().clone(),
            rules: StatusRules { recovery_checks: 3, ..StatusRules::default() },
        }),
        configured_at: Some(NOW),
        pause: None,
        status_override: None,
        created_at: NOW,
        updated_at: NOW,
        revision: 1,
        in_planned_maintenance: false,
    }
}

fn location(code: &str) -> LocationOutlook {
    LocationOutlook {
        code: code.to_lowercase(),
        name: code.into(),
        exclusion: None,
        is_offline: false,
        recovered_at: None,
        blind_since: None,
    }
}

fn refused(code: &str) -> StoredCheck {
    let measurement =
        Measurement::unanswered(ErrorCode::ConnectRefused, "Connection refused", PhaseTimings::default());
    let checked_at = NOW.plus_ms(-10_000);
    StoredCheck { checked_at, probe: code.into(), scheduled_at: checked_at, attempt: 3, measurement }
}

fn change(to: MeasuredStatus) -> StatusChange {
    let at = NOW.plus_ms(-405_000);
    StatusChange { service: 1, at, from: MeasuredStatus::Unknown, to, cause: ChangeCause::Votes }
}

fn snapshot(verdict: Verdict) -> ServiceSnapshot {
    ServiceSnapshot { verdict, good_results: Some(2), ..ServiceSnapshot::default() }
}

fn known<'a>(
    service: &'a Service,
    checks: &'a [StoredCheck],
    locations: &'a [LocationOutlook],
) -> KnownState<'a> {
    KnownState {
        service,
        now: NOW,
        snapshot: Ok(snapshot(Verdict::Down)),
        last_change: Some(change(MeasuredStatus::Down)),
        locations,
        checks,
        pings: StoredPings::default(),
        unreachable: None,
        is_confined: false,
        maintenance: None,
    }
}

#[test]
fn a_checked_service_is_explained_by_its_newest_checks() {
    let service = service(CheckType::Http);
    let (checks, locations) = ([refused("oslo"), refused("rome")], ["Oslo", "Rome", "Bern"].map(location));
    let facts = VerdictFacts::from(&known(&service, &checks, &locations));
    let expected = "Down since 14:03:07 UTC (6 min 45 s): 2 of 2 locations with a vote cannot connect (connection refused); \
        Bern has no vote (not checked yet).";
    assert_eq!(VerdictExplanation::of(&facts, "en").sentence, expected);
    assert_eq!((facts.good_results, facts.rules.recovery_checks), (Some(2), 3));
}

/// The recorded status, and the start that is shown for a service that is down.
#[rstest]
#[case::the_same_status(MeasuredStatus::Down, true)]
#[case::a_no_data_period(MeasuredStatus::NoData, true)]
#[case::another_status(MeasuredStatus::Up, false)]
fn a_start_of_another_status_is_not_shown(#[case] recorded: MeasuredStatus, #[case] is_shown: bool) {
    let service = service(CheckType::Http);
    let known = KnownState { last_change: Some(change(recorded)), ..known(&service, &[], &[]) };
    assert_eq!(VerdictFacts::from(&known).since.is_some(), is_shown);
}

#[test]
fn an_absent_owner_leaves_the_recorded_status() {
    let service = service(CheckType::Http);
    let absence = AbsentOwner { since: None };
    let facts = VerdictFacts::from(&KnownState { snapshot: Err(absence), ..known(&service, &[], &[]) });
    let expected = "Unknown: the node that checks the service does not answer; recorded last: down since 14:03:07 UTC (6 min 45 s).";
    assert_eq!(VerdictExplanation::of(&facts, "en").sentence, expected);
}

/// Whether the dependency is still down, and whether the reader may see it.
#[rstest]
#[case(true, false, UnreachableReason::ParentsDown(vec!["Gateway".into()]))]
#[case(true, true, UnreachableReason::HiddenParent)]
#[case(false, true, UnreachableReason::NotCheckedSince)]
fn names_of_dependencies_are_shown_to_those_who_see_them(
    #[case] is_down: bool,
    #[case] is_confined: bool,
    #[case] expected: UnreachableReason,
) {
    let service = service(CheckType::Http);
    let parent = NamedService { key: 2, id: Id::random(), name: "Gateway".into() };
    let state = UnreachableState { since: NOW, because_of: is_down.then_some(parent).into_iter().collect() };
    let known = KnownState { unreachable: Some(&state), is_confined, ..known(&service, &[], &[]) };
    assert_eq!(VerdictFacts::from(&known).unreachable, Some(expected));
}

/// The deadline that the engine knows, in seconds after the last ping, and the one that is shown.
#[rstest]
#[case::the_usual_one(None, 120)]
#[case::the_same(Some(120), 120)]
#[case::moved_by_a_listening_gap(Some(200), 200)]
fn a_heartbeat_has_the_later_deadline(#[case] measured_until: Option<i64>, #[case] expected: i64) {
    let service = service(CheckType::Heartbeat);
    let pinged = NOW.plus_ms(-30_000);
    let measured_until = measured_until.map(|seconds| pinged.plus_ms(seconds * 1_000));
    let known = KnownState {
        snapshot: Ok(ServiceSnapshot { measured_until, ..snapshot(Verdict::Up) }),
        last_change: None,
        pings: StoredPings { last: Some(HeartbeatPing { at: pinged, has_failed: false }), counts_from: None },
        ..known(&service, &[], &[])
    };
    let facts = VerdictFacts::from(&known);
    let heartbeat = facts.heartbeat.unwrap();
    assert_eq!(heartbeat.deadline, Some(pinged.plus_ms(expected * 1_000)));
    assert_eq!((heartbeat.interval_ms, heartbeat.grace_ms), (60_000, 60_000));
    assert_eq!(facts.ballots, []);
}

#[test]
fn an_override_is_explained_with_its_reason() {
    let stated = StatusOverride {
        status: OverrideStatus::Up,
        reason: "False alarm".into(),
        at: NOW.plus_ms(-60_000),
        by: "Ana".into(),
    };
    let service = Service { status_override: Some(stated), ..service(CheckType::Http) };
    let facts = VerdictFacts::from(&KnownState { last_change: None, ..known(&service, &[], &[]) });
    let expected = "Status set by Ana: up since 14:08:52 UTC (1 min 0 s) (“False alarm”); measured down.";
    assert_eq!(VerdictExplanation::of(&facts, "en").sentence, expected);
}
