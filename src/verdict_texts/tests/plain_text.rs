//! The votes in rows, the rule in force, and the whole explanation as plain text.

use rstest::rstest;

use super::situation::situation;
use crate::model::check::CheckType;
use crate::model::quorum::Quorum;
use crate::model::verdict::Verdict;
use crate::verdict_texts::explanation::VerdictExplanation;
use crate::verdict_texts::facts::HeartbeatFacts;

#[test]
fn the_plain_text_has_sentence_votes_and_rule() {
    let votes =
        "Oslo=refused Rome=refused Bern=slow Frankfurt=up Paris:blind Athens:suspect Vienna:new rome-2:gone";
    let facts = situation(Verdict::Down, votes).but(|facts| facts.rules.quorum = Quorum::AtLeast(2));
    let text = VerdictExplanation::of(&facts, "en").plain_text;
    let expected = "\
Shop front (https://shop.example/health)
Down since 14:03:07 UTC (6 min 45 s): 2 of 4 locations with a vote cannot connect (connection refused); \
Bern gets its answer too late (1240 ms, limit 900 ms); Frankfurt reaches it; Paris has no vote (impaired); \
Athens has no vote (suspect); Vienna has no vote (not checked yet).
Votes:
- Oslo: down (connection refused, attempt 3, 14:09:40 UTC, 12 s ago)
- Rome: down (connection refused, attempt 3, 14:09:40 UTC, 12 s ago)
- Bern: degraded (response_time_ms gt 900, measured 1240.4, 1241 ms, 14:09:40 UTC, 12 s ago)
- Frankfurt: up (142 ms, 14:09:40 UTC, 12 s ago)
- Paris: no vote: impaired: its name servers do not answer (142 ms, 14:09:40 UTC, 12 s ago)
- Athens: no vote: suspect: it sees services down that all others see up (142 ms, 14:09:40 UTC, 12 s ago)
- Vienna: no vote: not checked yet
- rome-2: no vote: no longer checks this service (142 ms, 14:09:40 UTC, 12 s ago)
Rule: 2 votes are needed, or all if there are fewer: 2 of 4 down, 1 degraded, so down
As of 2026-11-28 14:09:52 UTC";
    assert_eq!(text, expected);
}

#[test]
fn the_plain_text_is_written_in_german() {
    let facts = situation(Verdict::Down, "Oslo=refused Rome:stale");
    let text = VerdictExplanation::of(&facts, "de").plain_text;
    let expected = "\
Shop front (https://shop.example/health)
Ausgefallen seit 14:03:07 UTC (6 min 45 s): Oslo kann keine Verbindung herstellen (Verbindung abgelehnt); \
Rome hat keine Stimme (letztes Ergebnis zu alt).
Stimmen:
- Oslo: ausgefallen (Verbindung abgelehnt, „Connection refused“, Versuch 3, 14:09:40 UTC, vor 12 s)
- Rome: keine Stimme: letztes Ergebnis zu alt (142 ms, 13:57:20 UTC, vor 12 min 32 s)
Regel: Mehrheit (ausgefallen: mehr als die Hälfte der Stimmen; beeinträchtigt: mindestens die Hälfte): \
1 von 1 ausgefallen, 0 beeinträchtigt, also ausgefallen
Stand: 2026-11-28 14:09:52 UTC";
    assert_eq!(text, expected);
}

/// The quorum and the votes; the rule in English and German.
#[rstest]
#[case(
    Quorum::Any,
    "Oslo=refused Rome=up",
    "Any (one vote is enough): 1 of 2 down, 0 degraded, so down",
    "Jede (eine Stimme genügt): 1 von 2 ausgefallen, 0 beeinträchtigt, also ausgefallen"
)]
#[case(
    Quorum::Majority,
    "Oslo=refused Rome=refused Bern=refused Frankfurt=up",
    "Majority (down: more than half of the votes; degraded: at least half): 3 of 4 down, 0 degraded, so down",
    "Mehrheit (ausgefallen: mehr als die Hälfte der Stimmen; beeinträchtigt: mindestens die Hälfte): 3 von 4 ausgefallen, 0 beeinträchtigt, also ausgefallen"
)]
#[case(
    Quorum::Majority,
    "Oslo=refused Rome=up",
    "Majority (down: more than half of the votes; degraded: at least half): 1 of 2 down, 0 degraded, so degraded",
    "Mehrheit (ausgefallen: mehr als die Hälfte der Stimmen; beeinträchtigt: mindestens die Hälfte): 1 von 2 ausgefallen, 0 beeinträchtigt, also beeinträchtigt"
)]
#[case(
    Quorum::All,
    "Oslo=slow Rome=up",
    "All (every vote is needed): 0 of 2 down, 1 degraded, so up",
    "Alle (jede Stimme ist nötig): 0 von 2 ausgefallen, 1 beeinträchtigt, also in Betrieb"
)]
#[case(
    Quorum::AtLeast(1),
    "Oslo=slow Rome=up",
    "1 vote is needed: 0 of 2 down, 1 degraded, so degraded",
    "1 Stimme ist nötig: 0 von 2 ausgefallen, 1 beeinträchtigt, also beeinträchtigt"
)]
#[case(
    Quorum::AtLeast(3),
    "Oslo:stale Rome:stale",
    "3 votes are needed, or all if there are fewer: no vote, so unknown",
    "3 Stimmen sind nötig, oder alle, wenn es weniger gibt: keine Stimme, also unbekannt"
)]
fn the_rule_says_which_verdict_follows(
    #[case] quorum: Quorum,
    #[case] votes: &str,
    #[case] english: &str,
    #[case] german: &str,
) {
    let facts = situation(Verdict::Up, votes).but(|facts| facts.rules.quorum = quorum);
    let rule = |language| VerdictExplanation::of(&facts, language).rule.unwrap();
    assert_eq!((rule("en").as_str(), rule("de").as_str()), (english, german));
}

#[test]
fn the_rule_of_a_recovery_counts_good_results() {
    let facts = situation(Verdict::Down, "Oslo=up").but(|facts| {
        facts.rules.recovery_checks = 2;
        facts.good_results = Some(1);
    });
    let rule = VerdictExplanation::of(&facts, "en").rule.unwrap();
    assert!(rule.ends_with("so up; 1 of the 2 good results in a row that end the outage"), "{rule}");
}

#[test]
fn the_rule_of_a_heartbeat_is_its_period() {
    let facts = situation(Verdict::Up, "").but(|facts| {
        facts.check_type = CheckType::Heartbeat;
        facts.heartbeat =
            Some(HeartbeatFacts { last_ping: None, interval_ms: 300_000, grace_ms: 60_000, deadline: None });
    });
    let rule = |language| VerdictExplanation::of(&facts, language).rule.unwrap();
    assert_eq!(
        rule("en"),
        "A ping every 5 min 0 s; a ping that is more than 1 min 0 s late counts as missed"
    );
    assert_eq!(
        rule("de"),
        "Ein Ping alle 5 min 0 s; ein Ping, der mehr als 1 min 0 s verspätet ist, gilt als verpasst"
    );
}

#[test]
fn a_manual_service_has_no_rule() {
    let facts = situation(Verdict::Unknown, "").but(|facts| facts.check_type = CheckType::Manual);
    let explained = VerdictExplanation::of(&facts, "en");
    assert_eq!((explained.rule, explained.votes), (None, Vec::new()));
}
