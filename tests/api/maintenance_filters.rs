//! Lists of maintenances (contract 4.11.4, 4.9): order, shape, filters, pages; those of one service.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::moments::moment;
use crate::support::planned::{id_of, ids, in_state, operate, planned};
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create_unconfigured, service};

const PATH: &str = "/v1/maintenances";
const HOUR: i64 = 3_600;

fn tenant() -> Client {
    let server = Server::shared();
    Client { _server: Some(server.clone()), ..server.tenant("business") }
}

/// Contract 4.11.1: rows of a list have neither pages nor timeline.
#[test]
fn a_list_omits_pages_and_timeline() {
    let client = tenant();
    let service = create_unconfigured(&client);
    let mut made = planned(&client, &json!({"service_ids": [service]}));
    let list = client.get(PATH).expect(200);
    made.as_object_mut().unwrap().retain(|key, _| key != "statuspages" && key != "updates");
    assert_eq!(list.data().to_string(), json!([made]).to_string());
    assert_eq!(list.header("content-language"), Some("en"));
    assert_eq!(list.json()["meta"]["total"], 1);
}

/// Contract 1.4: the latest planned start first, then the id; pages follow that order.
#[test]
fn maintenances_are_ordered_by_latest_planned_start() {
    let client = tenant();
    let start = moment(2 * HOUR);
    let mut same: Vec<String> =
        (0..3).map(|_| id_of(&planned(&client, &json!({"scheduled_start": start})))).collect();
    same.sort();
    let later = id_of(&planned(&client, &json!({"scheduled_start": moment(3 * HOUR)})));
    let sooner = id_of(&planned(&client, &json!({"scheduled_start": moment(HOUR)})));
    let expected = [vec![later], same, vec![sooner]].concat();
    assert_eq!(ids(&client, PATH), expected);
    let pages: Vec<String> =
        (1..=3).flat_map(|page| ids(&client, &format!("{PATH}?per_page=2&page={page}"))).collect();
    assert_eq!(pages, expected);
    assert_eq!(client.get(&format!("{PATH}?per_page=2&page=9")).expect(200).data(), json!([]));
}

