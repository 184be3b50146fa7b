//! Shifts compared with examples on days of clock changes, and with an oracle that checks single moments.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::model::notification::routing::ResourceReference;
use crate::model::oncall::schedule::{CONTACTS_MAX, DAYS_MAX, LAYERS_MAX, Rotation};
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::business_hours::{BusinessHours, DayOfWeek};

const ZONES: [&str; 8] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "America/Santiago",
    "UTC",
];
const MINUTE_MS: i64 = 60_000;

fn at(text: &str) -> Timestamp {
    let moment: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
    Timestamp::from_ms(moment.timestamp_millis())
}

fn contact(key: i64) -> ResourceReference {
    ResourceReference { key, id: Id::random() }
}

fn layer(contacts: i64, starts_at: Timestamp, rotation: Rotation) -> RotationLayer {
    let contacts = (1..=contacts).map(contact).collect();
    RotationLayer { name: "Layer".into(), contacts, starts_at, ends_at: None, rotation, hours: None }
}

fn schedule(zone: &str, layers: Vec<RotationLayer>) -> OncallSchedule {
    let (created_at, zone) = (at("2026-01-01T00:00:00Z"), zone.parse().unwrap());
    OncallSchedule {
        key: 1,
        id: Id::random(),
        organisation: 1,
        name: "Shop".into(),
        zone,
        layers,
        created_at,
        updated_at: created_at,
    }
}

fn hours(text: &str) -> BusinessHours {
    text.parse().unwrap()
}

fn range(from: &str, to: &str) -> TimeRange {
    TimeRange { from: at(from), to: at(to) }
}

/// Cases: zone, start and rotation of a layer; the hand-overs after the start.
#[rstest]
#[case::a_day_that_lacks_the_time("Europe/Berlin", "2026-03-27T01:30:00Z", Rotation::Daily { days: 1, at: "02:30".parse().unwrap() },
    &["2026-03-28T01:30:00.000Z", "2026-03-29T01:30:00.000Z", "2026-03-30T00:30:00.000Z"])]
#[case::a_time_that_occurs_twice("Europe/Berlin", "2026-10-24T00:30:00Z", Rotation::Daily { days: 1, at: "02:30".parse().unwrap() },
    &["2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"])]
#[case::a_leap_day("UTC", "2028-02-28T09:00:00Z", Rotation::Daily { days: 1, at: "09:00".parse().unwrap() },
    &["2028-02-29T09:00:00.000Z", "2028-03-01T09:00:00.000Z"])]
#[case::no_leap_day("UTC", "2027-02-28T09:00:00Z", Rotation::Daily { days: 1, at: "09:00".parse().unwrap() },
    &["2027-03-01T09:00:00.000Z"])]
#[case::weeks_over_a_change("America/New_York", "2026-03-02T14:00:00Z", Rotation::Weekly { weeks: 1, day: DayOfWeek::Mon, at: "09:00".parse().unwrap() },
    &["2026-03-09T13:00:00.000Z", "2026-03-16T13:00:00.000Z"])]
#[case::a_layer_that_starts_between("UTC", "2026-11-25T12:00:00Z", Rotation::Weekly { weeks: 2, day: DayOfWeek::Mon, at: "09:00".parse().unwrap() },
    &["2026-12-07T09:00:00.000Z", "2026-12-21T09:00:00.000Z"])]
#[case::days_from_the_hand_over_before("UTC", "2026-11-25T08:00:00Z", Rotation::Daily { days: 3, at: "09:00".parse().unwrap() },
    &["2026-11-27T09:00:00.000Z", "2026-11-30T09:00:00.000Z"])]
#[case::half_an_hour("Australia/Lord_Howe", "2026-10-02T15:45:00Z", Rotation::Daily { days: 1, at: "02:15".parse().unwrap() },
    &["2026-10-03T15:45:00.000Z", "2026-10-04T15:15:00.000Z"])]
#[case::hours_know_no_clock("Europe/Berlin", "2026-03-28T12:00:00Z", Rotation::Hours { hours: 12 },
    &["2026-03-29T00:00:00.000Z", "2026-03-29T12:00:00.000Z"])]
