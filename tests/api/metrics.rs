//! `/metrics`, `/response-times` and `/uptime` of a service (contract 4.5-4.7): figures of real checks.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, create_unconfigured, create_watched, service, until_checks, until_status};

/// Contract 4.5: figures of what was measured.
#[tokio::test]
async fn figures_match_the_checks() {
    let (client, target) = (Server::shared_client(), Target::start());
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 604_800}));
    until_status(&client, &id, "up").await;
    until_checks(&client, &id, 1).await;
    let answer = client.get(&format!("{}/metrics?range=1h", service(&id))).expect(200).json();
    assert_eq!(answer["meta"], json!({"range": "1h"}));
    let data = answer["data"].as_object().unwrap();
    let keys = "uptime avg_ms p50_ms p90_ms p95_ms p99_ms min_ms max_ms total_checks failed_checks";
    assert_eq!(data.keys().collect::<Vec<_>>(), keys.split(' ').collect::<Vec<_>>());
    assert_eq!((&data["total_checks"], &data["failed_checks"]), (&json!(1), &json!(0)));
    for key in ["avg_ms", "p50_ms", "p99_ms", "min_ms", "max_ms"] {
        assert!(data[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert_eq!((&data["min_ms"], &data["avg_ms"]), (&data["max_ms"], &data["max_ms"]));
}

/// Contract 4.6: one bucket holds the one check; `probe` narrows.
#[tokio::test]
async fn response_times_are_grouped_in_buckets() {
    let (client, target) = (Server::shared_client(), Target::start());
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 604_800}));
    until_checks(&client, &id, 1).await;
    let path = format!("{}/response-times", service(&id));
    for (range, bucket_seconds) in [("1h", 60), ("6h", 300), ("24h", 900), ("7d", 3_600), ("30d", 21_600)] {
        let answer = client.get(&format!("{path}?range={range}")).expect(200).json();
        assert_eq!(answer["meta"], json!({"range": range, "bucket_seconds": bucket_seconds}));
        assert_eq!(answer["data"].as_array().unwrap().len(), 1, "{range}");
        let bucket = answer["data"][0].as_object().unwrap();
        let keys = ["timestamp", "avg_ms", "min_ms", "max_ms", "p95_ms", "p99_ms"];
        assert_eq!(bucket.keys().collect::<Vec<_>>(), keys);
        assert!(keys[1..].iter().all(|key| bucket[*key].as_f64().unwrap() > 0.0), "{answer}");
    }
    for (query, buckets) in [("probe=mars", 0), ("probe=local,mars", 1), ("probe=", 1)] {
        let found = client.get(&format!("{path}?{query}")).expect(200).data();
        assert_eq!(found.as_array().unwrap().len(), buckets, "{query}");
    }
}

/// Contract 4.7: exactly `days` days, the last one is today.
#[tokio::test]
async fn uptime_has_one_entry_per_day() {
    let (client, target) = (Server::shared_client(), Target::start());
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 604_800}));
    until_status(&client, &id, "up").await;
    let check = until_checks(&client, &id, 1).await.remove(0);
    let answer = client.get(&format!("{}/uptime?days=3", service(&id))).expect(200).json();
    assert_eq!(answer["meta"], json!({"days": 3}));
    let days = answer["data"].as_array().unwrap();
    let no_data = |day: &Value| {
        let is_zero = |key: &str| day[key].as_f64() == Some(0.0);
        day["status"] == "no_data"
            && ["uptime_percent", "incidents", "downtime_seconds", "unreachable_seconds"]
                .into_iter()
                .all(is_zero)
    };
    assert_eq!(days[0]["unmeasured_seconds"], 86_400, "nobody looked all day");
    assert!(days.len() == 3 && days[..2].iter().all(no_data), "{answer}");
    assert!(check["checked_at"].as_str().unwrap().starts_with(days[2]["date"].as_str().unwrap()));
    let keys = [
        "date",
        "status",
        "uptime_percent",
        "incidents",
        "downtime_seconds",
        "unreachable_seconds",
        "unmeasured_seconds",
    ];
    assert_eq!(days[2].as_object().unwrap().keys().collect::<Vec<_>>(), keys);
}

/// Contract 4.7: `days` is clamped, never too many.
#[rstest]
#[case("", 30)]
#[case("?days=", 30)]
#[case("?days=0", 1)]
#[case("?days=-5", 1)]
#[case("?days=90", 90)]
#[case("?days=1000", 90)]
fn days_are_clamped(#[case] query: &str, #[case] days: usize) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let answer = client.get(&format!("{}/uptime{query}", service(&id))).expect(200).json();
    assert_eq!(answer["data"].as_array().unwrap().len(), days);
    assert_eq!(answer["meta"], json!({"days": days}));
}

/// Contract 4.5, 4.7: an override is what a manual service's uptime is made of.
#[tokio::test]
async fn uptime_of_a_manual_service_follows_its_override() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let path = format!("{}/metrics", service(&id));
    client
        .post(&format!("{}/status-override", service(&id)), &json!({"status": "down", "reason": "x"}))
        .expect(200);
    crate::support::eventually("a part of a second is down", || {
        let data = client.get(&path).expect(200).data();
        (data["uptime"] == json!(0.0) || data["uptime"] == json!(0)).then_some(())
    })
    .await;
    let data = client.get(&path).expect(200).data();
    assert_eq!((&data["total_checks"], &data["avg_ms"]), (&json!(0), &Value::Null));
}

/// Contract 4.5, 4.6: nothing measured.
#[test]
fn without_data_figures_are_null_and_counts_zero() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let answer = client.get(&format!("{}/metrics?range=", service(&id))).expect(200).json();
    assert_eq!(answer["meta"], json!({"range": "24h"}));
    for (key, value) in answer["data"].as_object().unwrap() {
        let expected = if key.ends_with("_checks") { json!(0) } else { Value::Null };
        assert_eq!(*value, expected, "{key}");
    }
    let times = client.get(&format!("{}/response-times", service(&id))).expect(200).json();
    assert_eq!(times, json!({"data": [], "meta": {"range": "24h", "bucket_seconds": 900}}));
}

#[rstest]
#[case("metrics?range=2h", "range", "Unknown value. Allowed: 1h, 6h, 24h, 7d, 30d.")]
#[case("metrics?range[]=1h", "range", "Send a single value.")]
#[case("response-times?range=1H", "range", "Unknown value. Allowed: 1h, 6h, 24h, 7d, 30d.")]
#[case("response-times?probe=a%20b", "probe.0", "This is not a valid ID.")]
#[case("uptime?days=x", "days", "This value must be a whole number.")]
#[case("uptime?days=1.5", "days", "This value must be a whole number.")]
#[case("uptime?days[]=1", "days", "Send a single value.")]
fn a_wrong_parameter_is_refused(#[case] path: &str, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let answer = client.get(&format!("{}/{path}", service(&id)));
    assert_eq!(answer.errors(), [(key.to_owned(), text.to_owned())]);
}

/// Contract 5.3: everything that is wrong is said at once.
#[test]
fn all_wrong_parameters_are_named_together() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let answer = client.get(&format!("{}/response-times?probe=local,a%20b&range=2h", service(&id)));
    let keys: Vec<String> = answer.errors().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["range", "probe.1"]);
}
