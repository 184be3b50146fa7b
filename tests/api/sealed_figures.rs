//! Figures over sealed segments (contract 4.5, 4.6), through the API, against sums that are made here.
//!
//! Imported results become the same blocks and rollups as sealed ones, so the responses are based on days of known results.

use rstest::rstest;
use serde_json::{Value, json};
use watchkeeper::clock::DAY_MS;

use crate::support::moments::in_ms;
use crate::support::server::Server;
use crate::support::{create, service, until_checks};

const MINUTE_MS: i64 = 60_000;
/// Whole days of results, one a minute, of which the last ended yesterday at midnight.
const DAYS: i64 = 3;

/// A result: when, and the response time in milliseconds; without one the target was down.
#[derive(Clone, Copy)]
struct Sample {
    at_ms: i64,
    response_ms: Option<f64>,
}

/// Response times that repeat with no bucket's length, and every 97th result down.
fn samples() -> Vec<Sample> {
    let start = (in_ms(0).day() - DAYS - 1) * DAY_MS;
    let sample = |minute: i64| {
        let response_ms = f64::from(i32::try_from(40 + minute * 37 % 411).unwrap());
        Sample { at_ms: start + minute * MINUTE_MS, response_ms: (minute % 97 != 0).then_some(response_ms) }
    };
    (0..DAYS * 1_440).map(sample).collect()
}

async fn server_with(samples: &[Sample]) -> (Server, String) {
    let mut server = Server::start();
    let settings = json!({"interval_seconds": 604_800, "retries": 0});
    // No server listens there: its own result has no response time.
    let body = json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let id = create(&server.client(), &body);
    until_checks(&server.client(), &id, 1).await;
    server.kill();
    let mut text = "service,location,time,status,response_time_ms\n".to_owned();
    for sample in samples {
        let (status, time) = sample.response_ms.map_or(("down", String::new()), |ms| ("up", ms.to_string()));
        text += &format!("{id},fra,{},{status},{time}\n", sample.at_ms);
    }
    let path = server.data().join("past.csv");
    std::fs::write(&path, text).unwrap();
    let done = server.command_json(&["import", "--interval", "60", path.to_str().unwrap()]);
    assert_eq!(done["stored"], samples.len());
    server.restart();
    (server, id)
}

/// Figures of contract 4.5 and 4.6 for these response times.
fn expected(times: &mut [f64]) -> Value {
    times.sort_by(f64::total_cmp);
    let rank = |percent: usize| times[(percent * times.len()).div_ceil(100).max(1) - 1];
    let count = f64::from(u32::try_from(times.len()).unwrap());
    let mean = times.iter().sum::<f64>() / count;
    json!({
        "avg_ms": (mean * 10.0).round() / 10.0, "min_ms": times[0], "max_ms": times[times.len() - 1],
        "p95_ms": rank(95), "p99_ms": rank(99),
    })
}

/// Means and extremes are exact, percentiles within 1 %.
#[track_caller]
fn assert_close(shown: &Value, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        let (seen, value) = (shown[name].as_f64().unwrap(), value.as_f64().unwrap());
        let slack = if name.starts_with('p') { value * 0.01 + 0.05 } else { 0.051 };
        assert!((seen - value).abs() <= slack, "{name}: {seen} instead of {value} in {shown}");
    }
}

#[rstest]
#[case("7d", 3_600)]
#[case("30d", 21_600)]
#[tokio::test]
async fn figures_of_sealed_results_equal_those_of_the_results(
    #[case] range: &str,
    #[case] bucket_seconds: i64,
) {
    let samples = samples();
    let (server, id) = server_with(&samples).await;
    let client = server.client();
    let metrics = client.get(&format!("{}/metrics?range={range}", service(&id))).expect(200).data();
    let down = samples.iter().filter(|sample| sample.response_ms.is_none()).count();
    // Its own one result found nobody.
    assert_eq!(metrics["total_checks"], samples.len() + 1);
    assert_eq!(metrics["failed_checks"], down + 1);
    let mut times: Vec<f64> = samples.iter().filter_map(|sample| sample.response_ms).collect();
    assert_close(&metrics, &expected(&mut times));

    let answer = client.get(&format!("{}/response-times?range={range}", service(&id))).expect(200).json();
    assert_eq!(answer["meta"]["bucket_seconds"], bucket_seconds);
    let buckets = answer["data"].as_array().unwrap();
    let bucket_ms = bucket_seconds * 1_000;
    let mut by_bucket = std::collections::BTreeMap::<i64, Vec<f64>>::new();
    for sample in samples {
        by_bucket.entry(sample.at_ms.div_euclid(bucket_ms)).or_default().extend(sample.response_ms);
    }
    assert_eq!(buckets.len(), by_bucket.len());
    for (bucket, (number, mut times)) in buckets.iter().zip(by_bucket) {
        let start = watchkeeper::clock::Timestamp::from_ms(number * bucket_ms);
        assert_eq!(bucket["timestamp"], start.to_string());
        assert_close(bucket, &expected(&mut times));
    }
}
