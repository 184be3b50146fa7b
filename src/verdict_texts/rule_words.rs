//! The rule in force in words: how many votes are needed, how many there are, and which verdict follows.

use crate::model::check::CheckStatus;
use crate::model::quorum::Quorum;
use crate::verdict_texts::facts::VerdictFacts;
use crate::verdict_texts::heartbeat_clauses::ping_rule;
use crate::verdict_texts::phrase_book::{PhraseBook, PhraseValue, capitalised};
use crate::verdict_texts::status_words::verdict_word;

/// The rule by which the status is decided, with the votes to which it is applied; `None` for a service whose status is set
/// by hand.
pub(super) fn rule_in_force(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Option<String> {
    if !facts.is_measured() || !facts.is_configured {
        return None;
    }
    if let Some(heartbeat) = &facts.heartbeat {
        return Some(capitalised(&ping_rule(book, heartbeat)));
    }
    let (rule, sum) = (quorum_words(book, facts.rules.quorum), vote_sum(book, facts));
    let whole = book.filled("rule", &[PhraseValue::text("rule", &rule), PhraseValue::text("sum", &sum)]);
    let recovery = facts.is_recovering().then(|| recovery_words(book, facts));
    Some(capitalised(&[Some(whole), recovery].into_iter().flatten().collect::<Vec<_>>().join("; ")))
}

/// How many good results the end of the outage needs, and how many there are, if that is known.
pub(super) fn recovery_words(book: &PhraseBook<'_>, facts: &VerdictFacts) -> String {
    let needed = PhraseValue::count("needed", facts.rules.recovery_checks.into());
    match facts.good_results {
        Some(good) => book.filled("recovering", &[PhraseValue::count("good", good.into()), needed]),
        None => book.filled("recovery-needs", &[needed]),
    }
}

fn quorum_words(book: &PhraseBook<'_>, quorum: Quorum) -> String {
    match quorum {
        Quorum::Any => book.text("rule-any"),
        Quorum::Majority => book.text("rule-majority"),
        Quorum::All => book.text("rule-all"),
        Quorum::AtLeast(number) => book.filled("rule-number", &[PhraseValue::count("needed", number.into())]),
    }
}

fn vote_sum(book: &PhraseBook<'_>, facts: &VerdictFacts) -> String {
    let verdict = verdict_word(book, facts.verdict_of_votes());
    let count = |status| facts.votes().filter(|vote| *vote == status).count();
    let all = facts.votes().count();
    let values = [
        PhraseValue::count("down", count(CheckStatus::Down)),
        PhraseValue::count("degraded", count(CheckStatus::Degraded)),
        PhraseValue::count("all", all),
        PhraseValue::text("verdict", &verdict),
    ];
    book.filled(if all == 0 { "sum-empty" } else { "sum" }, &values)
}
