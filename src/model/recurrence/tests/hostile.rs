//! Rules that take very long to expand: each is judged within a second or so of processor time, and none panics.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use proptest::prelude::*;

use super::*;

/// Processor time within which each rule must be judged, whatever else the machine does. Test builds are about ten times as
/// slow as release builds.
const DEADLINE: Duration = Duration::from_secs(10);

const WINDOW: (&str, &str) = ("2026-11-23T02:00:00Z", "2026-11-23T02:00:30Z");

/// Processor time that this thread has used.
fn used() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

fn judge_in_time(rule: &str) {
    let began = used();
    let window = Occurrence { start: at(WINDOW.0), end: at(WINDOW.1) };
    let zone = "America/New_York".parse().unwrap();
    if let Ok(rule) = rule.parse::<RecurrenceRule>() {
        let recurrence = Recurrence::new(rule, zone, window).unwrap();
        let _ = recurrence.judge(window.start);
        let _ = recurrence.upcoming(at("2199-01-01T00:00:00Z")).next();
    }
    let took = used() - began;
    assert!(took < DEADLINE, "{rule} took {took:?}");
}

fn numbers(to: usize) -> String {
    (0..=to).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

#[test]
fn hostile_rules_are_evaluated_in_time() {
    let positions = (300..=366).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    for rule in [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30".to_owned(),
        "FREQ=DAILY;INTERVAL=65535".into(),
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO;BYMONTHDAY=31;BYMONTH=2".into(),
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYMONTH=2;BYSETPOS=53".into(),
        "FREQ=WEEKLY;INTERVAL=65535".into(),
        "FREQ=MONTHLY;INTERVAL=12;BYMONTH=1".into(),
        "FREQ=MONTHLY;BYMONTHDAY=30;BYMONTH=2".into(),
        "FREQ=MONTHLY;INTERVAL=65535;BYDAY=5FR".into(),
        "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO;BYMONTH=6".into(),
        "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1".into(),
        "FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO".into(),
        format!("FREQ=DAILY;BYHOUR=1,2;BYSETPOS={positions}"),
        format!("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYMINUTE={};BYSETPOS={positions}", numbers(59)),
        format!("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSECOND={}", numbers(59)),
        format!("FREQ=YEARLY;BYHOUR={};BYMINUTE={};BYSECOND={}", numbers(23), numbers(59), numbers(59)),
        format!("FREQ=DAILY;BYDAY=MO;BYHOUR={};BYMINUTE=1,2,3,4;BYMONTHDAY=31;BYMONTH=2", numbers(23)),
    ] {
        judge_in_time(&rule);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Random combinations of valid and invalid parts. The test runner prints failures with their seed.
    #[test]
    fn random_rules_are_evaluated_in_time(
        frequency in prop::sample::select(vec!["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
        parts in prop::collection::vec(part(), 0..5),
    ) {
        let parts: String = parts.into_iter().map(|part| format!(";{part}")).collect();
        judge_in_time(&format!("FREQ={frequency}{parts}"));
    }
}

fn part() -> impl Strategy<Value = String> {
    let lists = ["BYHOUR", "BYMINUTE", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTH", "BYSETPOS"];
    let list = (prop::sample::select(lists.to_vec()), prop::collection::vec(-60..=366_i32, 1..4));
    let list = list.prop_map(|(name, values)| {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        format!("{name}={}", values.join(","))
    });
    let days = ["MO", "SU", "1MO", "-1FR", "5SA", "53TU", "MO,TU,WE"];
    let day = prop::sample::select(days.to_vec()).prop_map(|day| format!("BYDAY={day}"));
    let interval = (0..70_000_u32).prop_map(|interval| format!("INTERVAL={interval}"));
    let count = (0..20_u32).prop_map(|count| format!("COUNT={count}"));
    let start = prop::sample::select(vec!["WKST=SU", "WKST=MO"]).prop_map(str::to_owned);
    prop_oneof![4 => list, 2 => day, 1 => interval, 1 => count, 1 => start]
}