/// Contract 4.11.4: states; an empty list of states selects everything.
#[rstest]
#[case("status=scheduled", &["scheduled"])]
#[case("status=in_progress,completed", &["in_progress", "completed"])]
#[case("status[]=cancelled&status[]=completed", &["cancelled", "completed"])]
#[case("status=scheduled&status=cancelled", &["cancelled"])]
#[case("status=", &["scheduled", "in_progress", "completed", "cancelled"])]
#[case("status[]=,", &["scheduled", "in_progress", "completed", "cancelled"])]
fn states_are_filtered(#[case] query: &str, #[case] expected: &[&str]) {
    let client = tenant();
    for status in ["scheduled", "in_progress", "completed", "cancelled"] {
        in_state(&client, status, &[]);
    }
    let rows = client.get(&format!("{PATH}?{query}")).expect(200).data();
    let mut found: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// Contract 4.11.4: what counts as the end, for each state. Offsets in hours from now; `None` = open end.
#[rstest]
#[case::scheduled("scheduled", 10, Some(20), &[(None, None, true), (Some(19), None, true), (Some(21), None, false), (None, Some(11), true), (None, Some(9), false), (Some(19), Some(21), true)])]
#[case::scheduled_open("scheduled", 10, None, &[(Some(999), None, true), (None, Some(10), true), (None, Some(9), false)])]
#[case::in_progress("in_progress", 10, Some(20), &[(Some(999), None, true), (None, Some(9), false)])]
#[case::completed("completed", -10, Some(20), &[(Some(-1), None, true), (Some(1), None, false), (None, Some(-9), true), (None, Some(-11), false)])]
#[case::cancelled("cancelled", 10, Some(20), &[(Some(19), None, true), (Some(21), None, false)])]
#[case::cancelled_open("cancelled", 10, None, &[(Some(9), None, true), (Some(11), None, false)])]
fn a_period_is_filtered(
    #[case] status: &str,
    #[case] start: i64,
    #[case] end: Option<i64>,
    #[case] periods: &[(Option<i64>, Option<i64>, bool)],
) {
    let client = tenant();
    let made = planned(
        &client,
        &json!({"scheduled_start": moment(start * HOUR), "scheduled_end": end.map(|end| moment(end * HOUR))}),
    );
    let acts: &[&str] = match (status, made["status"].as_str().unwrap()) {
        ("scheduled", _) => &[],
        ("cancelled", _) => &["cancel"],
        ("in_progress", _) => &["start"],
        _ => &["complete"],
    };
    for act in acts {
        operate(&client, &id_of(&made), act).expect(200);
    }
    for (from, to, is_found) in periods {
        let parameter = |name: &str, hours: &Option<i64>| {
            hours.map(|hours| format!("{name}={}&", moment(hours * HOUR))).unwrap_or_default()
        };
        let query = format!("{}{}", parameter("from", from), parameter("to", to));
        let found = ids(&client, &format!("{PATH}?{query}"));
        assert_eq!(!found.is_empty(), *is_found, "{status} {query}");
    }
}

/// Contract 4.11.4: the planned start itself is not before `to`; the end itself is not before `from`.
#[test]
fn the_bounds_of_a_period_are_exact() {
    let client = tenant();
    let (start, end) = ("2199-01-01T00:00:00.000Z", "2199-01-02T00:00:00.000Z");
    planned(&client, &json!({"scheduled_start": start, "scheduled_end": end}));
    for (query, rows) in [
        (format!("to={start}"), 0),
        ("to=2199-01-01T00:00:00.001Z".into(), 1),
        (format!("from={end}"), 1),
        ("from=2199-01-02T00:00:00.001Z".into(), 0),
        ("from=&to=".into(), 1),
    ] {
        assert_eq!(ids(&client, &format!("{PATH}?{query}")).len(), rows, "{query}");
    }
}

/// Contract 4.10.5, 4.11.4, specification 4.9: services select; unknown ids are ignored; nothing left selects nothing.
#[test]
fn services_are_filtered() {
    let client = tenant();
    let (a, b) = (create_unconfigured(&client), create_unconfigured(&client));
    let of_a = in_state(&client, "in_progress", &[&a]);
    let of_both = in_state(&client, "scheduled", &[&a, &b]);
    in_state(&client, "scheduled", &[]);
    let found = |query: &str| {
        let mut found = ids(&client, &format!("{PATH}?{query}"));
        found.sort();
        found
    };
    let sorted = |mut ids: Vec<&String>| {
        ids.sort();
        ids.into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(found(&format!("service_ids={a}")), sorted(vec![&of_a, &of_both]));
    assert_eq!(found(&format!("service_ids={b},{UNKNOWN_ID}")), sorted(vec![&of_both]));
    assert_eq!(found(&format!("service_ids[]={a}&service_ids[]={b}")), sorted(vec![&of_a, &of_both]));
    assert_eq!(found(&format!("service_ids={a}&status=in_progress")), sorted(vec![&of_a]));
    assert_eq!(found(&format!("service_ids={UNKNOWN_ID}")), Vec::<String>::new());
    assert_eq!(found("service_ids="), Vec::<String>::new());
    let empty = client.get(&format!("{PATH}?service_ids[]=")).expect(200).json();
    assert_eq!((&empty["meta"]["total"], &empty["meta"]["last_page"]), (&json!(0), &json!(1)));
}

/// Contract 4.11.4, 1.7: what is refused, and where.
#[rstest]
#[case(
    "status=scheduled,running",
    "status.1",
    "Unknown value. Allowed: scheduled, in_progress, completed, cancelled."
)]
#[case("service_ids=short", "service_ids.0", "This is not a valid ID.")]
#[case("from=soon", "from", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
#[case("to=soon", "to", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
#[case("from=2026-01-02&to=2026-01-01", "to", "This time must be later than from.")]
#[case("from=2026-01-02&to=2026-01-02", "to", "This time must be later than from.")]
#[case("from[]=2026-01-02", "from", "Send a single value.")]
fn a_wrong_filter_is_refused(#[case] query: &str, #[case] key: &str, #[case] text: &str) {
    let client = tenant();
    let of_service = format!("{}/maintenances", service(&create_unconfigured(&client)));
    for path in [PATH, &of_service] {
        let refused = client.get(&format!("{path}?{query}"));
        assert_eq!(refused.errors(), [(key.to_owned(), text.to_owned())]);
    }
}

#[test]
fn at_most_a_hundred_services_are_filtered() {
    let client = tenant();
    let many: Vec<String> = (0..101).map(|number| format!("AAAAAAAAAAAAAAAAAA{number:03}")).collect();
    let refused = client.get(&format!("{PATH}?service_ids={}", many.join(",")));
    assert_eq!(refused.errors(), [("service_ids".to_owned(), "Send at most 100 entries.".to_owned())]);
    client.get(&format!("{PATH}?service_ids={}", many[..100].join(","))).expect(200);
}

/// Contract 4.9: the maintenances of one service; `service_ids` narrows further.
#[test]
fn a_service_lists_its_maintenances() {
    let client = tenant();
    let (a, b) = (create_unconfigured(&client), create_unconfigured(&client));
    let (of_a, of_both) = (in_state(&client, "completed", &[&a]), in_state(&client, "scheduled", &[&a, &b]));
    in_state(&client, "scheduled", &[&b]);
    let path = format!("{}/maintenances", service(&a));
    let mut all = vec![of_a.clone(), of_both.clone()];
    all.sort();
    let mut found = ids(&client, &path);
    found.sort();
    assert_eq!(found, all);
    assert_eq!(ids(&client, &format!("{path}?service_ids={b}")), [of_both]);
    assert_eq!(ids(&client, &format!("{path}?status=completed")), [of_a]);
    assert_eq!(ids(&client, &format!("{path}?service_ids=")), Vec::<String>::new());
    let list = client.get(&format!("{path}?per_page=1")).expect(200).json();
    let meta_path = list["meta"]["path"].as_str().unwrap();
    assert!(meta_path.ends_with(&path) && list["links"]["next"].is_string());
    assert_eq!(list["data"][0].get("service_impact"), None::<&Value>);
    client.get(&format!("{}/maintenances?status=x", service(UNKNOWN_ID))).expect(404);
}
