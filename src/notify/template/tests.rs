//! Tables of templates with their output, and of invalid templates with their error. The costs of hostile templates are
//! tested in `hostile`, random templates in `random`.

mod hostile;
mod random;

use rstest::rstest;
use serde_json::{Map, Value, json};

use super::*;

/// Facts of all shapes.
fn facts() -> Map<String, Value> {
    let facts = json!({
        "headline": "Shop is \"down\" <b>", "text": "  Größe\nändern  ", "empty": "", "severity": null, "count": 3, "rate": 2.5,
        "is_open": true, "is_over": false, "largest": i64::MAX, "smallest": i64::MIN, "beyond": u64::MAX, "nothing": [],
        "incident": {"title": "Payments", "services": [
            {"name": "A", "tags": ["x", "y"]}, {"name": "B", "tags": []}, {"name": "C", "tags": ["z"]},
        ]},
    });
    facts.as_object().unwrap().clone()
}

fn render(template: &str) -> Result<String, TemplateError> {
    MessageTemplate::parse(template)?.render(&facts(), &mut WorkMeter::default())
}

fn check_output(template: &str, expected: &str) {
    assert_eq!(render(template).as_deref(), Ok(expected), "{template}");
}

fn check_error(template: &str, expected: &str) {
    assert_eq!(render(template).map_err(|error| error.to_string()).unwrap_err(), expected, "{template}");
}

#[rstest]
#[case::plain("nothing but { text } %} }}", "nothing but { text } %} }}")]
#[case::nothing("", "")]
#[case::number("{{ count }} {{ rate }}", "3 2.5")]
#[case::none("{{ severity }}", "none")]
#[case::boolean("{{ is_open }} {{ false }}", "true false")]
#[case::list("{{ incident.services[0].tags }}", r#"["x","y"]"#)]
#[case::unicode("ä{{ text|trim }}🚨", "äGröße\nändern🚨")]
#[case::comment("a{# {{ nothing_here }} {% if %} #}b{##}c", "abc")]
#[case::trimmed("a  {{- count -}}  b", "a3b")]
#[case::trimmed_tags("a \n {%- if count -%} \n b \n {%- endif -%} \n c", "abc")]
#[case::trimmed_comment("a  {#- x -#}  b", "ab")]
#[case::minus_that_is_no_trim("{{ 1 -1 }} {{- 2 }}", "02")]
#[case::escapes(r#"{{ "a\"b\\c\n'" }}{{ 'it\'s' }}"#, "a\"b\\c\n'it's")]
#[case::braces_in_quotes("{{ '}}' }}{{ \"%}\" }}{{ '{{' }}", "}}%}{{")]
fn text_and_values_are_written(#[case] template: &str, #[case] expected: &str) {
    check_output(template, expected);
}

#[rstest]
#[case::member("{{ incident.title }}", "Payments")]
#[case::member_in_quotes("{{ incident['title'] }}", "Payments")]
#[case::computed_member("{{ incident['ti' ~ 'tle'] }}", "Payments")]
#[case::index("{{ incident.services[1].name }}", "B")]
#[case::index_from_the_end("{{ incident.services[-1].name }}", "C")]
#[case::computed_index("{{ incident.services[count - 1]['name'] }}", "C")]
#[case::of_brackets("{{ (severity or incident).title }}", "Payments")]
fn members_are_found(#[case] template: &str, #[case] expected: &str) {
    check_output(template, expected);
}

#[rstest]
#[case("{{ 1 + 2 * 3 - 4 }}", "3")]
#[case("{{ (1 + 2) * 3 }}", "9")]
#[case("{{ 7 / 2 }} {{ 8 / 2 }}", "3.5 4.0")]
#[case("{{ 7 // 2 }} {{ -7 // 2 }} {{ 7.5 // 2 }}", "3 -4 3.0")]
#[case("{{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 % 2 }} {{ -7.5 % 2 }}", "1 2 -2 1.5 0.5")]
#[case("{{ rate * 2 }} {{ rate + count }}", "5.0 5.5")]
#[case("{{ -count }} {{ --count }} {{ - rate }}", "-3 3 -2.5")]
#[case("{{ 1 ~ 2 ~ 'x' ~ none }}", "12xnone")]
#[case("{{ 1 ~ 2 + 3 }}", "")]
#[case("{{ largest }} {{ smallest }}", "9223372036854775807 -9223372036854775808")]
fn arithmetic_follows_the_usual_rules(#[case] template: &str, #[case] expected: &str) {
    if expected.is_empty() {
        // As in Jinja, `~` binds closer than `+`: a text and a number.
        check_error(template, "line 1, column 10: arithmetic takes numbers (~ joins texts), found a text");
    } else {
        check_output(template, expected);
    }
}

