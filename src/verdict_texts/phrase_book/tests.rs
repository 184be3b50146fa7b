//! The phrases: that no language lacks one, and that each is used.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rstest::rstest;

use super::*;
use crate::texts::language_files::{names_in, require_complete};

#[test]
fn every_language_has_every_phrase() {
    require_complete(&FILES);
}

/// The sources that use phrases, without tests.
fn sources() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verdict_texts");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_phrase_is_used() {
    let sources = sources();
    let known = names_in(FILES.get_file("en.ftl").unwrap().contents_utf8().unwrap());
    let is_used = |name: &String| sources.iter().any(|source| source.contains(&format!("\"{name}\"")));
    assert_eq!(known.iter().filter(|name| !is_used(name)).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Names of phrases with a hyphen are used for nothing else, so each such text in the sources is one.
#[test]
fn no_phrase_is_missing() {
    let known: BTreeSet<String> =
        names_in(FILES.get_file("en.ftl").unwrap().contents_utf8().unwrap()).into_iter().collect();
    let is_name = |text: &&str| {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        text.contains('-') && text.chars().all(is_plain)
    };
    for source in sources() {
        for name in source.split('"').filter(is_name) {
            assert!(known.contains(name), "no phrase `{name}`");
        }
    }
}

#[rstest]
#[case(&[], "", "")]
#[case(&["Oslo"], "Oslo", "Oslo")]
#[case(&["Oslo", "Rome"], "Oslo and Rome", "Oslo und Rome")]
#[case(&["Bern", "Oslo", "Rome"], "Bern, Oslo and Rome", "Bern, Oslo und Rome")]
fn names_form_a_list(#[case] names: &[&str], #[case] english: &str, #[case] german: &str) {
    let list = |language| PhraseBook::new(language, Timestamp::from_ms(0)).list(names);
    assert_eq!((list("en").as_str(), list("de-AT").as_str()), (english, german));
}

#[test]
fn names_of_users_are_not_interpreted() {
    let book = PhraseBook::new("en", Timestamp::from_ms(0));
    assert_eq!(book.list(&["{ $last }", "-term"]), "{ $last } and -term");
}