fn duty_passes_to_the_next_contact(
    #[case] zone: &str,
    #[case] start: &str,
    #[case] rotation: Rotation,
    #[case] expected: &[&str],
) {
    let schedule = schedule(zone, vec![layer(2, at(start), rotation)]);
    let roster = DutyRoster { schedule: &schedule, overrides: &[], absences: &[] };
    let last = at(expected.last().unwrap());
    let duty = roster.duty(TimeRange { from: at(start), to: last.plus_ms(1) });
    let begins: Vec<String> = duty.shifts.iter().skip(1).map(|shift| shift.range.from.to_string()).collect();
    assert_eq!(begins, expected);
    let contacts: Vec<i64> = duty.shifts.iter().map(|shift| shift.contact).collect();
    assert_eq!(contacts, (0..=expected.len()).map(|turn| turn as i64 % 2 + 1).collect::<Vec<_>>());
}

/// A day that a zone skipped has no shift. The contact after that day's contact is on duty next.
#[test]
fn a_skipped_day_has_no_shift() {
    let rotation = Rotation::Daily { days: 1, at: "12:00".parse().unwrap() };
    let schedule = schedule("Pacific/Apia", vec![layer(3, at("2011-12-28T22:00:00Z"), rotation)]);
    let roster = DutyRoster { schedule: &schedule, overrides: &[], absences: &[] };
    let shifts = roster.duty(range("2011-12-28T22:00:00Z", "2012-01-01T22:00:00Z")).shifts;
    let contacts: Vec<i64> = shifts.iter().map(|shift| shift.contact).collect();
    assert_eq!(contacts, [1, 2, 1, 2], "the third would have had the day");
}

/// Layers, overrides and absences in their order of precedence.
#[test]
fn higher_layers_and_overrides_take_precedence() {
    let daily = Rotation::Daily { days: 1, at: "00:00".parse().unwrap() };
    let start = at("2026-11-23T00:00:00Z");
    let nights = hours("mon,tue,wed,thu,fri 18:00-24:00");
    let by_night =
        RotationLayer { contacts: vec![contact(9)], hours: Some(nights), ..layer(1, start, daily) };
    let schedule = schedule("UTC", vec![layer(2, start, daily), by_night]);
    let placed =
        |key, contact, from, to| DutyOverride { key, id: Id::random(), contact, range: range(from, to) };
    let overrides = [
        placed(1, 7, "2026-11-23T20:00:00Z", "2026-11-23T22:00:00Z"),
        placed(2, 8, "2026-11-23T21:00:00Z", "2026-11-23T23:00:00Z"),
    ];
    let absences = [
        ContactAbsence { contact: 9, range: range("2026-11-23T23:30:00Z", "2026-11-24T12:00:00Z") },
        ContactAbsence { contact: 2, range: range("2026-11-24T06:00:00Z", "2026-11-24T07:00:00Z") },
    ];
    let roster = DutyRoster { schedule: &schedule, overrides: &overrides, absences: &absences };
    let duty = roster.duty(range("2026-11-23T12:00:00Z", "2026-11-24T18:30:00Z"));
    let shown: Vec<(i64, String)> =
        duty.shifts.iter().map(|shift| (shift.contact, shift.range.from.to_string()[8..16].into())).collect();
    let expected = [
        (1, "23T12:00"),
        (9, "23T18:00"),
        (7, "23T20:00"),
        (8, "23T21:00"),
        (9, "23T23:00"),
        (1, "23T23:30"),
        (2, "24T00:00"),
        (2, "24T07:00"),
        (9, "24T18:00"),
    ];
    assert_eq!(shown, expected.map(|(contact, from)| (contact, from.to_owned())));
    assert_eq!(duty.gaps, [range("2026-11-24T06:00:00Z", "2026-11-24T07:00:00Z")]);
}

/// Cases: the hours of two layers with the same contact, an absence of that contact; the periods that are uncovered by
/// mistake.
#[rstest]
#[case::always(None, None, Some(("2026-11-24T06:00:00Z", "2026-11-24T07:00:00Z")), &["24T06:00-24T07:00"])]
#[case::nights_are_left_out(Some("mon,tue 08:00-18:00"), Some("tue 18:00-20:00"), None, &[])]
#[case::away_by_day(Some("mon,tue 08:00-18:00"), Some("tue 18:00-20:00"), Some(("2026-11-24T00:00:00Z", "2026-11-24T12:00:00Z")),
    &["24T08:00-24T12:00"])]