#[rstest]
#[case("count == 3 and count == 3.0", true)]
#[case("count != 3 or 'a' == 1 or none == false or 1 == true", false)]
#[case("1 < 2 and 2 <= 2 and 3 > 2.5 and 3 >= 3", true)]
#[case("'a' < 'b' and 'B' < 'a' and 'a' <= 'a'", true)]
#[case("not 1 == 2", true)]
#[case("not not severity", false)]
#[case("severity or empty or nothing or 0 or 0.0 or false or none", false)]
#[case("incident and headline and is_open and rate", true)]
#[case("1 or nothing_of_this_is_read[0]", true)]
#[case("0 and nothing_of_this_is_read", false)]
#[case("incident == none or none == incident.services", false)]
#[case("titel is defined or incident.titel is defined or severity.x[0] is defined", false)]
#[case("headline is defined and titel is undefined and titel is not defined", true)]
#[case("severity is none and headline is not none", true)]
#[case("count|upper == '3'", true)]
#[case("largest > 9223372036854775806 and beyond > largest", true)]
fn conditions_hold_or_not(#[case] condition: &str, #[case] holds: bool) {
    check_output(
        &format!("{{% if {condition} %}}yes{{% else %}}no{{% endif %}}"),
        if holds { "yes" } else { "no" },
    );
    check_output(&format!("{{{{ 'yes' if {condition} else 'no' }}}}"), if holds { "yes" } else { "no" });
}

#[rstest]
#[case::first_branch("{% if count %}a{% elif count %}b{% else %}c{% endif %}", "a")]
#[case::second_branch("{% if 0 %}a{% elif count %}b{% else %}c{% endif %}", "b")]
#[case::last_branch("{% if 0 %}a{% elif 0 %}b{% elif 0 %}c{% else %}d{% endif %}", "d")]
#[case::no_branch("{% if 0 %}a{% endif %}", "")]
#[case::loop_over_a_list(
    "{% for s in incident.services %}{{ loop.index }}{{ s.name }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "1A, 2B, 3C"
)]
#[case::loop_state(
    "{% for s in incident.services %}{{ loop.index0 }}{{ loop.first }}{{ loop.length }} {% endfor %}",
    "0true3 1false3 2false3 "
)]
#[case::loops_inside_each_other(
    "{% for s in incident.services %}{% for s in s.tags %}{{ s }}{{ loop.index }}{% else %}-{% endfor %}{{ s.name }}{{ loop.index }} {% endfor %}",
    "x1y2A1 -B2 z1C3 "
)]
#[case::loop_over_nothing("{% for s in nothing %}{{ s }}{% else %}nothing{% endfor %}", "nothing")]
#[case::name_of_a_fact("{% for count in incident.services %}{{ count.name }}{% endfor %}{{ count }}", "ABC3")]
fn blocks_choose_and_repeat(#[case] template: &str, #[case] expected: &str) {
    check_output(template, expected);
}

#[rstest]
#[case::text_as_json(r"{{ headline|tojson }}", r#""Shop is \"down\" <b>""#)]
#[case::null_as_json("{{ severity|tojson }} {{ rate|tojson }} {{ is_open|tojson }}", "null 2.5 true")]
#[case::object_as_json("{{ incident.services[1]|tojson }}", r#"{"name":"B","tags":[]}"#)]
#[case::address(
    "{{ headline|urlencode }}{{ 'ä&=+/-._~'|urlencode }}",
    "Shop%20is%20%22down%22%20%3Cb%3E%C3%A4%26%3D%2B/-._~"
)]
#[case::case("{{ 'größe ß'|upper }} {{ 'GRÖSSE'|lower }} {{ severity|upper }}", "GRÖSSE SS grösse NONE")]
#[case::trim("[{{ text|trim }}]", "[Größe\nändern]")]
#[case::chain("{{ text|trim|upper|truncate(5)|tojson }}", "\"GRÖS…\"")]
#[case::truncate("{{ 'äöü'|truncate(3) }} {{ 'äöü'|truncate(2) }} [{{ 'äöü'|truncate(0) }}]", "äöü ä… []")]
#[case::default(
    "{{ titel|default('-') }}{{ incident.x.y[9]|default('-') }}{{ severity|default('-') }}",
    "---"
)]
#[case::default_that_is_not_needed("{{ count|default('-') }}[{{ empty|default('-') }}]", "3[]")]
#[case::default_for_empty_values("{{ empty|default('-', true) }}{{ is_over|default('-', true) }}", "--")]
#[case::default_of_a_default("{{ titel|default(severity)|default(title|default('x'))|upper }}", "X")]
fn filters_change_values(#[case] template: &str, #[case] expected: &str) {
    check_output(template, expected);
}

