//! `GET /v1/incidents` (contract 4.10.5, 1.4, 1.7): order, pages, filters and what is wrong with them.
//!
//! Every filter is tested on the list of the organisation and on the list of a service (contract 4.9).

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{incident, open_incident, tenant};
use crate::support::client::Client;
use crate::support::{UNKNOWN_ID, create_unconfigured};

/// The titles of a list.
fn titles(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect()
}

/// A client whose organisation has three services (A has all incidents) and five incidents, named by their start; the
/// names in the braces of a query are replaced by ids.
struct World {
    client: Client,
    a: String,
    b: String,
    c: String,
    foreign: String,
}

impl World {
    fn new() -> Self {
        let (client, other) = (tenant(), tenant());
        let [a, b, c] = [0; 3].map(|_| create_unconfigured(&client));
        let world = Self { foreign: create_unconfigured(&other), client, a, b, c };
        open_incident(&other, &json!({"title": "foreign", "service_ids": [world.foreign]}));
        let (a, b, c) = (&world.a, &world.b, &world.c);
        for fields in [
            json!({"title": "0303", "started_at": "2026-03-03", "service_ids": [a, b], "is_published": true}),
            json!({"title": "0301", "started_at": "2026-03-01", "service_ids": [a], "status": "resolved",
                "resolved_at": "2026-03-02"}),
            json!({"title": "0305", "started_at": "2026-03-05", "service_ids": [a, c], "kind": "notice"}),
            json!({"title": "0304", "started_at": "2026-03-04", "service_ids": [a, b, c], "status": "resolved",
                "resolved_at": "2026-03-06", "is_published": true}),
        ] {
            open_incident(&world.client, &fields);
        }
        world
    }

    fn query(&self, query: &str) -> String {
        let ids = [("{a}", &self.a), ("{b}", &self.b), ("{c}", &self.c), ("{foreign}", &self.foreign)];
        ids.iter().fold(query.to_owned(), |query, (name, id)| query.replace(name, id))
    }

    fn paths(&self, query: &str) -> [String; 2] {
        let query = self.query(query);
        [format!("/v1/incidents?{query}"), format!("/v1/services/{}/incidents?{query}", self.a)]
    }
}

/// Contract 4.10.5: what each filter selects; 1.7: its forms.
#[test]
fn filters_select_and_combine_with_and() {
    let world = World::new();
    let all = "0305 0304 0303 0301";
    let many = vec![UNKNOWN_ID; 100].join(",");
    for (query, expected) in [
        ("", all),
        ("service_ids={b}", "0304 0303"),
        ("service_ids={b},{c}", "0305 0304 0303"),
        ("service_ids[]={b}&service_ids[]={c}", "0305 0304 0303"),
        ("service_ids%5B0%5D={b}", "0304 0303"),
        ("service_ids={c}&service_ids={b}", "0304 0303"),
        ("service_ids={b},{foreign},AAAAAAAAAAAAAAAAAAAAA", "0304 0303"),
        ("service_ids={foreign}", ""),
        ("service_ids=AAAAAAAAAAAAAAAAAAAAA", ""),
        ("service_ids=", ""),
        ("service_ids[]=", ""),
        ("service_ids=,", ""),
        (&format!("service_ids={many},{{b}}&service_ids={many}"), ""),
        ("resolved=true", "0304 0301"),
        ("resolved=1", "0304 0301"),
        ("resolved=FALSE", "0305 0303"),
        ("resolved=0", "0305 0303"),
        ("resolved=", all),
        ("is_published=1", "0304 0303"),
        ("is_published=false", "0305 0301"),
        ("is_published=", all),
        ("kind=notice", "0305"),
        ("kind=standard", "0304 0303 0301"),
        ("kind=agent_liveness", ""),
        ("kind=", all),
        ("from=&to=", all),
        ("to=2026-03-04", "0303 0301"),
        ("to=2026-03-04T00:00:00.001Z", "0304 0303 0301"),
        ("from=2026-03-02", all),
        ("from=2026-03-02T00:00:00.001Z", "0305 0304 0303"),
        ("from=2026-03-06T01:00:00%2001:00", "0305 0304 0303"),
        ("from=2026-03-06T00:00:01Z", "0305 0303"),
        ("from=2026-03-02&to=2026-03-03", "0301"),
        ("resolved=0&is_published=1", "0303"),
        ("resolved=1&service_ids={b}&from=2026-03-05&kind=standard&is_published=true", "0304"),
        ("kind=notice&resolved=1", ""),
        ("unknown=1&status=x", all),
    ] {
        for path in world.paths(query) {
            let list = world.client.get(&path).expect(200).json();
            let expected: Vec<&str> = expected.split_whitespace().collect();
            assert_eq!(titles(&list), expected, "{path}");
            assert_eq!(list["meta"]["total"], expected.len(), "{path}");
        }
    }
}

const BOOLEAN: &str = "Use true or false.";
const SINGLE: &str = "Send a single value.";
const TIMESTAMP: &str = "This is not a valid ISO 8601 date or date-time between 1970 and 2200.";

