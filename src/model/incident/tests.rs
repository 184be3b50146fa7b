//! The effects of creation, changes, timeline entries and resolutions on an incident and the services that it affects.

use rstest::rstest;

use super::*;
use crate::model::time_range::TimeRange;

const fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn whole(kind: IncidentKind, severity: Severity) -> WholeIncident {
    let incident = Incident {
        key: 1,
        id: Id::random(),
        organisation: 1,
        title: TranslatedText::single("en", "Slow"),
        kind,
        status: IncidentStatus::Investigating,
        severity: kind.severity(severity),
        is_published: false,
        started_at: at(100),
        resolved_at: None,
        sla_counts_as_downtime: false,
        created_by: None,
        acknowledgement: None,
        created_at: at(100),
        updated_at: at(100),
    };
    WholeIncident {
        incident,
        services: Vec::new(),
        others: 0,
        statuspages: Vec::new(),
        updates: Vec::new(),
        unread_updates: TimelineSize::default(),
        internal_updates: Vec::new(),
        automation: None,
    }
}

fn named(key: ServiceKey, name: &str) -> NamedService {
    NamedService { key, id: Id::random(), name: name.to_owned() }
}

fn affecting(names: &[&str]) -> WholeIncident {
    let mut made = whole(IncidentKind::Standard, Severity::Minor);
    let service = |(key, name): (i64, &&str)| named(key, name);
    made.affect((1..).zip(names).map(service), at(200));
    made
}

fn entry(status: IncidentStatus, ms: i64) -> IncidentTimelineEntry {
    let message = TranslatedText::single("en", "News");
    IncidentTimelineEntry { id: Id::random(), status, message, notify_subscribers: true, created_at: at(ms) }
}

fn recovered(whole: &WholeIncident) -> Vec<Option<i64>> {
    whole.services.iter().map(|affected| affected.recovered_at.map(Timestamp::ms)).collect()
}

#[test]
fn every_word_parses_back() {
    for kind in IncidentKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
    }
    for status in IncidentStatus::ALL {
        assert_eq!(status.as_str().parse(), Ok(status));
    }
    for severity in Severity::ALL {
        assert_eq!(severity.as_str().parse(), Ok(severity));
    }
    for impact in Impact::ALL {
        assert_eq!(impact.as_str().parse(), Ok(impact));
    }
    assert_eq!("Minor".parse::<Severity>(), Err(strum::ParseError::VariantNotFound));
}

/// Contract 4.9: the impact on a new service follows from the severity, and changes with it.
#[rstest]
#[case(Severity::Minor, Impact::Degraded)]
#[case(Severity::Major, Impact::PartialOutage)]
#[case(Severity::Critical, Impact::MajorOutage)]
fn impacts_follow_the_severity(#[case] severity: Severity, #[case] impact: Impact) {
    let mut changed = affecting(&["a"]);
    changed.set_severity(severity);
    assert_eq!(changed.services[0].impact, Some(impact));
    let mut made = whole(IncidentKind::Standard, severity);
    made.affect([named(1, "a")], at(200));
    assert_eq!(made.services[0].impact, Some(impact));
}

#[test]
fn an_overridden_impact_does_not_follow() {
    let mut changed = affecting(&["a"]);
    changed.services[0].is_derived = false;
    changed.set_severity(Severity::Critical);
    assert_eq!(changed.services[0].impact, Some(Impact::Degraded));
}

/// Contract 4.10.1, 4.9: a notice is minor and has no impact.
#[test]
fn a_notice_has_neither_severity_nor_impact() {
    let mut notice = whole(IncidentKind::Notice, Severity::Critical);
    notice.affect([named(1, "a")], at(200));
    notice.set_severity(Severity::Major);
    assert_eq!((notice.incident.severity, notice.services[0].impact), (Severity::Minor, None));
}

