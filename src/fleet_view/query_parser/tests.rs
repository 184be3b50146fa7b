//! Tests of the query language: a row a case, and queries that are written and read back.

use rstest::rstest;

use super::*;

fn remarks(text: &str) -> Vec<(String, QueryProblem)> {
    parse(text).remarks.into_iter().map(|remark| (remark.part, remark.problem)).collect()
}

/// Columns: a query as it is typed, and its canonical form. None of these has a remark.
#[rstest]
#[case::nothing("", "")]
#[case::white_space("  \t\n ", "")]
#[case::statuses("status:down,degraded", "status:down,degraded")]
#[case::capitals("STATUS:Down", "status:down")]
#[case::repeated_values("status:down,down,", "status:down")]
#[case::repeated_filters("status:down status:down", "status:down")]
#[case::operational("status:operational,up", "status:operational,up")]
#[case::tag("tag:env:prod", "tag:env:prod")]
#[case::tag_with_equals_sign("tag:Env=Prod", "tag:env:Prod")]
#[case::tag_key("tag:test", "tag:test")]
#[case::tags("tag:env:prod,team", "tag:env:prod,team")]
#[case::tag_with_space(r#"tag:"team:night shift""#, r#"tag:"team:night shift""#)]
#[case::half_quoted(r#"tag:team:"night shift""#, r#"tag:"team:night shift""#)]
#[case::tag_with_comma(r#"tag:"at:a,b",x"#, r#"tag:"at:a,b",x"#)]
#[case::not("-tag:test", "-tag:test")]
#[case::types("type:http,icmp", "type:http,icmp")]
#[case::location("in:FRA,nyc", "in:fra,nyc")]
#[case::name("name~checkout", "name~checkout")]
#[case::target("target~example.com:8080", "target~example.com:8080")]
#[case::longer("since>10m", "since>10m")]
#[case::shorter("since<90s", "since<90s")]
#[case::longest_unit("since>120m", "since>2h")]
#[case::days("since>14d", "since>2w")]
#[case::uptime("uptime<99.90% uptime>5.0625", "uptime<99.9 uptime>5.0625")]
#[case::whole_uptime("uptime<100 uptime>0", "uptime<100 uptime>0")]
#[case::marks("is:flapping,paused -is:maintenance", "is:flapping,paused -is:maintenance")]
#[case::acknowledged("is:acknowledged is:unwatched", "is:acknowledged is:unwatched")]
#[case::incident("has:incident", "has:incident")]
#[case::sort("sort:-since", "sort:-since")]
#[case::default_sort("sort:status", "")]
#[case::last_sort_counts("sort:name sort:-name", "sort:-name")]
#[case::group("group:tag:Team", "group:tag:team")]
#[case::words("check out", "check out")]
#[case::phrase(r#""check out""#, r#""check out""#)]
#[case::not_word("-canary", "-canary")]
#[case::quoted_minus(r#""-canary""#, r#""-canary""#)]
#[case::quoted_key(r#""status:down""#, r#""status:down""#)]
#[case::minus("-", r#""-""#)]
#[case::url("https://example.com/a", r#""https://example.com/a""#)]
#[case::open_quote(r#""check out"#, r#""check out""#)]
#[case::escapes(r#""a\"b\\c""#, r#""a\"b\\c""#)]
#[case::order_of_parts("sort:name x group:tag:team status:down", "x status:down sort:name group:tag:team")]
#[case::everything(
    "status:down,degraded tag:env:prod type:http in:fra name~checkout since>10m is:flapping is:paused has:incident \
     -tag:test sort:-since group:tag:team",
    "status:down,degraded tag:env:prod type:http in:fra name~checkout since>10m is:flapping is:paused has:incident \
     -tag:test sort:-since group:tag:team"
)]
fn a_query_has_one_canonical_form(#[case] text: &str, #[case] canonical: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.remarks, []);
    assert_eq!(parsed.query.to_string(), canonical);
    assert_eq!(parse(canonical), parsed);
}