/// Contract 4.10.5, 1.7: what is wrong with a filter.
#[test]
fn a_wrong_filter_is_refused() {
    let world = World::new();
    let many = (0..101).map(|number| format!("{number:021}")).collect::<Vec<_>>().join(",");
    for (query, expected) in [
        (format!("service_ids={many}"), &[("service_ids", "Send at most 100 entries.")][..]),
        ("service_ids={a},short,{b},".into(), &[("service_ids.1", "This is not a valid ID.")]),
        ("service_ids[]=,{a}&service_ids[]=x y".into(), &[("service_ids.1", "This is not a valid ID.")]),
        ("resolved=yes".into(), &[("resolved", BOOLEAN)]),
        ("resolved[]=1".into(), &[("resolved", SINGLE)]),
        ("is_published=2".into(), &[("is_published", BOOLEAN)]),
        ("kind=outage".into(), &[("kind", "Unknown value. Allowed: standard, agent_liveness, notice.")]),
        ("kind[]=notice".into(), &[("kind", SINGLE)]),
        ("from=soon".into(), &[("from", TIMESTAMP)]),
        ("to=2026".into(), &[("to", TIMESTAMP)]),
        ("from=2026-03-01&to=2026-03-01".into(), &[("to", "This time must be later than from.")]),
        (
            "to=x&from=y&kind=z&is_published=9&resolved=9&service_ids=q".into(),
            &[
                ("service_ids.0", "This is not a valid ID."),
                ("resolved", BOOLEAN),
                ("is_published", BOOLEAN),
                ("kind", "Unknown value. Allowed: standard, agent_liveness, notice."),
                ("from", TIMESTAMP),
                ("to", TIMESTAMP),
            ],
        ),
        // Errors are reported even when nothing would be selected.
        ("service_ids=&resolved=x".into(), &[("resolved", BOOLEAN)]),
    ] {
        let expected: Vec<(String, String)> =
            expected.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        for path in world.paths(&query.replace(' ', "%20")) {
            assert_eq!(world.client.get(&path).errors(), expected, "{path}");
        }
    }
}

/// Contract 1.4: `started_at` descending, then `id`; pages repeat and skip nothing; rows have neither pages nor updates.
#[test]
fn pages_walk_through_the_list_in_one_order() {
    let client = tenant();
    let mut made: Vec<Value> = Vec::new();
    for start in ["2026-03-01", "2026-03-02", "2026-03-01", "2026-03-01", "2026-03-03"] {
        made.push(open_incident(&client, &json!({"started_at": start})));
    }
    made.sort_by_key(|row| {
        (std::cmp::Reverse(row["started_at"].to_string()), row["id"].as_str().unwrap().to_owned())
    });
    let mut walked = Vec::new();
    for page in 1..=3 {
        let list = client.get(&format!("/v1/incidents?per_page=2&page={page}")).expect(200).json();
        assert_eq!(list["meta"]["last_page"], 3);
        walked.extend(list["data"].as_array().unwrap().clone());
    }
    for row in &mut made {
        for key in ["statuspages", "updates", "internal_updates"] {
            row.as_object_mut().unwrap().shift_remove(key);
        }
    }
    assert_eq!(json!(walked), json!(made));
    let list = client.get("/v1/incidents?kind=standard&page=9").expect(200).json();
    assert_eq!(
        (&list["data"], &list["meta"]["total"], &list["meta"]["per_page"]),
        (&json!([]), &json!(5), &json!(15))
    );
    let first = list["links"]["first"].as_str().unwrap();
    assert!(first.ends_with("/v1/incidents?kind=standard&page=1"), "{first}");
}

/// Contract 1.4: the envelope of an empty list.
#[rstest]
fn an_empty_list_has_one_page(#[values(true, false)] of_service: bool) {
    let client = tenant();
    let path = if of_service {
        format!("/v1/services/{}/incidents", create_unconfigured(&client))
    } else {
        "/v1/incidents".into()
    };
    let list = client.get(&path).expect(200).json();
    assert_eq!(list["data"], json!([]));
    assert_eq!((&list["meta"]["last_page"], &list["meta"]["from"]), (&json!(1), &Value::Null));
    assert!(list["meta"]["path"].as_str().unwrap().ends_with(&path));
}

/// Contract 4.10.5: a filter sees what a change has made of an incident.
#[test]
fn filters_see_changes() {
    let client = tenant();
    let id = crate::incidents::id_of(&open_incident(&client, &json!({})));
    let total = |query: &str| {
        client.get(&format!("/v1/incidents?{query}")).expect(200).json()["meta"]["total"].clone()
    };
    assert_eq!((total("resolved=0"), total("is_published=1")), (json!(1), json!(0)));
    client.patch(&incident(&id), &json!({"is_published": true})).expect(200);
    client.post(&format!("{}/resolve", incident(&id)), &json!({"message": "Over."})).expect(200);
    assert_eq!((total("resolved=0"), total("is_published=1")), (json!(0), json!(1)));
}
