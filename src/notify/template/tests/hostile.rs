//! Templates that try to be expensive: the cost of each is bounded, in steps and bytes, for any facts.

use super::*;
use crate::notify::template::cursor::DEPTH_MAX;
use crate::notify::template::lexer::NAME_LENGTH;
use crate::notify::template::renderer::OUTPUT_BYTES_MAX;

/// Facts with longer lists and texts than any message has.
fn huge_facts() -> Map<String, Value> {
    let text = "\u{1}ß🚨\"".repeat(10_000);
    let service = json!({"name": "n".repeat(255), "tags": vec![json!("t"); 200]});
    let facts = json!({"text": text, "list": vec![service; 200], "count": 3});
    facts.as_object().unwrap().clone()
}

/// Returns the length of the output, or the problem.
fn fill(template: &str) -> Result<usize, TemplateProblem> {
    let filled = MessageTemplate::parse(template)
        .and_then(|template| template.render(&huge_facts(), &mut WorkMeter::default()));
    filled.map(|text| text.len()).map_err(|error| error.problem)
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[rstest]
#[case::brackets("(", "1", ")")]
#[case::minus_signs("- ", "1", "")]
#[case::negations("not ", "1", "")]
#[case::indices("list[", "0", "]")]
#[case::conditionals("1 if 1 else ", "1", "")]
#[case::arguments("0|default(", "1", ")")]
fn expression_nesting_is_limited(#[case] open: &str, #[case] inner: &str, #[case] close: &str) {
    let deep = |depth| format!("{{{{ {} }}}}", nested(open, inner, close, depth));
    assert!(MessageTemplate::parse(&deep(DEPTH_MAX - 1)).is_ok(), "{open}");
    for depth in [DEPTH_MAX, 1_000, 1_500] {
        assert_eq!(fill(&deep(depth)), Err(TemplateProblem::TooDeep(DEPTH_MAX)), "{open}");
    }
}

#[test]
fn block_nesting_is_limited() {
    let deep = |depth| nested("{% if 1 %}", "x", "{% endif %}", depth);
    assert_eq!(fill(&deep(DEPTH_MAX - 1)), Ok(1));
    assert_eq!(fill(&deep(900)), Err(TemplateProblem::TooDeep(DEPTH_MAX)));
    let opened = "{% if 1 %}".repeat(2_000);
    assert_eq!(fill(&opened), Err(TemplateProblem::TooDeep(DEPTH_MAX)));
    let loops = |depth| nested("{% for a in list %}", "", "{% endfor %}", depth);
    assert!(MessageTemplate::parse(&loops(3)).is_ok());
    assert_eq!(fill(&loops(4)), Err(TemplateProblem::LoopsTooDeep(3)));
    assert_eq!(fill(&"{% for a in list %}".repeat(1_000)), Err(TemplateProblem::LoopsTooDeep(3)));
}

/// Chains are as long as the template allows, and need no deep stack to be read, walked and dropped.
#[rstest]
#[case::sum("{{ 1", "+1", " }}")]
#[case::product("{{ 1", "*1", " }}")]
#[case::conjunction("{{ 1", " and 1", " }}")]
#[case::disjunction("{{ 0", " or 0", " }}")]
#[case::concatenation("{{ 1", "~1", " }}")]
#[case::filters("{{ 1", "|trim", " }}")]
#[case::indices("{{ (list", "[0]", ") is defined }}")]
#[case::branches("{% if 0 %}", "{% elif 0 %}", "{% endif %}")]
#[case::ifs("", "{% if 1 %}{% endif %}", "")]
#[case::outputs("", "{{1}}", "")]
#[case::comments("", "{##}", "")]
#[case::braces("", "{ ", "")]
#[case::blanks("{{", " ", "1}}")]
fn long_chains_are_rendered(#[case] head: &str, #[case] link: &str, #[case] tail: &str) {
    let count = (TEMPLATE_LENGTH - head.len() - tail.len()) / link.len();
    let template = format!("{head}{}{tail}", link.repeat(count));
    let filled = fill(&template);
    assert!(filled.is_ok(), "{link}: {filled:?}");
}

/// Work that grows faster than the template ends when the meter is used up.
#[rstest]
#[case::loops_inside_each_other(
    "{% for a in list %}{% for b in list %}{% for c in list %}{% endfor %}{% endfor %}{% endfor %}"
)]
#[case::comparisons(
    "{% for a in list %}{% for b in a.tags %}{% if text == text %}{% endif %}{% endfor %}{% endfor %}"
)]
#[case::orders(
    "{% for a in list %}{% for b in a.tags %}{% if text < text %}{% endif %}{% endfor %}{% endfor %}"
)]
#[case::json("{% for a in list %}{% for b in list %}{% if list|tojson %}{% endif %}{% endfor %}{% endfor %}")]
#[case::json_of_json("{{ text|tojson|tojson|tojson|tojson|tojson|tojson|tojson|tojson|tojson|tojson }}")]
#[case::joined("{% for a in list %}{% if text ~ text ~ text ~ text %}{% endif %}{% endfor %}")]
#[case::cut("{% for a in list %}{% if text|truncate(1) %}{% endif %}{% endfor %}")]
#[case::trimmed("{% for a in list %}{% if text|trim %}{% endif %}{% endfor %}")]
#[case::upper_and_lower("{% for a in list %}{% if text|upper|lower %}{% endif %}{% endfor %}")]
#[case::encoded("{{ text|urlencode|urlencode|urlencode|urlencode|urlencode|urlencode|urlencode }}")]
#[case::member_with_a_long_name("{% for a in list %}{% if a[text] is defined %}{% endif %}{% endfor %}")]
#[case::numbers(
    "{% for a in list %}{% for b in list %}{% if (1.5 ~ 1.5 ~ 1.5) %}{% endif %}{% endfor %}{% endfor %}"
)]
fn rendering_stops_at_the_work_limit(#[case] template: &str) {
    assert_eq!(fill(template), Err(TemplateProblem::TooMuchWork));
}

