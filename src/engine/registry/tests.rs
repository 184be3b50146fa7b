//! The status of a location.

use actix::{Actor, Context, Handler};
use rstest::rstest;

use super::*;
use crate::model::ballot::VoteExclusion;

/// A recipient that handles nothing.
struct Nobody;

impl Actor for Nobody {
    type Context = Context<Self>;
}

impl Handler<LocationCheckRequest> for Nobody {
    type Result = ();

    fn handle(&mut self, _: LocationCheckRequest, _: &mut Context<Self>) {}
}

fn location() -> Location {
    let (name, place, country_code) = ("Frankfurt".into(), String::new(), "DE".into());
    Location { code: "fra".parse().unwrap(), name, place, country_code }
}

/// Columns: the time of a location's last report, and whether the location is online 1,000,000 ms after the
/// start.
#[rstest]
#[case::never(None, false)]
#[case::just_now(Some(1_000_000), true)]
#[case::a_minute_ago(Some(940_000), true)]
#[case::longer_ago(Some(939_999), false)]
#[actix::test]
async fn a_location_is_offline_after_a_minute(#[case] received_at_ms: Option<i64>, #[case] is_online: bool) {
    let roster = LocationRegistry::default();
    roster.add_remote(location(), Nobody.start().recipient());
    let known = roster.find("fra").unwrap();
    if let Some(at_ms) = received_at_ms {
        known.note_seen(LocationReport { at: Timestamp::from_ms(at_ms), ..LocationReport::default() });
    }
    assert_eq!(known.is_online(Timestamp::from_ms(1_000_000)), is_online);
}
const OURS: i64 = 1;

/// Columns: the time of a location's last report, whether the report says that the network is lost, and the
/// organisations for which the location contradicts all others; then its status for our organisation and for
/// all, 1,000,000 ms after the start.
#[rstest]
#[case::all_is_well(1_000_000, false, &[], LocationStatus::Online, LocationStatus::Online)]
#[case::it_reports_the_loss_itself(1_000_000, true, &[], LocationStatus::Impaired, LocationStatus::Impaired)]
#[case::it_is_our_suspect(1_000_000, false, &[OURS], LocationStatus::Impaired, LocationStatus::Online)]
#[case::it_is_the_suspect_of_others(1_000_000, false, &[2], LocationStatus::Online, LocationStatus::Online)]
#[case::it_is_the_suspect_of_many(1_000_000, false, &[2, 3, 4], LocationStatus::Impaired, LocationStatus::Impaired)]
#[case::no_report_since(900_000, true, &[OURS], LocationStatus::Offline, LocationStatus::Offline)]
#[actix::test]
async fn a_location_status_depends_on_the_evidence_of_the_organisation(
    #[case] received_at_ms: i64,
    #[case] is_impaired: bool,
    #[case] suspected_by: &[i64],
    #[case] for_us: LocationStatus,
    #[case] for_all: LocationStatus,
) {
    let roster = LocationRegistry::default();
    roster.add_remote(location(), Nobody.start().recipient());
    let known = roster.find("fra").unwrap();
    known.note_seen(LocationReport {
        at: Timestamp::from_ms(received_at_ms),
        is_impaired,
        ..LocationReport::default()
    });
    for service in 0..10 {
        suspected_by.iter().for_each(|organisation| known.note_opinion(*organisation, service, true));
    }
    let now = Timestamp::from_ms(1_000_000);
    assert_eq!((known.standing(OURS, now), known.standing_for_all(now)), (for_us, for_all));
}

/// A remote location reports its blindness itself; the services are notified once each time.
#[actix::test]
async fn a_blind_remote_location_is_impaired_with_its_reason() {
    let roster = LocationRegistry::default();
    roster.add_remote(location(), Nobody.start().recipient());
    let known = roster.find("fra").unwrap();
    let now = Timestamp::from_ms(1_000_000);
    let says = |blind_by: Option<LocalFault>| {
        known.note_seen(LocationReport {
            at: now,
            is_impaired: blind_by.is_some(),
            blind_by,
            ..LocationReport::default()
        });
        (known.impaired_by(), known.standing(OURS, now), roster.review())
    };
    assert_eq!(says(None), (None, LocationStatus::Online, false));
    let blind = Some(LocalFault::NoDescriptors);
    assert_eq!(says(blind), (blind, LocationStatus::Impaired, true));
    assert_eq!(says(blind), (blind, LocationStatus::Impaired, false));
    assert!(known.blindness(now).is_some_and(|blindness| blindness.trouble == LocalFault::NoDescriptors));
    assert_eq!(says(None), (None, LocationStatus::Online, false));
    assert!(!roster.is_blind_here(), "it has no location of its own");
}

/// Columns: whether the location reports the loss of its network, and whether it contradicts all others; then the reason why
/// its votes are excluded.
#[rstest]
#[case::all_is_well(false, false, None)]
#[case::impaired(true, false, Some(VoteExclusion::Impaired(LocalFault::LocationImpaired)))]
#[case::suspect(false, true, Some(VoteExclusion::Suspect))]
#[case::both(true, true, Some(VoteExclusion::Impaired(LocalFault::LocationImpaired)))]
#[actix::test]
async fn the_outlook_of_a_location_says_why_its_votes_are_excluded(
    #[case] is_impaired: bool,
    #[case] is_suspect: bool,
    #[case] exclusion: Option<VoteExclusion>,
) {
    let roster = LocationRegistry::default();
    roster.add_remote(location(), Nobody.start().recipient());
    let known = roster.find("fra").unwrap();
    let now = Timestamp::from_ms(1_000_000);
    known.note_seen(LocationReport { at: now, is_impaired, ..LocationReport::default() });
    (0..10).filter(|_| is_suspect).for_each(|service| known.note_opinion(OURS, service, true));
    let found = roster.outlooks(None, OURS, now);
    assert_eq!(found.iter().map(|outlook| outlook.exclusion).collect::<Vec<_>>(), [exclusion]);
    assert_eq!(found[0].code, "fra");
    assert!(!found[0].is_offline);
    assert!(roster.outlooks(None, OURS, now.plus_ms(60_001))[0].is_offline);
    assert_eq!(
        roster.outlooks(Some(&["oslo".to_owned()]), OURS, now),
        [],
        "an unknown location checks nothing"
    );
}