#[rstest]
#[case("{{", "line 1, column 1: this `{{` has no end; expected `}}`")]
#[case("a\nbä {{ headline", "line 2, column 4: this `{{` has no end; expected `}}`")]
#[case("{% if count", "line 1, column 1: this `{%` has no end; expected `%}`")]
#[case("x{# {{ count }}", "line 1, column 2: this comment has no end; expected `#}`")]
#[case("{{ 'abc }}", "line 1, column 4: this text has no end; expected the same quote")]
#[case(r"{{ 'abc\", "line 1, column 4: this text has no end; expected the same quote")]
#[case(r"{{ 'ab\qc' }}", r#"line 1, column 7: found `\q`, expected one of the escapes \n \t \r \\ \" \'"#)]
#[case("{% if count %}x", "line 1, column 1: this `if` has no end; expected `{% endif %}`")]
#[case(
    "{% for a in nothing %}{% if a %}{% endfor %}",
    "line 1, column 36: found `endfor`, expected one of the tags if, for, elif, else, endif"
)]
#[case(
    "{% for a in nothing %}{% else %}",
    "line 1, column 1: this `for` has no end; expected `{% endfor %}`"
)]
#[case(
    "{% if 1 %}{% else %}{% else %}{% endif %}",
    "line 1, column 24: found `else`, expected one of the tags if, for, endif"
)]
#[case("{% endif %}", "line 1, column 4: found `endif`, expected one of the tags if, for")]
#[case("{% set a = 1 %}", "line 1, column 4: found `set`, expected one of the tags if, for")]
#[case("{% include 'x' %}", "line 1, column 4: found `include`, expected one of the tags if, for")]
#[case("{% 1 %}", "line 1, column 4: found a number, expected one of the tags if, for")]
#[case(
    "{% if %}",
    "line 1, column 7: found `%}`, expected a value: a name, a number, a text in quotes or an expression in brackets"
)]
#[case(
    "{{ }}",
    "line 1, column 4: found `}}`, expected a value: a name, a number, a text in quotes or an expression in brackets"
)]
#[case(
    "{{ [1] }}",
    "line 1, column 4: found `[`, expected a value: a name, a number, a text in quotes or an expression in brackets"
)]
#[case("{{ {} }}", "line 1, column 4: found `{`, expected a name, a number, a text in quotes or an operator")]
#[case(
    "{{ a = 1 }}",
    "line 1, column 6: found `=`, expected a name, a number, a text in quotes or an operator"
)]
#[case(
    "{{ größe }}",
    "line 1, column 6: found `ö`, expected a name, a number, a text in quotes or an operator"
)]
#[case("{{ headline.upper() }}", "line 1, column 18: found `(`, expected `}}`, a filter or an operator")]
#[case("{{ range(9) }}", "line 1, column 9: found `(`, expected `}}`, a filter or an operator")]
#[case("{{ (count }}", "line 1, column 11: found `}}`, expected `)` or an operator")]
#[case("{{ incident[0 }}", "line 1, column 15: found `}}`, expected `]`")]
#[case("{{ incident. }}", "line 1, column 14: found `}}`, expected the name of a member after `.`")]
#[case("{{ 1 < 2 < 3 }}", "line 1, column 10: found `<`, expected `and` between two comparisons")]
#[case(
    "{{ 1 if count }}",
    "line 1, column 15: found `}}`, expected `else` with the value if the condition does not hold"
)]
#[case(
    "{{ count is odd }}",
    "line 1, column 13: found `odd`, expected `defined`, `undefined` or `none` after `is`"
)]
#[case(
    "{{ headline|shout }}",
    "line 1, column 13: found `shout`, expected one of the filters tojson, urlencode, upper, lower, trim, default, truncate"
)]
#[case(
    "{{ headline|upper(1) }}",
    "line 1, column 13: found one argument, expected no arguments for this filter"
)]
#[case(
    "{{ headline|default }}",
    "line 1, column 13: found no arguments, expected one or two arguments for default"
)]
#[case(
    "{{ headline|truncate(1 2) }}",
    "line 1, column 24: found a number, expected `,` or `)` after an argument"
)]
#[case(
    "{% for loop in nothing %}{% endfor %}",
    "line 1, column 8: found `loop`, expected a name for each entry of the list"
)]
#[case("{% for a of nothing %}{% endfor %}", "line 1, column 10: found `of`, expected `in` and a list")]
#[case("{% if 1 %}{% endif x %}", "line 1, column 20: found `x`, expected `%}`")]
#[case(
    "{{ and }}",
    "line 1, column 4: found `and`, expected a value: a name, a number, a text in quotes or an expression in brackets"
)]
fn a_syntax_error_names_its_position(#[case] template: &str, #[case] expected: &str) {
    check_error(template, expected);
}

