//! Outages as scripts of status changes, and their invariants under random scripts.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::model::history::MeasuredStatus::{Degraded, Down, NoData, Unknown, Up};

/// Plays a script; returns the outage and the number of recoveries. Each letter is a step of 10 ms: `d` down, `g` degraded,
/// `u` up, `n` no data, `?` unknown, `F` flapping, `S` settled, `i` an imported down, `t` reported to incident 7.
fn play(script: &str) -> (Option<Outage>, usize) {
    let (mut outage, mut status, mut recoveries) = (None, Up, 0);
    for (number, step) in (1..).zip(script.chars()) {
        let at = Timestamp::from_ms(number * 10);
        let (to, cause) = match step {
            't' => {
                outage = outage.map(|outage: Outage| Outage {
                    reported_at: Some(at),
                    incident: Some(7),
                    evaluate_at: None,
                    ..outage
                });
                continue;
            }
            'd' => (Down, ChangeCause::Votes),
            'g' => (Degraded, ChangeCause::Votes),
            'u' => (Up, ChangeCause::Votes),
            'n' => (NoData, ChangeCause::Gap),
            '?' => (Unknown, ChangeCause::Paused),
            'F' => (status, ChangeCause::Flapping),
            'S' => (status, ChangeCause::Settled),
            _ => (Down, ChangeCause::Imported),
        };
        let change = StatusChange { service: 5, at, from: status, to, cause };
        if cause != ChangeCause::Imported {
            status = to;
        }
        let followed = Outage::follow(outage, 1, &change);
        recoveries += usize::from(followed.has_recovered);
        outage = followed.outage;
    }
    (outage, recoveries)
}

/// A service hides its dependents only if it is known to be down, flapping or unreachable now.
#[rstest]
#[case::down("d", false, true)]
#[case::reported("dt", false, true)]
#[case::degraded("g", false, false)]
#[case::degraded_and_unreachable("g", true, true)]
#[case::down_and_unreachable("d", true, true)]
#[case::unstable_and_up("duF", false, true)]
#[case::unstable_and_down("dF", false, true)]
#[case::unstable_still("duFdu", false, true)]
#[case::settled_and_down("duFdS", false, true)]
#[case::back("dtu", false, false)]
#[case::relapsed("dtud", false, true)]
#[case::no_data("dtn", false, false)]
#[case::no_data_after_unstable("duFn", false, false)]
fn a_failing_service_hides_its_dependents(
    #[case] script: &str,
    #[case] is_unreachable: bool,
    #[case] hides: bool,
) {
    let outage = play(script).0.unwrap();
    let unreachable_since = is_unreachable.then_some(outage.began_at);
    assert_eq!(Outage { unreachable_since, ..outage }.hides_others(), hides);
}

/// A service that fails behind a dependency has no outage of its own. That starts with its first check after the recovery
/// of the dependency.
#[test]
fn an_outage_becomes_its_own_after_a_recheck() {
    let at = Timestamp::from_ms;
    let behind = play("d").0.unwrap().unreachable(at(30));
    assert_eq!((behind.unreachable_since, behind.evaluate_at), (Some(at(10)), Some(at(30))));
    let asked = behind.mark_recheck_requested(at(40), at(90));
    assert_eq!(
        (asked.unreachable_since, asked.asked_at, asked.held_until),
        (Some(at(10)), Some(at(40)), Some(at(90)))
    );
    assert_eq!(asked.keep_unreachable(at(30)), behind, "what it depends on went away again");
    let own = asked.become_own_outage(at(50));
    assert_eq!((own.unreachable_since, own.began_at, own.evaluate_at), (None, at(50), Some(at(50))));
    assert_eq!((own.asked_at, own.held_until), (None, None));
    let change = StatusChange { service: 5, at: at(60), from: Down, to: Up, cause: ChangeCause::Votes };
    assert_eq!(Outage::follow(Some(asked), 1, &change).outage, None, "it came back with what it depends on");
}

/// The remaining outage as text: kind, start, ` untold` if it is unreported, ` r` and a time if it waits whether the
/// recovery lasts, ` blind` if there is no data; `-` = no outage.
fn left(script: &str) -> String {
    let Some(outage) = play(script).0 else { return "-".into() };
    let kind = outage.kind.as_str();
    let began = outage.began_at.ms();
    let untold = if outage.is_unreported() { " untold" } else { "" };
    let recovered = outage.recovered_at.map(|at| format!(" r{}", at.ms())).unwrap_or_default();
    let blind = if outage.is_measured { "" } else { " blind" };
    format!("{kind}@{began}{untold}{recovered}{blind}")
}

#[rstest]
#[case::an_edge("d", "down@10 untold")]
#[case::a_blip("du", "-")]
#[case::reported("dt", "down@10")]
#[case::a_return_that_may_not_last("dtu", "down@10 r30")]
#[case::up_twice("dtuu", "down@10 r30")]
#[case::a_relapse("dtud", "down@40 untold")]
#[case::a_relapse_that_returns("dtudu", "down@40 r50")]
#[case::worse("gtd", "down@30 untold")]
#[case::worse_before_the_report("gd", "down@20 untold")]
#[case::better("dtg", "degraded@10")]
#[case::better_before_the_report("dg", "degraded@10 untold")]
#[case::a_gap("dtn", "down@10 blind")]
#[case::no_data_before_the_report("dnd", "down@30 untold")]
#[case::no_data_after_the_report("dtnd", "down@10")]
#[case::a_pause("d?", "down@10 untold blind")]
#[case::a_pause_and_up("d?u", "-")]
#[case::only_up("u", "-")]
#[case::only_unknown("?n", "-")]
#[case::imported("i", "-")]
#[case::imported_later("dti", "down@10")]
#[case::flapping_while_up("duF", "unstable@30 untold")]
#[case::flapping_continues("duFdu", "unstable@30 untold")]
#[case::flapping_is_reported_once("dutduFtdudu", "unstable@60")]
#[case::flapping_after_the_report("dtudF", "unstable@50 untold")]
#[case::settled_up("duFtdS", "down@60 untold")]
#[case::settled_and_up("duFtduS", "unstable@30 r70")]
#[case::settled_before_the_report("duFS", "-")]
fn an_outage_follows_the_status(#[case] script: &str, #[case] expected: &str) {
    assert_eq!(left(script), expected);
}