#[test]
fn the_length_of_the_output_is_limited() {
    let template = "{% for a in list %}{{ text|upper }}{% endfor %}";
    assert_eq!(fill(template), Err(TemplateProblem::OutputTooLong(OUTPUT_BYTES_MAX)));
    let template = format!("{{% for a in list %}}{}{{% endfor %}}", "🚨".repeat(1_000));
    assert_eq!(fill(&template), Err(TemplateProblem::OutputTooLong(OUTPUT_BYTES_MAX)));
}

#[test]
fn lengths_of_templates_are_limited() {
    let text = "ä".repeat(TEMPLATE_LENGTH);
    assert_eq!(fill(&text), Ok(2 * TEMPLATE_LENGTH));
    assert_eq!(fill(&format!("{text}x")), Err(TemplateProblem::TooLong(TEMPLATE_LENGTH)));
    let quoted = format!("{{{{ '{}' }}}}", "x".repeat(TEMPLATE_LENGTH - 8));
    assert_eq!(fill(&quoted), Ok(TEMPLATE_LENGTH - 8));
    let name = "n".repeat(NAME_LENGTH);
    assert_eq!(fill(&format!("{{{{ {name}|default(1) }}}}")), Ok(1));
    let too_long = fill(&format!("{{{{ {name}n|default(1) }}}}"));
    assert_eq!(too_long, Err(TemplateProblem::NameTooLong(NAME_LENGTH)));
    let digits = "9".repeat(TEMPLATE_LENGTH - 10);
    assert_eq!(fill(&format!("{{{{ {digits} }}}}")), Err(TemplateProblem::NumberTooLarge));
    assert_eq!(fill(&format!("{{{{ {digits}.5 }}}}")), Err(TemplateProblem::NumberTooLarge));
    assert_eq!(fill(&format!("{{{{ 0.{digits} }}}}")), Ok("1.0".len()));
}

/// Numbers that would not be finite are errors, so such a number is never shown or compared.
#[rstest]
#[case::infinite("*1000000000.0")]
#[case::not_a_number("*1000000000.0-1000000000.0")]
fn numbers_stay_finite(#[case] factor: &str) {
    let huge = "*1000000000.0".repeat(40);
    let expected = Err(TemplateProblem::NumberTooLarge);
    assert_eq!(fill(&format!("{{{{ 1{huge}{factor} }}}}")), expected);
}

/// Templates that crashed an earlier template engine; this language has none of their features.
#[rstest]
#[case::nested_lists(
    "{% set n=namespace(a=[]) %}{% for i in range(5000) %}{% set n.a=[n.a] %}{% endfor %}{{ n.a }}"
)]
#[case::shared_lists(
    "{% if organisation != 'Acme' %}{% set a=[[],[]] %}{% set a=[a,a] %}{% if a==a %}ok{% endif %}{% endif %}"
)]
#[case::macros("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")]
#[case::repetition("{% if 'x' * 1000000000 %}{% endif %}")]
#[case::ranges("{% for a in range(9999) %}{{ a }}{% endfor %}")]
#[case::recursion("{% for a in list recursive %}{{ loop(list) }}{% endfor %}")]
#[case::blocks("{% block a %}{{ self.a() }}{% endblock %}")]
#[case::dictionaries("{{ {'a': 1} }}")]
#[case::powers("{{ 9 ** 9 ** 9 }}")]
fn unbounded_features_are_not_in_the_language(#[case] template: &str) {
    assert!(fill(template).is_err(), "{template}");
}

/// No template takes more steps and bytes than the meter has, and the meter never runs below zero.
#[test]
fn several_templates_share_one_work_limit() {
    let template = MessageTemplate::parse("{% for a in list %}{{ a.name }}{% endfor %}").unwrap();
    let (facts, mut meter) = (huge_facts(), WorkMeter::default());
    let mut filled = 0;
    while template.render(&facts, &mut meter).is_ok() {
        filled += 1;
    }
    assert!((1..1_000).contains(&filled), "{filled}");
    assert!(meter.bytes() < 255 || meter.steps() == 0, "{meter:?}");
}
