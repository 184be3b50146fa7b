//! Tests of a whole view: 100,000 services, compared with an evaluation that does the obvious.

mod naive;
mod sample;

use rstest::rstest;

use super::*;
use crate::fleet_view::fleet_facts::{IncidentPresence, MeasuredState};
use crate::fleet_view::list_by_age::{AgeListQuery, KeyPage};
use crate::fleet_view::query_parser::parse;
use crate::id::Id;
use crate::model::service::ServiceStatus;
use crate::model::service_outline::ServiceOutline;
use crate::model::verdict::Verdict;
use naive::NaiveFleet;
use sample::{SampleNumbers, sample_fleet, sample_view};

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);
const MANY: usize = 100_000;
/// Maximum number of bytes for each service.
const BYTES_MAX: usize = 200;

fn first(limit: usize) -> FleetPaging {
    FleetPaging { after: None, limit }
}

/// The keys of all pages, one after the other.
fn all_pages(view: &FleetView, query: &FleetQuery, visible: &VisibleTags, limit: usize) -> Vec<ServiceKey> {
    let (mut found, mut paging) = (Vec::new(), first(limit));
    loop {
        let page = view.search(query, visible, &paging, NOW);
        assert!(page.rows.len() <= limit);
        found.extend(page.rows.iter().map(|row| row.key));
        let Some(next) = page.next else { return found };
        // As it is written into the address of the next page.
        paging.after = Some(next.to_string().parse().unwrap());
    }
}

#[test]
fn a_hundred_thousand_services_are_found_as_by_a_naive_evaluation() {
    let mut numbers = SampleNumbers::seeded(7);
    let fleet = sample_fleet(&mut numbers, MANY);
    let view = sample_view(&fleet);
    require_few_bytes(&view);
    let naive = NaiveFleet::of(&fleet);
    for round in 0..25 {
        let text = numbers.query();
        let query = parse(&text).query;
        let visible = numbers.visible();
        let expected = naive.search(&query, &visible, NOW);
        let page = view.search(&query, &visible, &first(100), NOW);
        let keys: Vec<ServiceKey> = page.rows.iter().map(|row| row.key).collect();
        assert_eq!(page.total, expected.len(), "round {round}: {text}");
        assert_eq!(keys, expected[..expected.len().min(100)], "round {round}: {text}");
        assert_eq!(page.facets, naive.facets(&expected), "round {round}: {text}");
        assert_eq!(page.next.is_some(), expected.len() > 100, "round {round}: {text}");
        let groups = view.groups(&query, &visible, "team", NOW);
        assert_eq!(groups, naive.groups(&expected, "team"), "round {round}: {text}");
    }
    assert_eq!(view.totals(&VisibleTags::ALL).all(), MANY);
    for facts in fleet.services.iter().take(1_000) {
        let key = facts.outline.key + i64::try_from(MANY).unwrap();
        let outline = ServiceOutline { key, id: Id::random(), ..facts.outline.clone() };
        let name = format!("renamed {}", facts.outline.name);
        let renamed = ServiceOutline { name, ..facts.outline.clone() };
        view.change(|contents| {
            contents.columns.put(&FleetFacts { outline, ..facts.clone() });
            contents.columns.put(&FleetFacts { outline: renamed, ..facts.clone() });
        });
    }
    assert_eq!(view.len(), MANY + 1_000);
    require_few_bytes(&view);
}

fn require_few_bytes(view: &FleetView) {
    assert!(view.bytes() <= BYTES_MAX * view.len(), "{} bytes for each service", view.bytes() / view.len());
}

#[test]
fn random_changes_and_queries_agree_with_a_naive_evaluation() {
    let mut numbers = SampleNumbers::seeded(11);
    let mut fleet = sample_fleet(&mut numbers, 300);
    let view = sample_view(&fleet);
    for round in 0..300 {
        numbers.change_some(&mut fleet, &view);
        let naive = NaiveFleet::of(&fleet);
        let text = numbers.query();
        let (query, visible) = (parse(&text).query, numbers.visible());
        let expected = naive.search(&query, &visible, NOW);
        assert_eq!(all_pages(&view, &query, &visible, 7), expected, "round {round}: {text}");
        let page = view.search(&query, &visible, &first(1_000), NOW);
        let shown: Vec<FleetRow> = expected.iter().map(|key| naive.row(*key)).collect();
        assert_eq!(page.rows, shown, "round {round}: {text}");
        assert_eq!(view.rows(&expected, &visible), shown);
    }
}

