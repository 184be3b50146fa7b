//! Slugs of status pages: the first label of their addresses (contract 4.13.2).
//!
//! This module knows the form of a slug, derives slugs from names, and finds further candidates. Which slugs are taken is
//! known to the store.

use deunicode::deunicode;

use crate::id::Id;

/// Maximum number of characters of a slug: a DNS label.
pub const SLUG_LENGTH: usize = 63;
/// Number of random characters of a slug for a name without letters and digits.
const RANDOM_LENGTH: usize = 8;
/// Number of random characters after a name whose numbered slugs are all taken.
const RANDOM_SUFFIX_LENGTH: usize = 6;
/// Number of candidates that one query tries.
const CANDIDATES_AT_ONCE: u64 = 200;
/// The highest number after a name. Then slugs are random, so that a name of many pages costs only a few queries.
const NUMBERED_MAX: u64 = 1_000;
/// The time for which a slug that was given up is reserved for its organisation, in milliseconds.
pub const HOLD_MS: i64 = 30 * crate::clock::DAY_MS;
/// Maximum number of reserved slugs of a page: the newest of those that it gave up.
pub const HOLDS_PER_PAGE: u64 = 5;
/// Minimum number of pages with which the limit of an organisation is computed, because deleted pages leave reserved slugs
/// too.
const PAGES_MIN: u64 = 100;

/// Returns the maximum number of reserved slugs of an organisation with this number of pages.
#[must_use]
pub const fn holds_of_organisation(pages: u64) -> u64 {
    HOLDS_PER_PAGE * if pages < PAGES_MIN { PAGES_MIN } else { pages }
}

/// Returns true if the text is a slug: `^[a-z0-9]+(-[a-z0-9]+)*$`.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(is_word)
}

/// The slug derived from a name; a random one if the name has no letters and digits.
#[must_use]
pub fn derived(name: &str) -> String {
    let mut slug = String::new();
    for character in deunicode(name).chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = cut(&slug, SLUG_LENGTH);
    if slug.is_empty() { random() } else { slug.to_owned() }
}

/// The next slugs to try for `base` after `tried` others, in order: `base`, `base-2`, `base-3` and so on up to 1,000, then
/// `base` with random characters. Never empty.
#[must_use]
pub fn candidates(base: &str, tried: u64) -> Vec<String> {
    if tried >= NUMBERED_MAX {
        return vec![with_suffix(base, &format!("-{}", random_letters(RANDOM_SUFFIX_LENGTH)))];
    }
    let numbered = |number: u64| match number {
        1 => base.to_owned(),
        _ => with_suffix(base, &format!("-{number}")),
    };
    (tried + 1..=(tried + CANDIDATES_AT_ONCE).min(NUMBERED_MAX)).map(numbered).collect()
}

fn with_suffix(base: &str, suffix: &str) -> String {
    format!("{}{suffix}", cut(base, SLUG_LENGTH - suffix.len()))
}

fn cut(slug: &str, length: usize) -> &str {
    slug.get(..length).unwrap_or(slug).trim_end_matches('-')
}

fn random() -> String {
    format!("page-{}", random_letters(RANDOM_LENGTH))
}

fn random_letters(length: usize) -> String {
    let drawn = [Id::random(), Id::random()];
    let letters = drawn.iter().flat_map(|id| id.as_str().bytes().collect::<Vec<_>>());
    let letters = letters.filter(u8::is_ascii_alphanumeric).map(|byte| char::from(byte.to_ascii_lowercase()));
    letters.take(length).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a", true)]
    #[case("example-status-2", true)]
    #[case("2024", true)]
    #[case("", false)]
    #[case("-a", false)]
    #[case("a-", false)]
    #[case("a--b", false)]
    #[case("A", false)]
    #[case("a_b", false)]
    #[case("a.b", false)]
    #[case("ä", false)]
    fn a_slug_is_words_between_single_hyphens(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(is_slug(text), fits);
    }

    /// Contract 4.13.2: transliterated, lower case, other characters become single hyphens, trimmed.
    #[rstest]
    #[case("Example status", "example-status")]
    #[case("  --Shop & Café!! ", "shop-cafe")]
    #[case("Größe", "grosse")]
    #[case("Статус", "status")]
    #[case("A/B\u{a0}Test", "a-b-test")]
    fn a_name_becomes_a_slug(#[case] name: &str, #[case] slug: &str) {
        assert_eq!(derived(name), slug);
    }

    #[test]
    fn a_derived_slug_is_always_one() {
        let long = derived(&format!("{} {}", "a".repeat(62), "b".repeat(200)));
        assert_eq!(long, "a".repeat(62));
        for name in ["北京市", "☃", "ß", "🦀 status", "ﬁ", "٣", "-", &"ü".repeat(255)] {
            let slug = derived(name);
            assert!(is_slug(&slug) && slug.len() <= SLUG_LENGTH, "{name}: {slug}");
        }
    }

    #[rstest]
    #[case("!!!")]
    #[case("- -")]
    fn a_name_without_letters_gets_a_random_slug(#[case] name: &str) {
        let slug = derived(name);
        let random = slug.strip_prefix("page-").unwrap();
        assert!(random.len() == RANDOM_LENGTH && is_slug(random), "{slug}");
        assert_ne!(derived(name), slug);
    }

    #[test]
    fn a_taken_slug_is_numbered() {
        let first = candidates("shop", 0);
        assert_eq!((first.len(), &first[..3]), (200, &["shop", "shop-2", "shop-3"].map(str::to_owned)[..]));
        assert_eq!(candidates("shop", 200)[0], "shop-201");
        assert_eq!(candidates("shop", 800).last().unwrap(), "shop-1000");
        let long = candidates(&"a".repeat(SLUG_LENGTH), 0);
        assert_eq!(long[1], format!("{}-2", "a".repeat(61)));
        let hyphen = candidates(&format!("{}-bc", "a".repeat(60)), 0);
        assert_eq!(hyphen[1], format!("{}-2", "a".repeat(60)));
    }

    #[test]
    fn a_slug_of_a_name_that_a_thousand_pages_have_is_random() {
        for base in ["shop", &"a".repeat(SLUG_LENGTH)] {
            let [first, second] = [(); 2].map(|()| candidates(base, NUMBERED_MAX));
            assert!(first.len() == 1 && first != second, "{first:?}");
            assert!(is_slug(&first[0]) && first[0].len() <= SLUG_LENGTH, "{first:?}");
            let suffix = first[0].rsplit('-').next().unwrap();
            assert_eq!(suffix.len(), RANDOM_SUFFIX_LENGTH);
        }
    }
}