#[rstest]
#[case("du", 1)]
#[case("dtu", 1)]
#[case("dtuu", 1)]
#[case("dtudu", 2)]
#[case("d?u", 1)]
#[case("dnu", 1)]
#[case("u?u", 0)]
#[case("duFdudS", 1)]
#[case("duFduS", 2)]
fn a_reported_outage_recovers_when_the_service_is_up(#[case] script: &str, #[case] recoveries: usize) {
    assert_eq!(play(script).1, recoveries);
}

proptest! {
    /// For any script: a service that is up without flapping has no outage, and a service that is down has one.
    #[test]
    fn a_service_that_is_up_has_no_outage(script in "[dgunF?St]{1,40}") {
        let outage = play(&script).0;
        let flapping = script.chars().rfind(|step| matches!(step, 'F' | 'S')) == Some('F');
        let last = script.chars().rfind(|step| "dgu".contains(*step));
        if let Some(outage) = outage {
            prop_assert!(outage.evaluate_at.is_some() || outage.reported_at.is_some());
            prop_assert!(outage.recovered_at.is_none() || !outage.is_unreported());
            prop_assert!(outage.recovered_at.is_none() || outage.incident.is_some());
            prop_assert_eq!(outage.is_flapping, flapping);
        }
        if !flapping && last == Some('u') {
            let in_trouble = outage.filter(|outage| outage.is_measured && outage.recovered_at.is_none());
            prop_assert_eq!(in_trouble, None);
        }
        if matches!(last, Some('d' | 'g')) {
            prop_assert!(outage.is_some_and(|outage| outage.recovered_at.is_none()));
        }
    }
}

/// The first edges of the outage after a script; `-` for a kind that did not occur.
fn firsts(script: &str) -> String {
    let FirstEdges { unstable, degraded, down } = play(script).0.unwrap().first_edges;
    let edge = |at: Option<Timestamp>| at.map_or("-".to_owned(), |at| at.ms().to_string());
    format!("unstable {}, degraded {}, down {}", edge(unstable), edge(degraded), edge(down))
}

#[rstest]
#[case::down("d", "unstable -, degraded -, down 10")]
#[case::degraded_then_down("gd", "unstable -, degraded 10, down 20")]
#[case::back_and_forth("gdgdg", "unstable -, degraded 10, down 20")]
#[case::up_ends_it("gdud", "unstable -, degraded -, down 40")]
#[case::no_data_ends_an_unreported_outage("gdng", "unstable -, degraded 40, down -")]
#[case::no_data_does_not_end_a_reported_outage("dtng", "unstable -, degraded 40, down 10")]
#[case::worse_than_reported("gtd", "unstable -, degraded -, down 30")]
#[case::a_relapse("dtug", "unstable -, degraded 40, down -")]
#[case::flapping("duF", "unstable 30, degraded -, down -")]
#[case::flapping_and_down("dF", "unstable 20, degraded -, down 10")]
#[case::up_does_not_end_flapping("duFdgu", "unstable 30, degraded -, down -")]
#[case::nor_does_a_gap("duFdnd", "unstable 30, degraded -, down 60")]
#[case::down_when_it_has_settled("duFdS", "unstable 30, degraded -, down 40")]
fn the_first_edge_of_each_kind_is_recorded(#[case] script: &str, #[case] expected: &str) {
    assert_eq!(firsts(script), expected);
}

/// Cases: a script; the time since which the flapping service is down without a change, and the time of the next
/// evaluation.
#[rstest]
#[case::flapping_with_an_edge_to_down("dF", Some(20), Some(20))]
#[case::down_later("duFd", Some(40), Some(40))]
#[case::reported_as_unstable("duFtd", Some(50), Some(50))]
#[case::up_for_a_moment("duFtdu", None, None)]
#[case::degraded_for_a_moment("duFtdgd", Some(70), Some(70))]
#[case::a_gap("duFtdn", None, None)]
#[case::settled("duFtdS", None, Some(60))]
#[case::not_flapping("d", None, Some(10))]
fn a_service_that_flaps_is_down_since_its_last_edge(
    #[case] script: &str,
    #[case] since: Option<i64>,
    #[case] evaluate_at: Option<i64>,
) {
    let outage = play(script).0.unwrap();
    let ms = |at: Option<Timestamp>| at.map(Timestamp::ms);
    assert_eq!((ms(outage.down_since), ms(outage.evaluate_at)), (since, evaluate_at));
    assert_eq!(outage.is_undecided(), since.is_some() || outage.is_unreported());
}

/// A flapping service was taken as recovered because its policy ignores flapping. If it then goes down, the recovery is
/// undone.
#[test]
fn a_recovery_while_flapping_is_undone_when_the_service_goes_down() {
    let at = Timestamp::from_ms;
    let harmless = Outage { reported_at: Some(at(5)), recovered_at: Some(at(5)), ..play("duF").0.unwrap() };
    let change = StatusChange { service: 5, at: at(90), from: Up, to: Down, cause: ChangeCause::Votes };
    let down = Outage::follow(Some(harmless), 1, &change).outage.unwrap();
    assert_eq!((down.recovered_at, down.reported_at, down.down_since), (None, None, Some(at(90))));
}