#[test]
fn a_replaced_list_keeps_the_data_of_remaining_services() {
    let mut changed = affecting(&["b", "a"]);
    let before = changed.services[1].clone();
    assert_eq!(before.name, "b");
    let stays = NamedService { key: before.service, id: before.id, name: before.name.clone() };
    let lists = [named(9, "aa"), stays];
    changed.affect(lists, at(900));
    let seen: Vec<_> = changed.services.iter().map(|row| (row.name.as_str(), row.added_at.ms())).collect();
    assert_eq!(seen, [("aa", 900), ("b", 200)]);
    assert_eq!(changed.services[1], before);
}

/// Contract 4.9: the resolution sets the recovery of services that have not recovered; earlier measured recoveries stay.
#[test]
fn resolving_marks_unrecovered_services_as_recovered() {
    let mut changed = affecting(&["a", "b"]);
    changed.services[0].recovered_at = Some(at(300));
    changed.resolve(entry(IncidentStatus::Resolved, 500), at(400));
    assert_eq!(changed.incident.resolved_at, Some(at(400)));
    assert_eq!(changed.incident.status, IncidentStatus::Resolved);
    assert_eq!(recovered(&changed), [Some(300), Some(400)]);
    changed.affect([named(7, "c")], at(600));
    assert_eq!(recovered(&changed), [Some(400)], "whoever joins an incident that is over has recovered");
}

#[test]
fn an_incident_does_not_end_before_it_began() {
    let mut changed = affecting(&["a"]);
    changed.post(entry(IncidentStatus::Resolved, 60));
    assert_eq!(changed.incident.resolved_at, Some(at(100)));
}

/// Contract 4.10.4: an entry on an open or resolved incident changes its status.
#[test]
fn a_timeline_entry_moves_ends_and_reopens() {
    let mut changed = affecting(&["a", "b"]);
    changed.post(entry(IncidentStatus::Identified, 300));
    assert_eq!((changed.incident.status, changed.incident.resolved_at), (IncidentStatus::Identified, None));
    changed.services[0].recovered_at = Some(at(310));
    changed.post(entry(IncidentStatus::Resolved, 400));
    changed.post(entry(IncidentStatus::Resolved, 500));
    assert_eq!(changed.incident.resolved_at, Some(at(400)), "a second end changes nothing");
    changed.post(entry(IncidentStatus::Monitoring, 600));
    assert_eq!((changed.incident.status, changed.incident.resolved_at), (IncidentStatus::Monitoring, None));
    assert_eq!(recovered(&changed), [Some(310), None]);
    assert_eq!(changed.updates.len(), 4);
}

/// Contract 7 no. 45: the limits of a timeline include the part that was not read.
#[test]
fn a_full_timeline_accepts_only_the_resolution() {
    let mut changed = affecting(&["a"]);
    changed.unread_updates = TimelineSize { entries: 999, characters: 999 };
    changed.post(entry(IncidentStatus::Identified, 300));
    changed.post(entry(IncidentStatus::Monitoring, 400));
    assert_eq!((changed.updates.len(), changed.incident.status), (1, IncidentStatus::Monitoring));
    for again in [500, 700, 900] {
        changed.resolve(entry(IncidentStatus::Resolved, again), at(again));
        assert_eq!(changed.incident.resolved_at, Some(at(again)));
        changed.post(entry(IncidentStatus::Identified, again + 100));
    }
    assert_eq!(changed.updates.len(), 3, "the end twice");
}

#[test]
fn a_moved_end_moves_the_recoveries_set_by_it() {
    let mut changed = affecting(&["a", "b"]);
    changed.services[0].recovered_at = Some(at(300));
    changed.post(entry(IncidentStatus::Resolved, 400));
    changed.move_end(at(350));
    assert_eq!(changed.incident.resolved_at, Some(at(350)));
    assert_eq!(recovered(&changed), [Some(300), Some(350)]);
}

