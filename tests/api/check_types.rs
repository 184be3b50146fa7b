//! `GET /v1/meta/check-types` (contract 4.2): the catalogue by which clients build and the server checks.

use serde_json::{Value, json};

use crate::support::server::Server;

/// Contract 4.2.1: the types in this order, with their targets and intervals.
#[test]
fn the_catalogue_lists_every_type_in_order() {
    let catalogue = Server::shared_client().get("/v1/meta/check-types").expect(200).json();
    assert_eq!(catalogue.as_object().unwrap().keys().collect::<Vec<_>>(), ["data"]);
    let types = catalogue["data"].as_object().unwrap();
    let slugs: Vec<&str> = types.keys().map(String::as_str).collect();
    assert_eq!(slugs[..], ["http", "tcp", "dns", "icmp", "ssl", "manual", "heartbeat"]);
    for (slug, entry) in types {
        assert_eq!(entry["key"], **slug);
        assert!(entry["label"].as_str().is_some_and(|label| !label.is_empty()), "{slug}");
        assert!(entry["description"].is_string(), "{slug}");
        assert_eq!(entry["target_required"], !matches!(&**slug, "manual" | "heartbeat"), "{slug}");
        assert!(
            entry["conditions"]["fields"].is_array() && entry["conditions"]["defaults"].is_array(),
            "{slug}"
        );
        assert_eq!(entry["conditions"]["by_subtype"].is_object(), slug == "dns");
    }
    assert_eq!(types["ssl"]["interval"], json!({"default": 21_600, "min": 3_600, "max": 604_800}));
    assert!(types["http"].get("interval").is_none());
}

/// Contract 4.2.2: field records, their types, defaults and secrets.
#[test]
fn fields_show_type_default_and_secrecy() {
    let catalogue = Server::shared_client().get("/v1/meta/check-types").expect(200).data();
    let fields = |slug: &str| catalogue[slug]["fields"].as_array().unwrap().clone();
    let names = |slug: &str| {
        fields(slug).iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let http = [
        "method",
        "headers",
        "auth",
        "body",
        "follow_redirects",
        "verify_ssl",
        "ip_version",
        "smart_dualstack",
    ];
    assert_eq!(names("http"), http);
    assert_eq!(names("dns"), ["dns_type"]);
    for slug in ["tcp", "icmp", "ssl"] {
        assert_eq!(names(slug), ["ip_version", "smart_dualstack"]);
    }
    let types: Vec<Value> = fields("http").iter().map(|field| field["type"].clone()).collect();
    let expected =
        ["select", "key_value_array", "auth", "textarea", "boolean", "boolean", "select", "boolean"];
    assert_eq!(types, expected);
    let headers = &fields("http")[1];
    assert_eq!((&headers["secret"], &headers["required"]), (&json!(true), &json!(false)));
    assert_eq!(fields("dns")[0]["options"], json!(["A", "AAAA", "MX", "CNAME", "TXT", "NS"]));
    assert_eq!(fields("dns")[0]["required"], true);
}

/// Contract 4.2.4: condition fields with operators; what the catalogue calls default is what is stored.
#[test]
fn the_defaults_of_the_catalogue_are_those_that_are_stored() {
    let client = Server::shared_client();
    let catalogue = client.get("/v1/meta/check-types").expect(200).data();
    for (slug, target) in [
        ("http", "http://127.0.0.1:9/"),
        ("tcp", "127.0.0.1:9"),
        ("dns", "localhost"),
        ("icmp", "127.0.0.1"),
        ("ssl", "localhost:9"),
    ] {
        let body = json!({"name": "x", "check_type": slug, "target": target, "settings": {"interval_seconds": 604_800}});
        let config = client.post("/v1/services", &body).expect(201).data()["settings"]["config"].clone();
        assert_eq!(config["conditions"], catalogue[slug]["conditions"]["defaults"], "{slug}");
        for field in catalogue[slug]["fields"].as_array().unwrap() {
            assert_eq!(config[field["name"].as_str().unwrap()], field["default"], "{slug} {field}");
        }
    }
}

/// Contract 4.2.4: parametric condition fields, units and the DNS subtypes.
#[test]
fn parametric_fields_and_subtypes_are_described() {
    let catalogue = Server::shared_client().get("/v1/meta/check-types").expect(200).data();
    let http = catalogue["http"]["conditions"]["fields"].as_array().unwrap().clone();
    let names: Vec<&str> = http.iter().map(|field| field["field"].as_str().unwrap()).collect();
    let expected = [
        "status_code",
        "response_time_ms",
        "body",
        "json",
        "header",
        "metadata.redirects_followed",
        "metadata.content_length",
        "metadata.protocol",
        "metadata.final_url",
    ];
    assert_eq!(names, expected);
    for (at, prefix) in [(3, "json."), (4, "header.")] {
        assert_eq!((&http[at]["parametric"], &http[at]["prefix"]), (&json!(true), &json!(prefix)));
    }
    assert_eq!(http[1]["unit"], "ms");
    let subtypes = &catalogue["dns"]["conditions"]["by_subtype"];
    assert_eq!(subtypes["field"], "dns_type");
    assert_eq!(subtypes["map"]["CNAME"], json!(["response_time_ms", "metadata.cname"]));
    let mx = json!([{"field": "metadata.mx_count", "operator": "eq", "value": 0, "status": "down"}]);
    assert_eq!(subtypes["defaults"]["MX"], mx);
}