#[case::away_by_night(Some("mon,tue 08:00-18:00"), None, Some(("2026-11-23T20:00:00Z", "2026-11-23T22:00:00Z")),
    &["23T20:00-23T22:00"])]
fn time_outside_of_layer_hours_is_not_an_uncovered_period(
    #[case] hours_below: Option<&str>,
    #[case] hours_above: Option<&str>,
    #[case] away: Option<(&str, &str)>,
    #[case] expected: &[&str],
) {
    let start = at("2026-11-23T00:00:00Z");
    let daily = Rotation::Daily { days: 1, at: "00:00".parse().unwrap() };
    let of = |text: Option<&str>| RotationLayer { hours: text.map(hours), ..layer(1, start, daily) };
    let schedule = schedule("UTC", vec![of(hours_below), of(hours_above)]);
    let absences: Vec<ContactAbsence> =
        away.iter().map(|(from, to)| ContactAbsence { contact: 1, range: range(from, to) }).collect();
    let roster = DutyRoster { schedule: &schedule, overrides: &[], absences: &absences };
    let found = roster.uncovered(range("2026-11-23T00:00:00Z", "2026-11-25T00:00:00Z"));
    let shown = |at: Timestamp| at.to_string()[8..16].to_owned();
    let found: Vec<String> =
        found.iter().map(|gap| format!("{}-{}", shown(gap.from), shown(gap.to))).collect();
    assert_eq!(found, expected);
}

/// Cases: start and end days of two layers with office hours; the uncovered periods while all contacts are absent from
/// Tuesday on.
#[rstest]
#[case::both_count((20, None), (20, None), &["24T09:00-24T17:00", "25T09:00-25T17:00"])]
#[case::one_is_over((20, Some(24)), (20, Some(25)), &["24T09:00-24T17:00", "25T00:00-26T00:00"])]
#[case::one_is_to_come((20, None), (26, None), &["24T09:00-24T17:00", "25T09:00-25T17:00"])]
#[case::none_has_started((26, None), (27, None), &[])]
#[case::a_day_between((20, Some(24)), (25, None), &["24T00:00-25T00:00", "25T09:00-25T17:00"])]
fn a_layer_has_no_duty_outside_its_start_and_end(
    #[case] first: (u32, Option<u32>),
    #[case] second: (u32, Option<u32>),
    #[case] expected: &[&str],
) {
    let day = |day: u32| at(&format!("2026-11-{day}T00:00:00Z"));
    let daily = Rotation::Daily { days: 1, at: "00:00".parse().unwrap() };
    let of = |(from, to): (u32, Option<u32>)| RotationLayer {
        ends_at: to.map(day),
        hours: Some(hours("mon,tue,wed 09:00-17:00")),
        ..layer(1, day(from), daily)
    };
    let schedule = schedule("UTC", vec![of(first), of(second)]);
    let absences = [ContactAbsence { contact: 1, range: TimeRange { from: day(24), to: day(30) } }];
    let roster = DutyRoster { schedule: &schedule, overrides: &[], absences: &absences };
    let shown = |at: Timestamp| at.to_string()[8..16].to_owned();
    let found = roster.uncovered(TimeRange { from: day(23), to: day(26) });
    let found: Vec<String> =
        found.iter().map(|gap| format!("{}-{}", shown(gap.from), shown(gap.to))).collect();
    assert_eq!(found, expected);
}

/// The largest possible schedule over the longest possible time is computed in time, because absences are not searched for
/// each shift.
#[test]
fn the_largest_schedule_is_computed_in_time() {
    let start = at("2026-01-01T00:00:00Z");
    let hourly = Rotation::Hours { hours: 1 };
    let layers = (0..LAYERS_MAX).map(|_| layer(CONTACTS_MAX as i64, start, hourly)).collect();
    let schedule = schedule("Europe/Berlin", layers);
    let hour_ms = 60 * MINUTE_MS;
    let absence = |number: i64| {
        let from = start.plus_ms(number * 2 * hour_ms - hour_ms / 2);
        ContactAbsence { contact: number % 50 + 1, range: TimeRange { from, to: from.plus_ms(10 * hour_ms) } }
    };
    let absences: Vec<ContactAbsence> = (0..5_000).map(absence).collect();
    let roster = DutyRoster { schedule: &schedule, overrides: &[], absences: &absences };
    let duty = roster.duty(TimeRange { from: start, to: start.plus_ms(DAYS_MAX * crate::clock::DAY_MS) });
    assert!(duty.shifts.len() > 400 * 24 / 2, "{}", duty.shifts.len());
}

