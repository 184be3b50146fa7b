//! Situations in which the votes of locations decide.

use rstest::rstest;

use super::assert_sentence;
use super::situation::{NOW, ago, situation};
use crate::model::quorum::Quorum;
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::{RunningRetry, UnreachableReason, VerdictFacts};

const DAY_S: i64 = 86_400;

fn down(votes: &str) -> VerdictFacts {
    situation(Verdict::Down, votes)
}

fn degraded(votes: &str) -> VerdictFacts {
    situation(Verdict::Degraded, votes)
}

fn up(votes: &str) -> VerdictFacts {
    situation(Verdict::Up, votes)
}

/// The same situation, recovering with this number of good results; three are needed.
fn recovering(facts: VerdictFacts, good_results: Option<u8>) -> VerdictFacts {
    facts.but(|facts| {
        facts.rules.recovery_checks = 3;
        facts.good_results = good_results;
    })
}

/// The situation, and its sentence in English and German.
#[rstest]
#[case::three_of_four(
    down("Oslo=refused Rome=refused Bern=refused Frankfurt=up"),
    "Down since 14:03:07 UTC (6 min 45 s): 3 of 4 locations cannot connect (connection refused); Frankfurt reaches it.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 3 von 4 Standorten können keine Verbindung herstellen (Verbindung abgelehnt); Frankfurt erreicht ihn."
)]
#[case::all_locations(
    down("Oslo=timeout Rome=timeout Bern=timeout"),
    "Down since 14:03:07 UTC (6 min 45 s): 3 of 3 locations cannot connect (no answer in time).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 3 von 3 Standorten können keine Verbindung herstellen (keine Antwort in der vorgegebenen Zeit)."
)]
#[case::both_locations(
    down("Oslo=nxdomain Rome=nxdomain"),
    "Down since 14:03:07 UTC (6 min 45 s): 2 of 2 locations cannot resolve the name (the name does not exist).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 2 Standorten können den Namen nicht auflösen (der Name existiert nicht)."
)]
#[case::one_location_only(
    down("Local=refused"),
    "Down since 14:03:07 UTC (6 min 45 s): Local, the only location, cannot connect (connection refused).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): Local, der einzige Standort, kann keine Verbindung herstellen (Verbindung abgelehnt)."
)]
#[case::different_errors(
    down("Oslo=refused Rome=refused Bern=handshake Paris=silent Frankfurt=up"),
    "Down since 14:03:07 UTC (6 min 45 s): 2 of 5 locations cannot connect (connection refused); Bern cannot establish TLS (the handshake fails); Paris gets no answer (no complete response in time); Frankfurt reaches it.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 5 Standorten können keine Verbindung herstellen (Verbindung abgelehnt); Bern kann keine TLS-Verbindung herstellen (der Handshake scheitert); Paris erhält keine Antwort (keine vollständige Antwort in der vorgegebenen Zeit); Frankfurt erreicht ihn."
)]
#[case::an_expired_certificate(
    down("Oslo=expired Rome=expired"),
    "Down since 14:03:07 UTC (6 min 45 s): 2 of 2 locations reject the certificate (expired or not valid yet).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 2 Standorten lehnen das Zertifikat ab (abgelaufen oder noch nicht gültig)."
)]
#[case::a_condition_with_different_values(
    down("Oslo=http-500 Rome=http-503 Bern=up"),
    "Down since 14:03:07 UTC (6 min 45 s): 2 of 3 locations get an answer that counts as down (status_code gte 500, measured 500); Bern reaches it.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 3 Standorten erhalten eine Antwort, die als ausgefallen zählt (status_code gte 500, gemessen 500); Bern erreicht ihn."
)]
#[case::a_wrong_answer(
    down("Oslo=garbage Rome=no-reply"),
    "Down since 14:03:07 UTC (6 min 45 s): Oslo gets a wrong answer (not proper HTTP); Rome gets no answer (no echo reply).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): Oslo erhält eine falsche Antwort (kein gültiges HTTP); Rome erhält keine Antwort (keine Echo-Antwort)."
)]
#[case::a_blocked_target(
    down("Oslo=blocked"),
    "Down since 14:03:07 UTC (6 min 45 s): Oslo, the only location, sees it down (the address is not allowed here).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): Oslo, der einzige Standort, sieht ihn als ausgefallen (die Adresse ist hier nicht erlaubt)."
)]
#[case::a_result_without_an_error(
    down("Oslo=imported Rome=imported"),
    "Down since 14:03:07 UTC (6 min 45 s): 2 of 2 locations see it down.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 2 Standorten sehen ihn als ausgefallen."
)]
#[case::some_have_no_vote(
    down("Oslo=refused Rome:stale Bern:stale Paris:suspect Frankfurt:cut-off"),
    "Down since 14:03:07 UTC (6 min 45 s): Oslo cannot connect (connection refused); Rome and Bern have no vote (the last result is too old); Paris has no vote (suspect); Frankfurt has no vote (impaired).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): Oslo kann keine Verbindung herstellen (Verbindung abgelehnt); Rome und Bern haben keine Stimme (letztes Ergebnis zu alt); Paris hat keine Stimme (verdächtig); Frankfurt hat keine Stimme (gestört)."
)]
#[case::many_locations(
    down(
        "A=refused B=refused C=refused D=refused E=refused F=up G=up H=up I=up J:new K:new L:new M:new N:gone"
    ),
    "Down since 14:03:07 UTC (6 min 45 s): 5 of 9 locations with a vote cannot connect (connection refused); 4 of 9 locations reach it; 4 locations have no vote (not checked yet).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 5 von 9 Standorten mit Stimme können keine Verbindung herstellen (Verbindung abgelehnt); 4 von 9 Standorten erreichen ihn; 4 Standorte haben keine Stimme (noch nicht geprüft)."
)]
#[case::any_vote_is_enough(
    down("Oslo=refused Rome=up Bern=up").but(|facts| facts.rules.quorum = Quorum::Any),
    "Down since 14:03:07 UTC (6 min 45 s): Oslo cannot connect (connection refused); Rome and Bern reach it.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): Oslo kann keine Verbindung herstellen (Verbindung abgelehnt); Rome und Bern erreichen ihn."
)]
#[case::half_of_the_votes(
    degraded("Oslo=refused Rome=refused Bern=up Paris=up"),
    "Degraded since 14:03:07 UTC (6 min 45 s): 2 of 4 locations cannot connect (connection refused); Bern and Paris reach it.",
    "Beeinträchtigt seit 14:03:07 UTC (6 min 45 s): 2 von 4 Standorten können keine Verbindung herstellen (Verbindung abgelehnt); Bern und Paris erreichen ihn."
)]
#[case::slow_answers(
    degraded("Oslo=slow Rome=slower Bern=up"),
    "Degraded since 14:03:07 UTC (6 min 45 s): 2 of 3 locations get their answers too late (up to 2310 ms, limit 900 ms); Bern reaches it.",
    "Beeinträchtigt seit 14:03:07 UTC (6 min 45 s): 2 von 3 Standorten erhalten die Antwort zu spät (bis zu 2310 ms, Grenze 900 ms); Bern erreicht ihn."
)]
#[case::a_slow_answer(
    degraded("Local=slow"),
    "Degraded since 14:03:07 UTC (6 min 45 s): Local, the only location, gets its answer too late (1240 ms, limit 900 ms).",
    "Beeinträchtigt seit 14:03:07 UTC (6 min 45 s): Local, der einzige Standort, erhält die Antwort zu spät (1240 ms, Grenze 900 ms)."
)]
#[case::one_address_family(
    degraded("Oslo=partial Rome=partial"),
    "Degraded since 14:03:07 UTC (6 min 45 s): 2 of 2 locations reach it only in part (one address family does not answer).",
    "Beeinträchtigt seit 14:03:07 UTC (6 min 45 s): 2 von 2 Standorten erreichen ihn nur teilweise (eine Adressfamilie antwortet nicht)."
)]
#[case::all_is_well(
    up("Oslo=up Rome=up Bern=up").but(|facts| facts.since = Some(ago(3 * DAY_S + 4 * 3_600))),
    "Up since 2026-11-25 10:09:52 UTC (3 d 4 h): all 3 locations reach it.",
    "In Betrieb seit 2026-11-25 10:09:52 UTC (3 d 4 h): alle 3 Standorte erreichen ihn."
)]
#[case::up_with_a_dissenting_vote(
    up("Oslo=refused Rome=up Bern=up Paris=up"),
    "Up since 14:03:07 UTC (6 min 45 s): 3 of 4 locations reach it; Oslo cannot connect (connection refused), too few votes for another status.",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): 3 von 4 Standorten erreichen ihn; Oslo kann keine Verbindung herstellen (Verbindung abgelehnt), zu wenige Stimmen für einen anderen Status."
)]
#[case::up_because_all_votes_are_needed(
    up("Oslo=refused Rome=refused Bern=up").but(|facts| facts.rules.quorum = Quorum::All),
    "Up since 14:03:07 UTC (6 min 45 s): Bern reaches it; Oslo and Rome cannot connect (connection refused), too few votes for another status.",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): Bern erreicht ihn; Oslo und Rome können keine Verbindung herstellen (Verbindung abgelehnt), zu wenige Stimmen für einen anderen Status."
)]
#[case::up_without_the_vote_of_an_impaired_location(
    up("Oslo=up Rome=up Bern:blind Paris:outdated Athens:offline"),
    "Up since 14:03:07 UTC (6 min 45 s): both locations that have a vote reach it; Bern has no vote (impaired); Paris has no vote (not checked since it was impaired); Athens has no vote (offline).",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): beide Standorte mit Stimme erreichen ihn; Bern hat keine Stimme (gestört); Paris hat keine Stimme (nach einer Störung noch nicht geprüft); Athens hat keine Stimme (offline)."
)]
#[case::a_start_that_is_not_known(
    up("Oslo=up Rome=up").but(|facts| facts.since = None),
    "Up: both locations reach it.",
    "In Betrieb: beide Standorte erreichen ihn."
)]
#[case::recovering(
    recovering(down("Oslo=up Rome=up Bern=up"), Some(1)),
    "Down since 14:03:07 UTC (6 min 45 s): all 3 locations reach it; 1 of the 3 good results in a row that end the outage.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): alle 3 Standorte erreichen ihn; 1 von 3 guten Ergebnissen in Folge, die den Ausfall beenden."
)]
#[case::recovering_by_a_count_that_is_not_known(
    recovering(down("Oslo=up Rome=refused Bern=up"), None),
    "Down since 14:03:07 UTC (6 min 45 s): 2 of 3 locations reach it; Rome cannot connect (connection refused); the outage ends after 3 good results in a row.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): 2 von 3 Standorten erreichen ihn; Rome kann keine Verbindung herstellen (Verbindung abgelehnt); der Ausfall endet nach 3 guten Ergebnissen in Folge."
)]
#[case::votes_that_are_not_judged_yet(
    down("Oslo=up Rome=up"),
    "Down since 14:03:07 UTC (6 min 45 s): both locations reach it; by the newest votes it is up.",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s): beide Standorte erreichen ihn; nach den neuesten Stimmen ist er in Betrieb."
)]
#[case::a_retry(
    up("Oslo=up Rome=up").but(|facts| {
        facts.retries = vec![RunningRetry { location: "Oslo".into(), attempt: 2, attempts: 3 }];
    }),
    "Up since 14:03:07 UTC (6 min 45 s): both locations reach it; Oslo repeats a failed attempt (2 of 3).",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): beide Standorte erreichen ihn; Oslo wiederholt einen fehlgeschlagenen Versuch (2 von 3)."
)]
#[case::flapping(
    down("Oslo=refused Rome=refused").but(|facts| facts.is_flapping = true),
    "Down since 14:03:07 UTC (6 min 45 s), flapping (more than 6 changes in 30 min): 2 of 2 locations cannot connect (connection refused).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s), instabil (mehr als 6 Wechsel in 30 min): 2 von 2 Standorten können keine Verbindung herstellen (Verbindung abgelehnt)."
)]
#[case::a_parent_is_down(
    down("Oslo=timeout Rome=timeout").but(|facts| {
        facts.unreachable = Some(UnreachableReason::ParentsDown(vec!["Gateway".into()]));
    }),
    "Down since 14:03:07 UTC (6 min 45 s), unreachable because Gateway is down: 2 of 2 locations cannot connect (no answer in time).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s), nicht erreichbar, weil Gateway ausgefallen ist: 2 von 2 Standorten können keine Verbindung herstellen (keine Antwort in der vorgegebenen Zeit)."
)]
#[case::two_parents_are_down(
    down("Oslo=timeout").but(|facts| {
        facts.unreachable = Some(UnreachableReason::ParentsDown(vec!["Gateway".into(), "VPN".into()]));
    }),
    "Down since 14:03:07 UTC (6 min 45 s), unreachable because Gateway and VPN are down: Oslo, the only location, cannot connect (no answer in time).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s), nicht erreichbar, weil Gateway und VPN ausgefallen sind: Oslo, der einzige Standort, kann keine Verbindung herstellen (keine Antwort in der vorgegebenen Zeit)."
)]
#[case::a_parent_that_is_hidden(
    down("Oslo=timeout").but(|facts| facts.unreachable = Some(UnreachableReason::HiddenParent)),
    "Down since 14:03:07 UTC (6 min 45 s), unreachable because a service on which it depends is down: Oslo, the only location, cannot connect (no answer in time).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s), nicht erreichbar, weil ein Dienst ausgefallen ist, von dem er abhängt: Oslo, der einzige Standort, kann keine Verbindung herstellen (keine Antwort in der vorgegebenen Zeit)."
)]
#[case::the_parent_is_back(
    down("Oslo=timeout").but(|facts| facts.unreachable = Some(UnreachableReason::NotCheckedSince)),
    "Down since 14:03:07 UTC (6 min 45 s), unreachable and not checked since the services on which it depends are up again: Oslo, the only location, cannot connect (no answer in time).",
    "Ausgefallen seit 14:03:07 UTC (6 min 45 s), nicht erreichbar und nicht geprüft, seit die Dienste, von denen er abhängt, wieder in Betrieb sind: Oslo, der einzige Standort, kann keine Verbindung herstellen (keine Antwort in der vorgegebenen Zeit)."
)]
#[case::a_certificate_that_ends_soon(
    up("Oslo=up Rome=up").but(|facts| facts.certificate_ends_at = Some(NOW.plus_ms((6 * DAY_S + 4 * 3_600) * 1_000))),
    "Up since 14:03:07 UTC (6 min 45 s): both locations reach it; the certificate is valid until 2026-12-04 18:09:52 UTC (6 d 4 h left).",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): beide Standorte erreichen ihn; das Zertifikat gilt bis 2026-12-04 18:09:52 UTC (noch 6 d 4 h)."
)]
#[case::a_certificate_that_has_ended(
    up("Oslo=up Rome=up").but(|facts| facts.certificate_ends_at = Some(ago(61))),
    "Up since 14:03:07 UTC (6 min 45 s): both locations reach it; the certificate was valid until 14:08:51 UTC (1 min 1 s ago).",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): beide Standorte erreichen ihn; das Zertifikat galt bis 14:08:51 UTC (vor 1 min 1 s)."
)]
#[case::a_certificate_that_is_valid_for_long(
    up("Oslo=up Rome=up").but(|facts| facts.certificate_ends_at = Some(NOW.plus_ms(15 * DAY_S * 1_000))),
    "Up since 14:03:07 UTC (6 min 45 s): both locations reach it.",
    "In Betrieb seit 14:03:07 UTC (6 min 45 s): beide Standorte erreichen ihn."
)]
fn votes_explain_the_status(#[case] facts: VerdictFacts, #[case] english: &str, #[case] german: &str) {
    assert_sentence(&facts, english, german);
}
