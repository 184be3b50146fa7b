//! Random templates, of bytes and of words of the language. No template panics, each stays within its bounds, and filling
//! it again has the same result. `WATCHKEEPER_ENDURE=1` tries a thousand times as many. The runner prints failures with
//! their seed.

use proptest::prelude::*;

use super::*;
use crate::notify::template::renderer::OUTPUT_BYTES_MAX;

/// Words for random templates, valid and invalid.
static WORDS: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{{-",
    "-}}",
    "{%-",
    "-%}",
    "{#",
    "#}",
    "if",
    "elif",
    "else",
    "endif",
    "for",
    "in",
    "endfor",
    "and",
    "or",
    "not",
    "is",
    "defined",
    "none",
    "true",
    "false",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "~",
    "|",
    ".",
    ",",
    "(",
    ")",
    "[",
    "]",
    "tojson",
    "urlencode",
    "upper",
    "lower",
    "trim",
    "default",
    "truncate",
    "headline",
    "text",
    "severity",
    "count",
    "rate",
    "largest",
    "incident",
    "title",
    "services",
    "loop",
    "index",
    "s",
    "titel",
    "0",
    "1",
    "2.5",
    "'x'",
    "\"ß\\n\"",
    "\n",
    "🚨",
];

/// Whole pieces of templates, so that many random ones can be parsed.
static PIECES: &[&str] = &[
    "{{ headline|tojson }}",
    "{{ text|upper|truncate(count) }}",
    "{{ incident|tojson|tojson }}",
    "{{ incident.services[count - 1].name }}",
    "{{ titel|default(rate * 2) }}",
    "{{ largest - rate }}",
    "{{ count // 2 % 3 ~ severity }}",
    "{{ s.name|default('-') }}",
    "{{ loop.index|default(0) }}",
    "{% for s in incident.services %}",
    "{% for s in s.tags|default(nothing) %}",
    "{% endfor %}",
    "{% if s is defined and count > 2 %}",
    "{% if not loop is defined %}",
    "{% elif headline == text %}",
    "{% else %}",
    "{% endif %}",
    "{# comment #}",
    " text {",
    "🚨",
];

fn config() -> ProptestConfig {
    let endures = std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1");
    ProptestConfig { cases: if endures { 1_000_000 } else { 1_000 }, ..ProptestConfig::default() }
}

/// Parses and fills a template twice.
fn check_bounds(source: &str) {
    let Ok(template) = MessageTemplate::parse(source) else {
        assert_eq!(MessageTemplate::parse(source).unwrap_err(), MessageTemplate::parse(source).unwrap_err());
        return;
    };
    let facts = facts();
    let (mut meter, mut again) = (WorkMeter::default(), WorkMeter::default());
    let filled = template.render(&facts, &mut meter);
    assert_eq!(filled, template.render(&facts, &mut again));
    assert_eq!(meter, again);
    match filled {
        Ok(text) => assert!(text.len() <= OUTPUT_BYTES_MAX),
        Err(error) => {
            let line = source.split('\n').nth(error.line - 1);
            let line = line.unwrap_or_else(|| panic!("{error} of {source:?}"));
            assert!(error.column <= line.chars().count() + 1, "{error} of {source:?}");
        }
    }
}

fn joined(
    words: &'static [&'static str],
    most: usize,
    between: &'static str,
) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(words), 0..most)
        .prop_map(move |words| words.join(between))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_bytes_stay_within_the_bounds(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check_bounds(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_words_stay_within_the_bounds(source in joined(WORDS, 60, " ")) {
        check_bounds(&source);
    }

    #[test]
    fn random_expressions_stay_within_the_bounds(source in joined(&WORDS[17..], 12, " ")) {
        check_bounds(&format!("{{{{ {source} }}}}"));
        check_bounds(&format!("{{% for s in incident.services %}}{{{{ {source} }}}}{{% endfor %}}"));
    }

    #[test]
    fn random_pieces_stay_within_the_bounds(source in joined(PIECES, 30, "")) {
        check_bounds(&source);
    }
}