fn rotation() -> impl Strategy<Value = Rotation> {
    let time = (0..24_u32, prop::sample::select(vec![0_u32, 15, 30, 45]))
        .prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}").parse().unwrap());
    let day = prop::sample::select(DayOfWeek::ALL.to_vec());
    prop_oneof![
        (1..5_u32, time.clone()).prop_map(|(days, at)| Rotation::Daily { days, at }),
        (1..3_u32, day, time).prop_map(|(weeks, day, at)| Rotation::Weekly { weeks, day, at }),
        (1..40_u32).prop_map(|hours| Rotation::Hours { hours }),
    ]
}

/// Layers that start and end at some quarters of an hour around the start of the range.
fn layers(begin: Timestamp) -> impl Strategy<Value = Vec<RotationLayer>> {
    let hours = prop::option::of(prop::sample::select(vec![
        "mon,wed 09:00-17:00",
        "sat,sun 00:00-24:00",
        "sun 01:00-03:15",
    ]));
    let one = (1..4_i64, -3_000..500_i64, prop::option::of(1..1_500_i64), rotation(), hours);
    let layer = one.prop_map(move |(contacts, start, length, rotation, hours)| {
        let starts_at = begin.plus_ms(start * 15 * MINUTE_MS);
        RotationLayer {
            ends_at: length.map(|length| starts_at.plus_ms(length * 15 * MINUTE_MS)),
            hours: hours.map(self::hours),
            ..layer(contacts, starts_at, rotation)
        }
    });
    prop::collection::vec(layer, 1..4)
}

/// Time ranges of whole quarters of an hour, each with one of four contacts.
fn stretches(begin: Timestamp) -> impl Strategy<Value = Vec<(i64, TimeRange)>> {
    let one = (1..5_i64, -100..900_i64, 1..200_i64);
    let stretch = one.prop_map(move |(contact, start, length)| {
        let from = begin.plus_ms(start * 15 * MINUTE_MS);
        (contact, TimeRange { from, to: from.plus_ms(length * 15 * MINUTE_MS) })
    });
    prop::collection::vec(stretch, 0..4)
}

/// The contact on duty by the plain rules: the newest override, then the layers from the last to the first. Shifts are
/// counted one by one.
fn oracle(roster: &DutyRoster<'_>, moment: Timestamp) -> Option<(i64, ShiftSource)> {
    let holds = |range: TimeRange| range.from <= moment && moment < range.to;
    let is_away =
        |contact| roster.absences.iter().any(|absence| absence.contact == contact && holds(absence.range));
    let placed = roster.overrides.iter().filter(|placed| holds(placed.range) && !is_away(placed.contact));
    if let Some(placed) = placed.max_by_key(|placed| placed.key) {
        return Some((placed.contact, ShiftSource::Override(placed.id)));
    }
    let zone = roster.schedule.zone;
    for (index, layer) in roster.schedule.layers.iter().enumerate().rev() {
        let is_in = layer.starts_at <= moment && layer.ends_at.is_none_or(|end| moment < end);
        let is_open = layer.hours.as_ref().is_none_or(|hours| shows(zone, hours, moment));
        if !is_in || !is_open {
            continue;
        }
        let turns = layer.turns(zone);
        let mut turn = 0;
        while turns.begin(turn + 1) <= moment {
            turn += 1;
        }
        let next = usize::try_from(turn).unwrap() % layer.contacts.len();
        let contact = layer.contacts[next].key;
        if !is_away(contact) {
            return Some((contact, ShiftSource::Layer(index)));
        }
    }
    None
}