/// Columns: a query as it is typed, its canonical form, and the part that was not understood.
#[rstest]
#[case("colour:red", r#""colour:red""#, "colour:red", QueryProblem::UnknownKey)]
#[case("p95>500ms", r#""p95>500ms""#, "p95>500ms", QueryProblem::UnknownKey)]
#[case("uptime<100.1", "uptime<100.1", "100.1", QueryProblem::UnknownValue(&[]))]
#[case("uptime<99.99999", "uptime<99.99999", "99.99999", QueryProblem::UnknownValue(&[]))]
#[case("uptime>.5", "uptime>.5", ".5", QueryProblem::UnknownValue(&[]))]
#[case("uptime:99", r#""uptime:99""#, "uptime:99", QueryProblem::UnknownKey)]
#[case("-colour:red", r#"-"colour:red""#, "-colour:red", QueryProblem::UnknownKey)]
#[case("-sort:name", r#"-"sort:name""#, "-sort:name", QueryProblem::UnknownKey)]
#[case("name:shop", r#""name:shop""#, "name:shop", QueryProblem::UnknownKey)]
#[case("status~up", r#""status~up""#, "status~up", QueryProblem::UnknownKey)]
#[case("status:broken", "status:broken", "broken", QueryProblem::UnknownValue(ServiceStatus::WORDS))]
#[case("status:broken,down", "status:down", "broken", QueryProblem::UnknownValue(ServiceStatus::WORDS))]
#[case("-status:Broken", "-status:Broken", "Broken", QueryProblem::UnknownValue(ServiceStatus::WORDS))]
#[case("down", "down", "down", QueryProblem::StatusWord)]
#[case("type:ftp", "type:ftp", "ftp", QueryProblem::UnknownValue(CheckType::WORDS))]
#[case("is:hidden", "is:hidden", "hidden", QueryProblem::UnknownValue(ServiceMark::WORDS))]
#[case("has:money", "has:money", "money", QueryProblem::UnknownValue(&["incident"]))]
#[case("tag:ä:b", "tag:ä:b", "ä:b", QueryProblem::UnknownValue(&[]))]
#[case("since>10", "since>10", "10", QueryProblem::UnknownValue(&[]))]
#[case("since>m", "since>m", "m", QueryProblem::UnknownValue(&[]))]
#[case("since>+1m", "since>+1m", "+1m", QueryProblem::UnknownValue(&[]))]
#[case("since>9999999999999999w", "since>9999999999999999w", "9999999999999999w", QueryProblem::UnknownValue(&[]))]
#[case("sort:colour", "", "colour", QueryProblem::UnknownValue(SortField::WORDS))]
#[case("sort:name sort:colour", "sort:name", "colour", QueryProblem::UnknownValue(SortField::WORDS))]
#[case("group:team", "", "team", QueryProblem::UnknownValue(&[]))]
#[case("status:", "", "status:", QueryProblem::MissingValue)]
#[case(r#"name~"" x"#, "x", "name~", QueryProblem::MissingValue)]
fn what_is_not_understood_is_remarked(
    #[case] text: &str,
    #[case] canonical: &str,
    #[case] part: &str,
    #[case] problem: QueryProblem,
) {
    assert_eq!(parse(text).query.to_string(), canonical);
    assert_eq!(remarks(text), [(part.to_owned(), problem)]);
}

#[test]
fn a_query_is_limited_in_length_and_filters() {
    let long = "x".repeat(QUERY_MAX_LENGTH) + " status:down";
    assert_eq!(parse(&long).query.to_string(), "x".repeat(QUERY_MAX_LENGTH));
    assert_eq!(remarks(&long), [("status:down".to_owned(), QueryProblem::TooLong)]);
    let many: Vec<String> = (0..=FILTERS_MAX).map(|number| format!("w{number}")).collect();
    let parsed = parse(&many.join(" "));
    assert_eq!(parsed.query.filters.len(), FILTERS_MAX);
    assert_eq!(remarks(&many.join(" ")), [(format!("w{FILTERS_MAX}"), QueryProblem::TooLong)]);
}

proptest::proptest! {
    /// Any text is read, and its canonical form is read to the same query; remarks are only about what was kept as it is.
    #[test]
    fn a_canonical_query_is_read_back(text in "[a-z \"\\\\:,~<>10m-]{0,60}|(status|tag|since|is|name|uptime)[:~<>].{0,20}") {
        let query = parse(&text).query;
        let again = parse(&query.to_string());
        proptest::prop_assert_eq!(&again.query, &query, "{}", query.to_string());
        let is_kept = |problem| matches!(problem, QueryProblem::UnknownValue(_) | QueryProblem::StatusWord);
        proptest::prop_assert!(again.remarks.iter().all(|remark| is_kept(remark.problem)), "{:?}", again.remarks);
    }
}
