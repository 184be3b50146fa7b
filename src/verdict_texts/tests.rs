//! Recorded situations, each with its sentence in English and German.

mod decided;
mod heartbeats;
mod plain_text;
mod situation;
mod unmeasured;
mod voted;

use crate::verdict_texts::explanation::VerdictExplanation;
use crate::verdict_texts::facts::VerdictFacts;

/// Checks the sentence of a situation in both languages.
fn assert_sentence(facts: &VerdictFacts, english: &str, german: &str) {
    assert_eq!(VerdictExplanation::of(facts, "en").sentence, english);
    assert_eq!(VerdictExplanation::of(facts, "de").sentence, german);
}