/// An automatic end is at the last measured recovery, so this recovery does not depend on the end. Columns: true if a
/// person ended the incident at 400; recoveries after reopening, after moving the end to 350, and to 450.
#[rstest]
#[case::a_person(true, [Some(300), None], [Some(300), Some(350)], [Some(300), Some(450)])]
#[case::the_engine(false, [Some(300), Some(400)], [Some(300), Some(350)], [Some(300), Some(400)])]
fn a_measured_recovery_outlives_the_end(
    #[case] by_a_person: bool,
    #[case] opened_again: [Option<i64>; 2],
    #[case] earlier: [Option<i64>; 2],
    #[case] later: [Option<i64>; 2],
) {
    let mut over = affecting(&["a", "b"]);
    over.automation = Some(AutomationState::default());
    over.services[0].recovered_at = Some(at(300));
    if by_a_person {
        over.note_stated_status();
    } else {
        over.services[1].recovered_at = Some(at(400));
    }
    over.resolve(entry(IncidentStatus::Resolved, 500), at(400));
    for (end, expected) in [(350, earlier), (450, later)] {
        let mut changed = over.clone();
        changed.move_end(at(end));
        assert_eq!((changed.incident.resolved_at, recovered(&changed)), (Some(at(end)), expected.to_vec()));
    }
    over.post(entry(IncidentStatus::Identified, 600));
    assert_eq!((over.incident.resolved_at, recovered(&over)), (None, opened_again.to_vec()));
}

/// Columns for an incident created at 100: true if a person created it; when the service was added; the start of the
/// incident; the time from which the service is affected.
#[rstest]
#[case::there_from_the_start(true, 100, 40, 40)]
#[case::there_from_the_start_that_is_later(true, 100, 150, 150)]
#[case::added_by_a_person(true, 300, 40, 300)]
#[case::seen_by_the_engine(false, 90, 90, 90)]
#[case::joined_before_the_incident_was_written(false, 95, 90, 95)]
#[case::joined_later(false, 300, 90, 300)]
#[case::joined_before_a_start_that_was_moved(false, 300, 350, 350)]
fn a_service_is_affected_from_its_own_start(
    #[case] by_a_person: bool,
    #[case] added_at: i64,
    #[case] started_at: i64,
    #[case] expected: i64,
) {
    let mut whole = affecting(&["a"]);
    whole.incident.started_at = at(started_at);
    whole.incident.created_by =
        by_a_person.then(|| AnnouncementAuthor { id: Id::random(), name: "Ada".into() });
    let affected = AffectedService { added_at: at(added_at), ..whole.services[0].clone() };
    assert_eq!(whole.incident.affects_from(&affected), at(expected));
}

/// If a person moves the start of an automatic incident, services affected from the old start move along; services that
/// joined later do not.
#[test]
fn a_moved_start_moves_the_services_affected_from_the_start() {
    let mut changed = affecting(&["a", "b"]);
    changed.services[0].added_at = at(100);
    let by_a_person = changed.clone();
    changed.automation = Some(AutomationState::default());
    let added = |whole: &WholeIncident| -> Vec<i64> {
        whole.services.iter().map(|affected| affected.added_at.ms()).collect()
    };
    changed.move_start(at(50));
    assert_eq!((changed.incident.started_at, added(&changed)), (at(50), vec![50, 200]));
    let mut changed = by_a_person;
    changed.move_start(at(50));
    assert_eq!((changed.incident.started_at, added(&changed)), (at(50), vec![100, 200]));
}

/// Contract 4.7: the number of incidents of a day from 100 to 200. Columns: start and end of an incident, number.
#[rstest]
#[case(0, None, 1)]
#[case(0, Some(50), 0)]
#[case(0, Some(100), 0)]
#[case(0, Some(101), 1)]
#[case(150, Some(160), 1)]
#[case(150, Some(150), 1)]
#[case(100, Some(100), 1)]
#[case(199, None, 1)]
#[case(200, None, 0)]
fn a_day_counts_the_incidents_open_during_it(
    #[case] start: i64,
    #[case] end: Option<i64>,
    #[case] count: usize,
) {
    let period = OpenPeriod { started_at: at(start), resolved_at: end.map(at) };
    assert_eq!(open_within(&[period], TimeRange { from: at(100), to: at(200) }), count);
}