#[test]
fn lists_by_age_agree_with_a_naive_evaluation() {
    let mut numbers = SampleNumbers::seeded(13);
    let mut fleet = sample_fleet(&mut numbers, 300);
    let view = sample_view(&fleet);
    for round in 0..400 {
        numbers.change_some(&mut fleet, &view);
        for FleetFacts { outline, measured, .. } in &mut fleet.services {
            measured.is_answered = true;
            view.change(|contents| contents.columns.set_measured(outline.key, *measured));
        }
        let (query, visible) = (numbers.age_query(), numbers.visible());
        let expected = NaiveFleet::of(&fleet).list(&query, &visible);
        let page = view.list_by_age(&query, &visible, 3, 7).unwrap();
        let keys: Vec<ServiceKey> = expected.iter().skip(3).take(7).copied().collect();
        assert_eq!(page, KeyPage { keys, total: expected.len() }, "round {round}: {query:?}");
    }
}

/// Columns: whether a status is wanted, whether the owner of the only service with tag `env:prod` answers, and whether the list
/// is returned.
#[rstest]
#[case::no_status(false, false, true)]
#[case::answered(true, true, true)]
#[case::not_answered(true, false, false)]
fn a_status_is_only_compared_if_it_is_known(
    #[case] wants_status: bool,
    #[case] is_answered: bool,
    #[case] is_returned: bool,
) {
    let view = sample_view(&sample::lettered_fleet(NOW));
    let all = AgeListQuery { text: Some("service-a".into()), ..AgeListQuery::default() };
    let statuses = if wants_status { vec![ServiceStatus::Up] } else { Vec::new() };
    let keys = |text: &str| view.called(&[text], &VisibleTags::ALL).iter().map(|row| row.key).collect();
    let [found, other]: [Vec<ServiceKey>; 2] = ["service-a", "service-b"].map(keys);
    let measured = MeasuredState { verdict: Verdict::Up, is_answered, ..MeasuredState::default() };
    view.change(|contents| contents.columns.set_measured(found[0], measured));
    // The status of a service that the other filters leave out does not count.
    view.change(|contents| contents.columns.set_measured(other[0], MeasuredState::default()));
    let page = view.list_by_age(&AgeListQuery { statuses, ..all }, &VisibleTags::ALL, 0, 9);
    assert_eq!(page.is_ok(), is_returned);
    assert!(page.is_err() || page.unwrap().keys == found);
}