/// Returns true if the moment is within the hours, as clocks of the zone show it.
fn shows(zone: IanaZone, hours: &BusinessHours, moment: Timestamp) -> bool {
    let wall = zone.wall(moment).unwrap();
    let day = chrono::Datelike::weekday(&wall).num_days_from_monday();
    let time = wall.format("%H:%M").to_string();
    hours.0.iter().any(|hours| {
        let is_day = hours.days.iter().any(|known| *known as u32 == day);
        is_day && hours.from.to_string() <= time && time < hours.to.to_string()
    })
}

/// Starts of ranges of some days with a clock change in one of the zones.
fn begins() -> impl Strategy<Value = Timestamp> {
    let known =
        ["2026-03-24T00:00:00Z", "2026-10-20T00:00:00Z", "2028-02-25T00:00:00Z", "2011-12-26T00:00:00Z"];
    let more =
        ["2026-04-01T00:00:00Z", "2026-09-01T00:00:00Z", "2018-10-30T00:00:00Z", "2026-10-01T00:00:00Z"];
    prop::sample::select(known.iter().chain(&more).map(|text| at(text)).collect::<Vec<_>>())
}

fn cases() -> impl Strategy<Value = (OncallSchedule, Vec<DutyOverride>, Vec<ContactAbsence>, TimeRange)> {
    (begins(), prop::sample::select(ZONES.to_vec())).prop_flat_map(|(begin, zone)| {
        let range = TimeRange { from: begin, to: begin.plus_ms(10 * crate::clock::DAY_MS) };
        (layers(begin), stretches(begin), stretches(begin)).prop_map(move |(layers, placed, away)| {
            let overrides = (1..).zip(placed).map(|(key, (contact, range))| DutyOverride {
                key,
                id: Id::random(),
                contact,
                range,
            });
            let absences = away.into_iter().map(|(contact, range)| ContactAbsence { contact, range });
            (schedule(zone, layers), overrides.collect(), absences.collect(), range)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Shifts and uncovered periods fill the range. At each quarter of an hour, and just before it, the right contact is on
    /// duty.
    #[test]
    fn shifts_equal_a_naive_evaluation_of_the_rules((schedule, overrides, absences, range) in cases()) {
        let roster = DutyRoster { schedule: &schedule, overrides: &overrides, absences: &absences };
        let duty = roster.duty(range);
        let mut all: Vec<TimeRange> = duty.shifts.iter().map(|shift| shift.range).chain(duty.gaps.clone()).collect();
        all.sort_unstable();
        let mut reached = range.from;
        for stretch in &all {
            prop_assert_eq!(stretch.from, reached);
            prop_assert!(stretch.to > stretch.from);
            reached = stretch.to;
        }
        prop_assert_eq!(reached, range.to);
        let quarters = (0..).map(|quarter| range.from.plus_ms(quarter * 15 * MINUTE_MS));
        for quarter in quarters.take_while(|quarter| *quarter < range.to) {
            for moment in [quarter, quarter.plus_ms(15 * MINUTE_MS - 1)] {
                let shift = duty.shifts.iter().find(|shift| shift.range.from <= moment && moment < shift.range.to);
                let found = shift.map(|shift| (shift.contact, shift.source));
                prop_assert_eq!(found, oracle(&roster, moment), "at {}", moment);
            }
        }
    }

    /// A part of a range has the same shifts, cut at its ends. The shift at a moment is that of the whole range.
    #[test]
    fn a_partial_range_equals_a_cut_of_the_whole((schedule, overrides, absences, range) in cases(), from in 0..900_i64, length in 1..200_i64) {
        let roster = DutyRoster { schedule: &schedule, overrides: &overrides, absences: &absences };
        let from = range.from.plus_ms(from * 15 * MINUTE_MS + 1);
        let part = TimeRange { from, to: from.plus_ms(length * 15 * MINUTE_MS).min(range.to) };
        let cut = roster.duty(range).shifts.into_iter().filter_map(|shift| {
            Some(Shift { range: common(shift.range, part)?, ..shift })
        });
        prop_assert_eq!(roster.duty(part).shifts, cut.collect::<Vec<_>>());
        let now = roster.duty(range).shifts.into_iter().find(|shift| shift.range.from <= from && from < shift.range.to);
        let now = now.map(|shift| (shift.contact, shift.source));
        prop_assert_eq!(roster.on_duty(from).map(|shift| (shift.contact, shift.source)), now);
    }
}
