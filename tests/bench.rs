//! `watchkeeper bench` as its user runs it: the built program, its own targets and servers in other processes, real
//! databases.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

use std::process::Command;

use rstest::rstest;
use serde_json::Value;

fn bench_probe(flags: &[&str]) -> (i32, String) {
    bench("probe", flags)
}

fn bench(what: &str, flags: &[&str]) -> (i32, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_watchkeeper")).args(["bench", what]).args(flags).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[rstest]
#[case("http")]
#[case("https")]
#[case("http2")]
#[case("tcp")]
#[case("dns")]
#[case("ssl")]
fn every_check_of_a_quiet_bench_is_done_up_and_durable(#[case] kind: &str) {
    let (code, printed) =
        bench_probe(&["--type", kind, "--services", "40", "--interval", "1", "--seconds", "2", "--json"]);
    let figures: Value = serde_json::from_str(&printed).unwrap();
    let figures = &figures[0];
    let count = |name: &str| figures[name].as_u64().unwrap();
    assert_eq!((code, figures["type"].as_str()), (0, Some(kind)), "{printed}");
    assert!((60..=100).contains(&count("checks_done")), "80 are due: {printed}");
    assert_eq!(count("checks_up"), count("checks_done"), "{printed}");
    assert!(count("rows_durable") > 0, "{printed}");
    for name in ["ratio", "floor_paced_cpu_us_per_exchange", "floor_saturated_cpu_us_per_exchange"] {
        assert!(figures[name].as_f64().unwrap() > 0.0, "{name}: {printed}");
    }
}

#[test]
fn a_target_of_one_type_is_refused_for_all_types() {
    let (code, printed) = bench_probe(&["--type", "all", "--target", "127.0.0.1:1"]);
    assert_eq!((code, printed.as_str()), (1, ""));
}

/// Every request of a small crowd is answered, by the real server and by the floor, while checks go on.
#[test]
fn a_small_crowd_is_served_without_a_failure() {
    let flags = ["--services", "20", "--checks", "20", "--connections", "4", "--seconds", "2", "--json"];
    let (code, printed) = bench("api", &flags);
    let figures: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!(code, 0, "{printed}");
    let asked = figures["requests"].as_array().unwrap();
    let names: Vec<&str> = asked.iter().map(|figures| figures["request"].as_str().unwrap()).collect();
    let beside_writes = ["service_beside_writes", "list_beside_writes"];
    let lists = ["list", "list_of_tag", "list_of_type", "list_of_status", "list_of_text"];
    assert_eq!(names, [&["floor", "service"][..], &lists, &["incident"], &beside_writes].concat());
    for figures in asked {
        assert_eq!(figures["failed"], 0, "{figures}");
        assert!(figures["answered"].as_u64().unwrap() > 0, "{figures}");
    }
    assert!(figures["checks_per_second"].as_f64().unwrap() > 0.0, "{printed}");
}

/// Visitors of a page are served, from memory and after changes, beside the floor.
#[test]
fn a_page_is_served_to_a_small_crowd() {
    let flags = ["--components", "5", "--connections", "4", "--seconds", "1", "--changes", "3", "--json"];
    let (code, printed) = bench("page", &flags);
    let figures: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!(code, 0, "{printed}");
    for name in ["floor", "page", "floor_unchanged", "page_unchanged"] {
        assert_eq!(figures[name]["failed"], 0, "{printed}");
        assert!(figures[name]["answered"].as_u64().unwrap() > 0, "{printed}");
    }
    for name in ["after_change", "floor_single"] {
        assert_eq!(figures[name]["answered"], 3, "{printed}");
    }
    assert!(figures["bytes"].as_u64().unwrap() > 500, "{printed}");
}

/// Screens and searches are answered, and an open list shows all jobs that fail.
#[test]
fn a_console_with_few_services_is_measured() {
    let flags = ["--services", "40", "--jobs", "10", "--repetitions", "3", "--json"];
    let (code, printed) = bench("console", &flags);
    let figures: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!((code, &figures["services"]), (0, &Value::from(40)), "{printed}");
    for screen in figures["screens"].as_array().unwrap() {
        assert_eq!(screen["times"]["answered"], 3, "{printed}");
        assert!(screen["bytes"].as_u64().unwrap() > 1_000, "{printed}");
    }
    assert_eq!(figures["burst"]["changes"], 10, "{printed}");
    assert!(figures["burst"]["documents"].as_u64().unwrap() > 0, "{printed}");
}

/// Every result of a small history ends in a block, and every read of a short past is answered, while results are written.
#[test]
fn a_small_history_is_sealed_and_read() {
    let flags = [
        "--results",
        "20000",
        "--services",
        "4",
        "--days",
        "4",
        "--checks",
        "20",
        "--repetitions",
        "50",
        "--json",
    ];
    let (code, printed) = bench("history", &flags);
    let figures: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!(code, 0, "{printed}");
    assert_eq!(figures["sealed"]["results"], 20_000, "{printed}");
    for what in ["plain_rows", "history"] {
        assert_eq!(figures[what]["results"], 20_000, "{printed}");
        assert!(figures[what]["bytes_per_result"].as_f64().unwrap() > 0.0, "{printed}");
    }
    let asked = figures["reads"]["requests"].as_array().unwrap();
    let names: Vec<&str> = asked.iter().map(|figures| figures["request"].as_str().unwrap()).collect();
    assert_eq!(names, ["newest_page", "page_1000", "all_down", "metrics_30d", "uptime_90d"]);
    assert!(asked.iter().all(|figures| figures["failed"] == 0), "{printed}");
}

/// A curve is printed and drawn.
#[test]
fn a_curve_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curve.svg");
    let flags = ["--services", "4", "--curve", "0.01,0.02", "--json", "--plot", file.to_str().unwrap()];
    let (code, printed) = bench("history", &flags);
    let points: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!((code, &points[1]["results"]), (0, &Value::from(20_000)), "{printed}");
    assert!(std::fs::read_to_string(file).unwrap().starts_with("<svg"));
}
