//! Situations in which people have decided the status: overrides, pauses, maintenances and manual services.

use rstest::rstest;

use super::assert_sentence;
use super::situation::{NOW, ago, situation};
use crate::clock::Timestamp;
use crate::model::check::CheckType;
use crate::model::service::{OverrideStatus, PauseReason, ServicePause};
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::{RunningMaintenance, StatedStatus, VerdictFacts};

const HOUR_MS: i64 = 3_600_000;

fn down() -> VerdictFacts {
    situation(Verdict::Down, "Oslo=refused Rome=refused Bern=up")
}

fn stated(facts: VerdictFacts, status: OverrideStatus, until: Option<Timestamp>) -> VerdictFacts {
    let stated =
        StatedStatus { status, by: "Ana".into(), reason: "Moving house".into(), at: ago(7_380), until };
    facts.but(|facts| facts.stated = Some(stated))
}

fn paused(facts: VerdictFacts, reason: PauseReason) -> VerdictFacts {
    facts.but(|facts| facts.pause = Some(ServicePause { reason, at: ago(7_380) }))
}

fn in_maintenance(until: Option<Timestamp>) -> VerdictFacts {
    let running = RunningMaintenance { title: "New database".into(), since: ago(7_380), until };
    down().but(|facts| facts.maintenance = Some(running))
}

fn manual() -> VerdictFacts {
    situation(Verdict::Unknown, "").but(|facts| {
        facts.check_type = CheckType::Manual;
        facts.since = None;
    })
}

/// The situation, and its sentence in English and German.
#[rstest]
#[case::an_override(
    stated(down(), OverrideStatus::Up, None),
    "Status set by Ana: up since 12:06:52 UTC (2 h 3 min) (“Moving house”); measured down since 14:03:07 UTC (6 min 45 s): 2 of 3 locations cannot connect (connection refused); Bern reaches it.",
    "Status gesetzt von Ana: in Betrieb seit 12:06:52 UTC (2 h 3 min) („Moving house“); gemessen ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 3 Standorten können keine Verbindung herstellen (Verbindung abgelehnt); Bern erreicht ihn."
)]
#[case::an_override_that_ends(
    stated(down(), OverrideStatus::Maintenance, Some(NOW.plus_ms(2 * HOUR_MS))),
    "Status set by Ana: maintenance since 12:06:52 UTC (2 h 3 min), until 16:09:52 UTC (“Moving house”); measured down since 14:03:07 UTC (6 min 45 s): 2 of 3 locations cannot connect (connection refused); Bern reaches it.",
    "Status gesetzt von Ana: in Wartung seit 12:06:52 UTC (2 h 3 min), bis 16:09:52 UTC („Moving house“); gemessen ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 3 Standorten können keine Verbindung herstellen (Verbindung abgelehnt); Bern erreicht ihn."
)]
#[case::an_override_of_a_paused_service(
    paused(stated(down(), OverrideStatus::Degraded, None), PauseReason::Manual),
    "Status set by Ana: degraded since 12:06:52 UTC (2 h 3 min) (“Moving house”); paused since 12:06:52 UTC (2 h 3 min), so nothing is measured.",
    "Status gesetzt von Ana: beeinträchtigt seit 12:06:52 UTC (2 h 3 min) („Moving house“); pausiert seit 12:06:52 UTC (2 h 3 min), deshalb wird nichts gemessen."
)]
#[case::a_pause(
    paused(down(), PauseReason::Manual),
    "Paused since 12:06:52 UTC (2 h 3 min), so nothing is measured.",
    "Pausiert seit 12:06:52 UTC (2 h 3 min), deshalb wird nichts gemessen."
)]
#[case::a_pause_by_the_plan(
    paused(down(), PauseReason::PlanLimit),
    "Paused since 12:06:52 UTC (2 h 3 min) because the plan allows fewer services, so nothing is measured.",
    "Pausiert seit 12:06:52 UTC (2 h 3 min), weil der Tarif weniger Dienste erlaubt, deshalb wird nichts gemessen."
)]
#[case::a_pause_during_a_maintenance(
    paused(in_maintenance(None), PauseReason::Manual),
    "Paused since 12:06:52 UTC (2 h 3 min), so nothing is measured.",
    "Pausiert seit 12:06:52 UTC (2 h 3 min), deshalb wird nichts gemessen."
)]
#[case::a_maintenance(
    in_maintenance(Some(NOW.plus_ms(12 * HOUR_MS))),
    "In maintenance since 12:06:52 UTC (2 h 3 min), until 2026-11-29 02:09:52 UTC (“New database”); measured down since 14:03:07 UTC (6 min 45 s): 2 of 3 locations cannot connect (connection refused); Bern reaches it.",
    "In Wartung seit 12:06:52 UTC (2 h 3 min), bis 2026-11-29 02:09:52 UTC („New database“); gemessen ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 3 Standorten können keine Verbindung herstellen (Verbindung abgelehnt); Bern erreicht ihn."
)]
#[case::a_manual_service(
    manual(),
    "Operational: this service is not checked; people set its status.",
    "In Betrieb: Dieser Dienst wird nicht geprüft; sein Status wird von Hand gesetzt."
)]
#[case::a_manual_service_with_an_override(
    stated(manual(), OverrideStatus::Down, None),
    "Status set by Ana: down since 12:06:52 UTC (2 h 3 min) (“Moving house”).",
    "Status gesetzt von Ana: ausgefallen seit 12:06:52 UTC (2 h 3 min) („Moving house“)."
)]
fn decisions_of_people_come_first(#[case] facts: VerdictFacts, #[case] english: &str, #[case] german: &str) {
    assert_sentence(&facts, english, german);
}
