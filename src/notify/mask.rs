//! Masks the secrets of a channel in shown texts, because receivers may repeat them, in the same or another form.
//!
//! A secret is searched in plain form, in JSON, HTML and percent encoding, in base64 (also within a longer text), and in
//! hex. Long parts of a secret address are secrets, too. A truncated text may end with a part of a secret.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The replacement of a secret.
const MASK: &str = "•••";
/// Minimum length of a secret in bytes; any text might contain shorter ones.
const MASKED_FROM: usize = 4;
/// Minimum length in bytes of a part of an address; shorter parts are taken as words, such as `services`.
const PART_FROM: usize = 12;
/// The characters that are not percent-encoded.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Replaces the secrets in a text by the mask; `was_cut` if the text was truncated.
pub(super) fn masked(text: String, secrets: &[&str], was_cut: bool) -> String {
    let mut forms: Vec<String> = secrets.iter().flat_map(|secret| with_parts(secret)).collect();
    forms.retain(|form| form.len() >= MASKED_FROM);
    // The longest first, because a shorter form may be part of a longer one.
    forms.sort_by_key(|form| (std::cmp::Reverse(form.len()), form.clone()));
    forms.dedup();
    let masked = forms.iter().fold(text, |text, form| text.replace(form, MASK));
    if was_cut { without_begun(masked, &forms) } else { masked }
}

/// Removes the start of a secret at the end of the text.
fn without_begun(text: String, forms: &[String]) -> String {
    let begun = |form: &String| {
        let lengths = (MASKED_FROM..form.len()).rev().filter(|length| form.is_char_boundary(*length));
        lengths.map(|length| &form[..length]).find(|begin| text.ends_with(begin)).map(str::len)
    };
    match forms.iter().filter_map(begun).max() {
        Some(length) => format!("{}{MASK}", &text[..text.len() - length]),
        None => text,
    }
}

fn with_parts(secret: &str) -> Vec<String> {
    let long = |part: &&str| part.len() >= PART_FROM;
    let parts: Vec<&str> = match secret.split_once("://") {
        Some((_, address)) => address.split(['/', '?', '&', '=', '#']).skip(1).filter(long).collect(),
        // The part after `Bearer`, or after the number of a bot.
        None => secret.split([' ', ':']).skip(1).filter(long).collect(),
    };
    let mut found = forms(secret);
    for part in parts {
        found.extend(forms(part));
        found.extend(forms(&percent_decode_str(part).decode_utf8_lossy()));
    }
    found
}

fn forms(secret: &str) -> Vec<String> {
    let json = serde_json::Value::from(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let hex = secret.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let encoded = |set| utf8_percent_encode(secret, set).to_string();
    let mut forms = vec![
        secret.to_owned(),
        json.replace('/', "\\/"),
        json,
        html.replace('"', "&quot;").replace('\'', "&#39;"),
        html.replace('"', "&#34;").replace('\'', "&#x27;"),
        html,
        encoded(NON_ALPHANUMERIC),
        encoded(UNRESERVED),
        encoded(UNRESERVED).replace("%20", "+"),
        hex.to_uppercase(),
        hex,
    ];
    forms.extend(forms.clone().iter().filter(|form| form.contains('%')).map(|form| lower_escapes(form)));
    forms.extend((0..3).flat_map(|before| in_base64(secret, before)));
    forms
}

/// Returns the text with `%2F` as `%2f`.
fn lower_escapes(text: &str) -> String {
    let mut left = 0;
    let lower = |c: char| {
        left = if c == '%' { 3_u8 } else { left.saturating_sub(1) };
        if left > 0 { c.to_ascii_lowercase() } else { c }
    };
    text.chars().map(lower).collect()
}

/// Returns the base64 characters (standard and URL-safe) that depend only on the secret, if `before` bytes of a group of
/// three precede the secret.
fn in_base64(secret: &str, before: usize) -> [String; 2] {
    let bytes = [vec![0; before], secret.as_bytes().to_vec()].concat();
    // The first and the last characters also contain bits of the neighbouring bytes.
    let from = (before * 8).div_ceil(6);
    let to = bytes.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
        .map(|text| text.get(from..to).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use rstest::rstest;

    use super::*;

    const SECRET: &str = "pa/ro<le>&\"7";
    const ADDRESS: &str = "https://hooks.example/services/T0/ab%2Fcd-0123456789?sig=x0123456789ab";

    #[rstest]
    #[case::as_it_is("bad token s3cret!", &["s3cret!"], "bad token •••")]
    #[case::twice("a:b s3cret! s3cret!", &["s3cret!", ":"], "a:b ••• •••")]
    #[case::none("all well", &[], "all well")]
    #[case::json("{\"key\": \"pa/ro<le>&\\\"7\"}", &[SECRET], "{\"key\": \"•••\"}")]
    #[case::json("pa\\/ro<le>&\\\"7", &[SECRET], "•••")]
    #[case::html("<b>pa/ro&lt;le&gt;&amp;&quot;7</b>", &[SECRET], "<b>•••</b>")]
    #[case::in_an_address("?k=pa%2Fro%3Cle%3E%26%227", &[SECRET], "?k=•••")]
    #[case::in_lower_case("?k=pa%2fro%3cle%3e%26%227", &[SECRET], "?k=•••")]
    #[case::hex("70612f726f3c6c653e262237", &[SECRET], "•••")]
    #[case::a_path("no such path: /services/T0/ab%2Fcd-0123456789", &[ADDRESS], "no such path: /services/T0/•••")]
    #[case::a_part("ab/cd-0123456789 is unknown", &[ADDRESS], "••• is unknown")]
    #[case::a_parameter("wrong sig x0123456789ab", &[ADDRESS], "wrong sig •••")]
    #[case::without_its_scheme("unknown: 0123456789abcdef", &["Bearer 0123456789abcdef"], "unknown: •••")]
    #[case::the_longest("a secret-word", &["secret", "secret-word"], "a •••")]
    fn a_secret_is_masked(#[case] text: &str, #[case] secrets: &[&str], #[case] shown: &str) {
        assert_eq!(masked(text.to_owned(), secrets, false), shown);
    }

    /// `Basic` and `AUTH PLAIN` put a name of any length before a password.
    #[rstest]
    #[case("a:")]
    #[case("ab:")]
    #[case("abc:")]
    #[case("")]
    fn a_secret_within_base64_is_masked(#[case] before: &str) {
        let repeated = STANDARD.encode(format!("{before}parole-of-mine"));
        let shown = masked(repeated.clone(), &["parole-of-mine"], false);
        assert!(shown.contains(MASK), "{repeated}");
        let left: String = shown.chars().filter(char::is_ascii_alphanumeric).collect();
        assert!(left.len() <= before.len() * 4 / 3 + 4, "{repeated} {shown}");
    }

    #[rstest]
    #[case("token: parole-of-m", true, "token: •••")]
    #[case("token: parole-of-m", false, "token: parole-of-m")]
    #[case("token: par", true, "token: par")]
    #[case("token: parole-of-mine", true, "token: •••")]
    fn a_truncated_text_does_not_end_with_part_of_a_secret(
        #[case] text: &str,
        #[case] was_cut: bool,
        #[case] shown: &str,
    ) {
        assert_eq!(masked(text.to_owned(), &["parole-of-mine"], was_cut), shown);
    }
}