const DEFAULT: &str = "use the filter default if it may be missing";

#[rstest]
#[case("{{ titel }}", &format!("line 1, column 4: there is no `titel`; {DEFAULT}"))]
#[case("{{ incident.titel }}", &format!("line 1, column 13: there is no `titel` in an object; {DEFAULT}"))]
#[case("{{ severity.x }}", &format!("line 1, column 13: there is no `x` in none; {DEFAULT}"))]
#[case("{{ nothing[0] }}", &format!("line 1, column 11: there is no entry 0 in a list; {DEFAULT}"))]
#[case("{{ loop.index }}", &format!("line 1, column 4: there is no `loop`; {DEFAULT}"))]
#[case("{{ titel|upper|default('x') }}", &format!("line 1, column 4: there is no `titel`; {DEFAULT}"))]
#[case("{% if titel %}{% endif %}", &format!("line 1, column 7: there is no `titel`; {DEFAULT}"))]
#[case("{{ nothing[1.5] }}", "line 1, column 11: [ ] takes a whole number or a text, found a number")]
#[case("{{ count\n/ (3 - count) }}", "line 2, column 1: division by zero")]
#[case("{{ 1 // 0 }}", "line 1, column 6: division by zero")]
#[case("{{ 1 % 0.0 }}", "line 1, column 6: division by zero")]
#[case("{{ largest + 1 }}", "line 1, column 12: the number is too large")]
#[case("{{ smallest // -1 }}", "line 1, column 13: the number is too large")]
#[case("{{ -smallest }}", "line 1, column 4: the number is too large")]
#[case("{{ 9223372036854775808 }}", "line 1, column 4: the number is too large")]
#[case("{{ 'a' * 9 }}", "line 1, column 8: arithmetic takes numbers (~ joins texts), found a text")]
#[case(
    "{{ incident.services * 9 }}",
    "line 1, column 22: arithmetic takes numbers (~ joins texts), found a list"
)]
#[case("{{ -headline }}", "line 1, column 4: arithmetic takes numbers (~ joins texts), found a text")]
#[case("{{ 1 < 'a' }}", "line 1, column 6: an order takes two numbers or two texts, found a text")]
#[case("{{ none < none }}", "line 1, column 9: an order takes two numbers or two texts, found none")]
#[case(
    "{{ incident == incident }}",
    "line 1, column 13: a comparison takes numbers, texts, true, false and none, found an object"
)]
#[case(
    "{{ nothing == nothing }}",
    "line 1, column 12: a comparison takes numbers, texts, true, false and none, found a list"
)]
#[case("{% for a in headline %}{% endfor %}", "line 1, column 13: for takes a list, found a text")]
#[case("{% for a in severity %}{% endfor %}", "line 1, column 13: for takes a list, found none")]
#[case(
    "{% for a in incident.services %}{{ loop }}{% endfor %}",
    "line 1, column 36: writing takes a value of the message, found loop"
)]
#[case(
    "{{ headline|truncate('1') }}",
    "line 1, column 13: truncate takes a whole number of characters from 0, found a text"
)]
#[case(
    "{{ headline|truncate(-1) }}",
    "line 1, column 13: truncate takes a whole number of characters from 0, found a number"
)]
fn a_rendering_error_names_its_position(#[case] template: &str, #[case] expected: &str) {
    check_error(template, expected);
}
