//! The whole explanation of a status: the sentence, the votes, the rule, and all of it as plain text.

use crate::model::ballot::LocationBallot;
use crate::model::check::{CheckStatus, ErrorCode};
use crate::verdict_texts::facts::VerdictFacts;
use crate::verdict_texts::phrase_book::{PhraseBook, PhraseValue};
use crate::verdict_texts::result_words::{failure_details, failure_of};
use crate::verdict_texts::rule_words::rule_in_force;
use crate::verdict_texts::sentence::sentence;
use crate::verdict_texts::status_words::{absence_details, vote_word};

/// The explanation of a service's status, in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictExplanation {
    /// The sentence that says what the status is, since when, and why.
    pub sentence: String,
    /// A row for each location, in the order of the ballots.
    pub votes: Vec<BallotRow>,
    /// The rule in force, with the votes to which it is applied; `None` if nothing is measured.
    pub rule: Option<String>,
    /// All of it as plain text, for a ticket or a message.
    pub plain_text: String,
}

/// The vote of one location in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BallotRow {
    /// Display name of the location.
    pub location: String,
    /// The vote; `None` if the location has none.
    pub vote: Option<CheckStatus>,
    /// The vote in a word, or the reason why there is none.
    pub vote_words: String,
    /// The newest finished check: start and age; `None` before the first.
    pub checked: Option<String>,
    /// The error of the newest check in words; `None` if it was up.
    pub error: Option<String>,
    /// The message of that error, in English as in the check history.
    pub error_message: Option<String>,
    /// The same message in quotation marks, unless it only repeats the error.
    quoted_message: Option<String>,
    /// The number of the attempt that decided, if it was not the first.
    pub attempt: Option<String>,
    /// The time that the answer took.
    pub response_time: Option<String>,
}

impl VerdictExplanation {
    /// Explains the status in a language, or in English if there is no file for it.
    #[must_use]
    pub fn of(facts: &VerdictFacts, language: &str) -> Self {
        let book = PhraseBook::new(language, facts.now);
        let sentence = sentence(&book, facts);
        let votes: Vec<BallotRow> = facts.ballots.iter().map(|ballot| BallotRow::of(&book, ballot)).collect();
        let rule = rule_in_force(&book, facts);
        let mut lines = vec![title(facts), sentence.clone()];
        if !votes.is_empty() {
            lines.push(book.text("votes"));
            lines.extend(votes.iter().map(BallotRow::line));
        }
        lines.extend(rule.as_ref().map(|rule| book.naming("rule-line", "rule", rule)));
        let as_of = facts.now.format("%Y-%m-%d %H:%M:%S UTC");
        lines.push(book.naming("as-of", "moment", &as_of));
        Self { sentence, votes, rule, plain_text: lines.join("\n") }
    }
}

impl BallotRow {
    fn of(book: &PhraseBook<'_>, ballot: &LocationBallot) -> Self {
        let check = ballot.last_check.as_ref();
        let vote_words = match ballot.absence() {
            Some(absence) => book.naming("no-vote", "reason", &absence_details(book, absence)),
            None => ballot.cast().map(|vote| vote_word(book, vote)).unwrap_or_default(),
        };
        let attempt = check.map(|check| check.attempt).filter(|attempt| *attempt > 1);
        let response_us = check.and_then(|check| check.measurement.response_time);
        let failure = failure_of(ballot);
        let error = failure.map(|failure| failure_details(book, failure));
        let quoted = failure.filter(|failure| failure.code != ErrorCode::ConditionFailed);
        let is_new = |message: &&str| {
            let is_repeated = error.as_ref().is_some_and(|error| error.eq_ignore_ascii_case(message));
            !message.is_empty() && !is_repeated
        };
        let quoted = quoted.map(|failure| failure.message.as_ref()).filter(is_new);
        let quoted_message = quoted.map(|message| book.naming("quoted", "text", message));
        Self {
            location: ballot.location.clone(),
            vote: ballot.cast(),
            vote_words,
            checked: check.map(|check| book.dated("checked", check.checked_at)),
            error,
            error_message: failure.map(|failure| failure.message.to_string()).filter(|text| !text.is_empty()),
            quoted_message,
            attempt: attempt
                .map(|attempt| book.filled("attempt", &[PhraseValue::count("attempt", attempt.into())])),
            response_time: response_us.map(|time| format!("{} ms", time.get().div_ceil(1_000))),
        }
    }

    /// The row as a line of plain text.
    #[must_use]
    pub fn line(&self) -> String {
        let details = [&self.error, &self.quoted_message, &self.response_time, &self.attempt, &self.checked];
        let details: Vec<&str> = details.into_iter().flatten().map(String::as_str).collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        format!("- {}: {}{details}", self.location, self.vote_words)
    }
}

fn title(facts: &VerdictFacts) -> String {
    match &facts.target {
        Some(target) => format!("{} ({target})", facts.service),
        None => facts.service.clone(),
    }
}