/// Columns: a query, and the services that it finds among `a` to `h`, in order.
#[rstest]
#[case::wrong_first("", "bcdhaefg")]
#[case::up_finds_operational("status:up", "aef")]
#[case::operational("status:operational", "f")]
#[case::statuses("status:down,degraded", "bc")]
#[case::negated("-status:up,down", "cdhg")]
#[case::tag("tag:env:prod", "bca")]
#[case::key_alone_is_the_tag_without_value("tag:env", "d")]
#[case::value_with_case("tag:env:Prod", "")]
#[case::one_of_two_tags("tag:env:prod,env", "bcda")]
#[case::two_tags("tag:env:prod tag:team:shop", "b")]
#[case::not_tagged("-tag:env:prod", "dhefg")]
#[case::unknown_tag("tag:none", "")]
#[case::not_unknown_tag("-tag:none", "bcdhaefg")]
#[case::check_type("type:tcp,manual", "cf")]
#[case::everywhere_and_assigned("in:fra", "bdhaeg")]
#[case::assigned("in:nyc", "bcdhaeg")]
#[case::unknown_location("in:xxx", "")]
#[case::word_in_name("SERVICE-B", "b")]
#[case::word_in_target("a.example", "a")]
#[case::name_only("name~example", "")]
#[case::target_only("target~example", "bcdhaeg")]
#[case::two_words("service example", "bcdhaeg")]
#[case::not_in_text("-service-a -service-b", "cdhefg")]
#[case::longer("since>5m", "dhg")]
#[case::shorter("since<5m", "bc")]
#[case::low_uptime("uptime<99.91", "b")]
#[case::high_uptime("uptime>99.9", "a")]
#[case::paused("is:paused", "g")]
#[case::maintenance("is:maintenance", "h")]
#[case::silenced("is:silenced", "h")]
#[case::flapping("is:flapping", "c")]
#[case::incident("has:incident", "bc")]
#[case::acknowledged("is:acknowledged", "c")]
#[case::no_incident("-has:incident status:down,degraded", "")]
#[case::by_name("sort:name", "abcdefgh")]
#[case::by_name_backwards("sort:-name", "hgfedcba")]
#[case::shortest_first("sort:since", "bcdghaef")]
#[case::longest_first("sort:-since", "hgdcbaef")]
#[case::best_first("sort:-status", "gaefhdcb")]
#[case::everything(
    "status:down tag:env:prod type:http in:fra name~service since>1m has:incident -tag:test",
    "b"
)]
fn each_filter_and_order_means_what_it_says(#[case] text: &str, #[case] expected: &str) {
    let view = sample_view(&sample::lettered_fleet(NOW));
    let parsed = parse(text);
    assert_eq!(parsed.remarks, []);
    let page = view.search(&parsed.query, &VisibleTags::ALL, &first(100), NOW);
    let names: String = page.rows.iter().filter_map(|row| row.name.chars().last()).collect();
    assert_eq!(names, expected);
    assert_eq!(page.total, expected.len());
}

#[test]
fn a_page_continues_at_its_place_although_the_list_has_changed() {
    let fleet = sample::lettered_fleet(NOW);
    let view = sample_view(&fleet);
    let query = parse("sort:name").query;
    let page = view.search(&query, &VisibleTags::ALL, &first(3), NOW);
    let after = page.next.clone().unwrap();
    view.change(|contents| {
        contents.columns.remove(page.rows[2].key);
        contents.columns.remove(page.rows[0].key);
    });
    let rest = view.search(&query, &VisibleTags::ALL, &FleetPaging { after: Some(after), limit: 3 }, NOW);
    let names: Vec<&str> = rest.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["service-d", "service-e", "service-f"]);
}

#[rstest]
#[case("")]
#[case("1.2.3")]
#[case("9..aaaaaaaaaaaaaaaaaaaaa.")]
#[case("0.x.aaaaaaaaaaaaaaaaaaaaa.")]
#[case("0..short.")]
#[case("0..aaaaaaaaaaaaaaaaaaaaa.?")]
#[case("0..aaaaaaaaaaaaaaaaaaaaa..")]
fn a_broken_cursor_is_refused(#[case] text: &str) {
    assert!(text.parse::<PageCursor>().is_err());
}

#[test]
fn the_time_of_a_status_changes_only_with_an_edge() {
    let fleet = sample::lettered_fleet(NOW);
    let view = sample_view(&fleet);
    let key = fleet.services[0].outline.key;
    let since = |view: &FleetView| view.rows(&[key], &VisibleTags::ALL)[0].since;
    let down = MeasuredState {
        verdict: Verdict::Down,
        since: Some(Timestamp::from_ms(5)),
        is_answered: true,
        is_flapping: false,
        uptime_ppm: None,
    };
    assert!(view.change(|contents| contents.columns.set_measured(key, down)));
    assert_eq!(since(&view), down.since);
    let same = MeasuredState { since: None, ..down };
    assert!(!view.change(|contents| contents.columns.set_measured(key, same)));
    assert_eq!(since(&view), down.since);
    let up = MeasuredState { verdict: Verdict::Up, ..same };
    assert!(view.change(|contents| contents.columns.set_measured(key, up)));
    assert_eq!(since(&view), None, "it is not recorded yet");
    let incident = IncidentPresence::Open;
    assert!(view.change(|contents| contents.columns.set_incident(key, incident)));
    assert!(!view.change(|contents| contents.columns.set_incident(key, incident)));
    assert!(!view.change(|contents| contents.columns.set_incident(9_999, incident)));
}
