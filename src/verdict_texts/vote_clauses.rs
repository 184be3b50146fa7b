//! The clauses of a sentence that say how the locations voted, and which of them have no vote.

use crate::model::ballot::{LocationBallot, VoteAbsence};
use crate::model::check::CheckStatus;
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::VerdictFacts;
use crate::verdict_texts::phrase_book::{PhraseBook, PhraseValue};
use crate::verdict_texts::result_words::VoteGroup;
use crate::verdict_texts::status_words::absence_word;

/// Maximum number of locations that a clause names; more are counted.
const NAMES_MAX: usize = 3;

/// The clauses about the votes that count: first those that agree with the verdict.
pub(super) fn vote_clauses(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Vec<String> {
    let mut groups = VoteGroup::of(&facts.ballots);
    let is_good = facts.verdict_of_votes() == Verdict::Up;
    let rank_of_up = if is_good { 0 } else { 3 };
    // The sort is stable: equal votes stay in the order of their number.
    groups.sort_by_key(|group| match group.status {
        CheckStatus::Up => rank_of_up,
        CheckStatus::Down => 1,
        CheckStatus::Degraded => 2,
    });
    let all = facts.votes().count();
    let mut clauses: Vec<String> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let who =
            if index == 0 { first_subject(book, group, facts) } else { subject(book, &group.names(), all) };
        clauses.push(format!("{who} {}", group.found(book)));
    }
    let has_dissent = groups.iter().any(|group| group.status != CheckStatus::Up);
    if is_good && facts.verdict == Verdict::Up && has_dissent {
        let last = clauses.pop().unwrap_or_default();
        clauses.push(book.naming("too-few", "clause", &last));
    }
    clauses
}

/// The clauses about locations without a vote, by reason. Locations that no longer check the service are left out.
pub(super) fn absence_clauses(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Vec<String> {
    let reason_of = |ballot: &LocationBallot| {
        let absence = ballot.absence().filter(|absence| *absence != VoteAbsence::Withdrawn)?;
        Some(absence_word(book, absence))
    };
    let mut reasons: Vec<String> = Vec::new();
    for reason in facts.ballots.iter().filter_map(reason_of) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let clause = |reason: &String| {
        let absent = facts.ballots.iter().filter(|ballot| reason_of(ballot).as_ref() == Some(reason));
        let names: Vec<&str> = absent.map(|ballot| ballot.location.as_str()).collect();
        absence_clause(book, &names, reason, facts.ballots.len())
    };
    reasons.iter().map(clause).collect()
}

/// A clause about some of `all` locations, which have no vote for this reason.
fn absence_clause(book: &PhraseBook<'_>, names: &[&str], reason: &str, all: usize) -> String {
    let (count, reason) = (PhraseValue::count("count", names.len()), PhraseValue::text("reason", reason));
    if names.len() == all && all > 1 {
        return book.filled("none-has-vote", &[count, reason]);
    }
    let who = if names.len() > NAMES_MAX {
        book.filled("locations", std::slice::from_ref(&count))
    } else {
        book.list(names)
    };
    book.filled("has-no-vote", &[count, PhraseValue::text("names", &who), reason])
}

/// The subject of the first clause: how many of the locations it is about.
fn first_subject(book: &PhraseBook<'_>, group: &VoteGroup<'_>, facts: &VerdictFacts) -> String {
    let (names, all) = (group.names(), facts.votes().count());
    let absent = facts.ballots.iter().filter_map(LocationBallot::absence);
    let is_complete = absent.filter(|absence| *absence != VoteAbsence::Withdrawn).count() == 0;
    let count = PhraseValue::count("count", names.len());
    match names.len() {
        1 if is_complete && all == 1 => book.naming("only-location", "name", names[0]),
        1 => names[0].to_owned(),
        some if some == all && group.status == CheckStatus::Up => {
            book.filled(if is_complete { "all-locations" } else { "all-voting-locations" }, &[count])
        }
        _ => {
            let phrase = if is_complete { "some-locations" } else { "some-voting-locations" };
            book.filled(phrase, &[count, PhraseValue::count("all", all)])
        }
    }
}

fn subject(book: &PhraseBook<'_>, names: &[&str], all: usize) -> String {
    if names.len() > NAMES_MAX { some_of(book, names.len(), all) } else { book.list(names) }
}

fn some_of(book: &PhraseBook<'_>, count: usize, all: usize) -> String {
    book.filled("some-locations", &[PhraseValue::count("count", count), PhraseValue::count("all", all)])
}
