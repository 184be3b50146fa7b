//! E-mail addresses: the form that is accepted (the practical part of RFC 5322).
//!
//! No domain is looked up, and nothing is sent.

use crate::model::domain_names::is_label;

/// Maximum number of characters of an address.
const ADDRESS_LENGTH: usize = 254;
/// Maximum number of characters before the `@`.
const LOCAL_LENGTH: usize = 64;

/// Returns true if the text has the form `local@domain.tld`.
#[must_use]
pub fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    text.chars().count() <= ADDRESS_LENGTH && is_local(local) && is_domain(domain)
}

/// Returns true for dot-separated words of characters that are neither blanks nor delimiters.
fn is_local(local: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"(),:;<>@[\\]".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(is_plain);
    local.chars().count() <= LOCAL_LENGTH && local.split('.').all(is_word)
}

/// Returns true for at least two labels of letters, digits and inner hyphens.
fn is_domain(domain: &str) -> bool {
    domain.contains('.') && domain.split('.').all(|label| is_label(label, char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ops@example.com", true)]
    #[case("First.Last+tag@sub.example.co.uk", true)]
    #[case("o'brien_1@xn--bcher-kva.example", true)]
    #[case("ünal@bücher.example", true)]
    #[case("", false)]
    #[case("ops", false)]
    #[case("@example.com", false)]
    #[case("ops@", false)]
    #[case("ops@localhost", false)]
    #[case("ops@example..com", false)]
    #[case("ops@.example.com", false)]
    #[case("ops@-example.com", false)]
    #[case("ops.@example.com", false)]
    #[case("a..b@example.com", false)]
    #[case("a b@example.com", false)]
    #[case("a@b@example.com", false)]
    #[case("<ops@example.com>", false)]
    #[case("ops@example.com\nBcc: x@example.com", false)]
    #[case("ops@exam ple.com", false)]
    fn an_address_has_a_local_part_and_a_domain(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(is_address(text), fits);
    }

    #[test]
    fn an_address_has_a_maximum_length() {
        assert!(is_address(&format!("{}@example.com", "a".repeat(64))));
        assert!(!is_address(&format!("{}@example.com", "a".repeat(65))));
        assert!(!is_address(&format!("a@{}example.com", "b.".repeat(130))));
    }
}
