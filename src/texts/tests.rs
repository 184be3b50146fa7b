//! Tests the generated texts: their contents, and that no language lacks any.

use rstest::rstest;

use super::*;
use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::Plan;

fn organisation(locales: &[&str]) -> Organisation {
    Organisation {
        key: 1,
        id: Id::random(),
        name: "Example".into(),
        plan: Plan::Business,
        self_hosted: true,
        locales: locales.iter().map(|locale| (*locale).to_owned()).collect(),
        default_locale: locales[0].to_owned(),
        created_at: Timestamp::from_ms(0),
    }
}

/// Columns: the languages of an organisation, the default first, and the texts.
#[rstest]
#[case(&["en"], r#"{"en":"Shop is down"}"#)]
#[case(&["en", "de"], r#"{"de":"Shop ist ausgefallen","en":"Shop is down"}"#)]
#[case(&["de-AT"], r#"{"de-AT":"Shop ist ausgefallen"}"#)]
#[case(&["fr"], r#"{"fr":"Shop is down"}"#)]
#[case(&["de", "fr"], r#"{"de":"Shop ist ausgefallen"}"#)]
fn a_text_is_generated_in_the_languages_of_the_organisation(
    #[case] locales: &[&str],
    #[case] expected: &str,
) {
    let text = GeneratedText::of_service("incident-down", "Shop").with_other_count(0);
    assert_eq!(text.translated(&organisation(locales)).to_json().to_string(), expected);
}

#[rstest]
#[case(0, "Shop is down")]
#[case(1, "Shop and one other service are down")]
#[case(12, "Shop and 12 other services are down")]
fn numbers_have_their_forms(#[case] others: usize, #[case] expected: &str) {
    let text = GeneratedText::of_service("incident-down", "Shop").with_other_count(others);
    assert_eq!(text.translated(&organisation(&["en"])).get("en"), Some(expected));
}

#[test]
fn a_long_name_leaves_room_for_the_rest_of_a_title() {
    let name = "ä".repeat(255);
    let text = GeneratedText::of_service("incident-down", &name).with_other_count(1_000);
    let title = text.translated(&organisation(&["de"]));
    assert!(title.get("de").unwrap().chars().count() <= 255);
}

#[test]
fn user_text_is_not_interpreted_as_a_message() {
    let text = GeneratedText::acknowledged("{ $note }", Some("{ $by } -term"));
    let expected = "Acknowledged by { $note }: { $by } -term";
    assert_eq!(text.translated(&organisation(&["en"])).get("en"), Some(expected));
}

/// Every file can be read, and has the same texts as the English file.
#[test]
fn every_language_has_every_text() {
    let names = |contents: &str| {
        let texts =
            contents.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
        texts.filter_map(|line| Some(line.split_once(" =")?.0.to_owned())).collect::<Vec<_>>()
    };
    let english = names(FILES.get_file("en.ftl").unwrap().contents_utf8().unwrap());
    assert!(english.len() > 10);
    for file in FILES.files() {
        let contents = file.contents_utf8().unwrap();
        assert_eq!(names(contents), english, "{}", file.path().display());
        let language = file.path().file_stem().unwrap().to_str().unwrap();
        assert!(LANGUAGES.contains_key(language), "{language} is not read");
    }
}
