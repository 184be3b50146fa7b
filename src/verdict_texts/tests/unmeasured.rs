//! Situations without a verdict, or without results at present.

use rstest::rstest;

use super::assert_sentence;
use super::situation::{ago, situation};
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::{AbsentOwner, VerdictFacts};

fn unknown(votes: &str) -> VerdictFacts {
    situation(Verdict::Unknown, votes)
}

/// A no-data period, in which the verdict may still be known.
fn interrupted(verdict: Verdict, votes: &str) -> VerdictFacts {
    situation(verdict, votes).but(|facts| {
        facts.measured = MeasuredStatus::NoData;
        facts.cause = Some(ChangeCause::Gap);
    })
}

/// The same, but the period started five seconds ago.
fn just_interrupted(verdict: Verdict, votes: &str) -> VerdictFacts {
    interrupted(verdict, votes).but(|facts| facts.since = Some(ago(5)))
}

/// The situation, and its sentence in English and German.
#[rstest]
#[case::just_created(
    unknown("Oslo:new Rome:new").but(|facts| facts.since = None),
    "Unknown: no check is finished yet.",
    "Unbekannt: es ist noch keine Prüfung abgeschlossen."
)]
#[case::no_location(
    unknown("").but(|facts| facts.since = None),
    "Unknown: no location checks it.",
    "Unbekannt: kein Standort prüft ihn."
)]
#[case::all_results_are_stale(
    unknown("Oslo:stale Rome:stale Bern:stale").but(|facts| facts.cause = Some(ChangeCause::Stale)),
    "Unknown since 14:03:07 UTC (6 min 45 s): the last result is from 13:57:20 UTC (12 min 32 s ago); none of the 3 locations has a vote (the last result is too old).",
    "Unbekannt seit 14:03:07 UTC (6 min 45 s): das letzte Ergebnis ist von 13:57:20 UTC (vor 12 min 32 s); keiner der 3 Standorte hat eine Stimme (letztes Ergebnis zu alt)."
)]
#[case::resumed(
    unknown("Oslo:outdated").but(|facts| {
        facts.cause = Some(ChangeCause::Paused);
        facts.since = Some(ago(5));
    }),
    "Unknown since 14:09:47 UTC (5 s): no check is finished since it was resumed; Oslo has no vote (not checked since it was impaired).",
    "Unbekannt seit 14:09:47 UTC (5 s): seit dem Ende der Pause ist noch keine Prüfung abgeschlossen; Oslo hat keine Stimme (nach einer Störung noch nicht geprüft)."
)]
#[case::changed(
    unknown("Oslo:new Rome:new").but(|facts| facts.cause = Some(ChangeCause::Reconfigured)),
    "Unknown since 14:03:07 UTC (6 min 45 s): no check is finished since its settings were changed.",
    "Unbekannt seit 14:03:07 UTC (6 min 45 s): seit der Änderung der Einstellungen ist noch keine Prüfung abgeschlossen."
)]
#[case::without_settings(
    unknown("").but(|facts| facts.is_configured = false),
    "Unknown: the service has no settings yet, so it is not checked.",
    "Unbekannt: Der Dienst hat noch keine Einstellungen und wird deshalb nicht geprüft."
)]
#[case::nobody_has_checked_since(
    interrupted(Verdict::Unknown, "Oslo:stale Rome:stale"),
    "No data since 14:03:07 UTC (6 min 45 s): no check was finished; the last result is from 13:57:20 UTC (12 min 32 s ago); neither location has a vote (the last result is too old).",
    "Keine Daten seit 14:03:07 UTC (6 min 45 s): es wurde keine Prüfung abgeschlossen; das letzte Ergebnis ist von 13:57:20 UTC (vor 12 min 32 s); keiner der beiden Standorte hat eine Stimme (letztes Ergebnis zu alt)."
)]
#[case::a_short_gap(
    just_interrupted(Verdict::Up, "Oslo=up Rome=up"),
    "Up, but no data since 14:09:47 UTC (5 s): no check was finished; the last result is from 14:09:40 UTC (12 s ago).",
    "In Betrieb, aber keine Daten seit 14:09:47 UTC (5 s): es wurde keine Prüfung abgeschlossen; das letzte Ergebnis ist von 14:09:40 UTC (vor 12 s)."
)]
#[case::all_locations_are_impaired(
    just_interrupted(Verdict::Unknown, "Oslo:cut-off Rome:blind"),
    "No data since 14:09:47 UTC (5 s): no check was finished; the last result is from 14:09:40 UTC (12 s ago); neither location has a vote (impaired).",
    "Keine Daten seit 14:09:47 UTC (5 s): es wurde keine Prüfung abgeschlossen; das letzte Ergebnis ist von 14:09:40 UTC (vor 12 s); keiner der beiden Standorte hat eine Stimme (gestört)."
)]
#[case::the_owner_is_away(
    situation(Verdict::Unknown, "Oslo=refused").but(|facts| {
        facts.owner_absence = Some(AbsentOwner { since: Some(ago(182)) });
        facts.measured = MeasuredStatus::Down;
    }),
    "Unknown: the node that checks the service has not answered since 14:06:50 UTC (3 min 2 s); recorded last: down since 14:03:07 UTC (6 min 45 s).",
    "Unbekannt: Der Knoten, der den Dienst prüft, antwortet seit 14:06:50 UTC (3 min 2 s) nicht; zuletzt aufgezeichnet: ausgefallen seit 14:03:07 UTC (6 min 45 s)."
)]
#[case::an_owner_that_was_never_heard(
    unknown("Oslo:new").but(|facts| facts.owner_absence = Some(AbsentOwner { since: None })),
    "Unknown: the node that checks the service does not answer.",
    "Unbekannt: Der Knoten, der den Dienst prüft, antwortet nicht."
)]
fn missing_results_explain_the_status(
    #[case] facts: VerdictFacts,
    #[case] english: &str,
    #[case] german: &str,
) {
    assert_sentence(&facts, english, german);
}
