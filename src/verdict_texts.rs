//! The explanation of a service's status in words: one sentence, the votes, the rule, and all of it as plain text.
//!
//! Everything here is pure: [`facts`] in, texts out. [`known_facts`] builds the facts from what the engine and the store know
//! about a service. Each language is one Fluent file in `verdict_texts/languages/`; a language without a file is explained in
//! English. Names and messages of errors are as people and checks wrote them.

pub mod explanation;
pub mod facts;
mod heartbeat_clauses;
pub mod known_facts;
mod phrase_book;
mod result_words;
mod rule_words;
mod sentence;
mod status_words;
#[cfg(test)]
mod tests;
mod vote_clauses;
