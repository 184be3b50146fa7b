//! The writing direction of languages.

/// Languages that are written from right to left, by the first part of their tag (BCP 47).
const RIGHT_TO_LEFT: [&str; 8] = ["ar", "dv", "fa", "he", "ps", "sd", "ur", "yi"];

/// Returns the writing direction of a language as HTML names it: `ltr` or `rtl`.
#[must_use]
pub fn writing_direction(locale: &str) -> &'static str {
    let language = locale.split('-').next().unwrap_or_default();
    if RIGHT_TO_LEFT.iter().any(|known| known.eq_ignore_ascii_case(language)) { "rtl" } else { "ltr" }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("en", "ltr")]
    #[case("ar", "rtl")]
    #[case("HE-IL", "rtl")]
    #[case("arn", "ltr")]
    #[case("", "ltr")]
    fn a_language_has_a_writing_direction(#[case] locale: &str, #[case] direction: &str) {
        assert_eq!(writing_direction(locale), direction);
    }
}
