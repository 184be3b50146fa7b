//! Situations of heartbeats: pings that came, are late, were missed, failed, or may be lost.

use rstest::rstest;

use super::assert_sentence;
use super::situation::{ago, situation};
use crate::model::check::CheckType;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::{HeartbeatFacts, VerdictFacts};

/// A ping is expected every five minutes, with a minute of grace. `pinged` is the age of the last one in seconds.
fn heartbeat(verdict: Verdict, pinged: Option<i64>) -> VerdictFacts {
    situation(verdict, "").but(|facts| {
        facts.check_type = CheckType::Heartbeat;
        facts.target = None;
        facts.heartbeat = Some(HeartbeatFacts {
            last_ping: pinged.map(|pinged| HeartbeatPing { at: ago(pinged), has_failed: false }),
            interval_ms: 300_000,
            grace_ms: 60_000,
            deadline: pinged.map(|pinged| ago(pinged - 360)),
        });
    })
}

/// The situation, and its sentence in English and German.
#[rstest]
#[case::before_the_first_ping(
    heartbeat(Verdict::Unknown, None).but(|facts| facts.since = None),
    "Unknown: no ping has come yet.",
    "Unbekannt: es ist noch kein Ping gekommen."
)]
#[case::punctual(
    heartbeat(Verdict::Up, Some(182)),
    "Up since 14:03:07 UTC (6 min 45 s): the last ping came at 14:06:50 UTC (3 min 2 s ago); the next is due by 14:11:50 UTC.",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): der letzte Ping ist von 14:06:50 UTC (vor 3 min 2 s); der nächste ist fällig bis 14:11:50 UTC."
)]
#[case::late(
    heartbeat(Verdict::Up, Some(332)),
    "Up since 14:03:07 UTC (6 min 45 s): the last ping came at 14:04:20 UTC (5 min 32 s ago); the next is 32 s late and counts as missed from 14:10:20 UTC on.",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): der letzte Ping ist von 14:04:20 UTC (vor 5 min 32 s); der nächste ist 32 s verspätet und gilt ab 14:10:20 UTC als verpasst."
)]
#[case::missed(
    heartbeat(Verdict::Down, Some(765)),
    "Down since 14:03:07 UTC (6 min 45 s): no ping came in time; the last ping came at 13:57:07 UTC (12 min 45 s ago).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): es kam kein Ping zur rechten Zeit; der letzte Ping ist von 13:57:07 UTC (vor 12 min 45 s)."
)]
#[case::failed(
    heartbeat(Verdict::Down, Some(405)).but(|facts| {
        let heartbeat = facts.heartbeat.as_mut().unwrap();
        heartbeat.last_ping.as_mut().unwrap().has_failed = true;
    }),
    "Down since 14:03:07 UTC (6 min 45 s): the ping of 14:03:07 UTC (6 min 45 s ago) reported a failure.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): der Ping von 14:03:07 UTC (vor 6 min 45 s) hat einen Fehler gemeldet."
)]
#[case::a_ping_may_be_lost(
    heartbeat(Verdict::Unknown, Some(765)).but(|facts| {
        facts.measured = MeasuredStatus::NoData;
        facts.cause = Some(ChangeCause::Gap);
        facts.heartbeat.as_mut().unwrap().deadline = Some(ago(-200));
    }),
    "No data since 14:03:07 UTC (6 min 45 s): a ping may have been lost while Watchkeeper did not listen; the last ping came at 13:57:07 UTC (12 min 45 s ago); the next counts as missed from 14:13:12 UTC on.",
    "Keine Daten seit 14:03:07 UTC (6 min 45 s): ein Ping kann verloren gegangen sein, während Watchkeeper nicht empfangsbereit war; der letzte Ping ist von 13:57:07 UTC (vor 12 min 45 s); der nächste gilt ab 14:13:12 UTC als verpasst."
)]
#[case::a_deadline_that_is_not_known(
    heartbeat(Verdict::Unknown, Some(765)).but(|facts| facts.measured = MeasuredStatus::NoData),
    "No data since 14:03:07 UTC (6 min 45 s): a ping may have been lost while Watchkeeper did not listen; the last ping came at 13:57:07 UTC (12 min 45 s ago).",
    "Keine Daten seit 14:03:07 UTC (6 min 45 s): ein Ping kann verloren gegangen sein, während Watchkeeper nicht empfangsbereit war; der letzte Ping ist von 13:57:07 UTC (vor 12 min 45 s)."
)]
#[case::resumed(
    heartbeat(Verdict::Unknown, Some(7_200)).but(|facts| {
        facts.cause = Some(ChangeCause::Paused);
        facts.heartbeat.as_mut().unwrap().deadline = Some(ago(-120));
    }),
    "Unknown since 14:03:07 UTC (6 min 45 s): no ping has come since the service was resumed or changed; the last ping came at 12:09:52 UTC (2 h 0 min ago); the next is due by 14:10:52 UTC.",
    "Unbekannt seit 14:03:07 UTC (6 min 45 s): seit dem Ende der Pause oder der Änderung ist kein Ping gekommen; der letzte Ping ist von 12:09:52 UTC (vor 2 h 0 min); der nächste ist fällig bis 14:10:52 UTC."
)]
#[case::flapping(
    heartbeat(Verdict::Up, Some(182)).but(|facts| {
        facts.is_flapping = true;
        facts.rules.flapping.changes = 1;
    }),
    "Up since 14:03:07 UTC (6 min 45 s), flapping (more than one change in 30 min): the last ping came at 14:06:50 UTC (3 min 2 s ago); the next is due by 14:11:50 UTC.",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s), instabil (mehr als ein Wechsel in 30 min): der letzte Ping ist von 14:06:50 UTC (vor 3 min 2 s); der nächste ist fällig bis 14:11:50 UTC."
)]
fn pings_explain_the_status(#[case] facts: VerdictFacts, #[case] english: &str, #[case] german: &str) {
    assert_sentence(&facts, english, german);
}
