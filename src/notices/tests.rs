//! Notices that are opened, lowered and closed, depending on the troubles and the open notices.

use rstest::rstest;

use super::*;
use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::Severity::{self, Critical, Major};
use crate::model::notification::NotificationEvent;

fn condition(severity: Severity) -> NoticeCondition {
    NoticeCondition {
        subject: NoticeSubject {
            organisation: 1,
            event: NotificationEvent::SlaBurning,
            name: "shop".to_owned(),
        },
        severity,
        words: NoticeText { title: String::new(), text: String::new() },
        service: None,
    }
}

fn notice(severity: Severity) -> Notice {
    let began_at = Timestamp::from_ms(0);
    Notice { key: 1, id: Id::random(), trouble: condition(severity), began_at, ended_at: None }
}

/// Cases: the severity of the open notice; for each comparison its time, the severity of the trouble, and the change of
/// the notice.
#[rstest]
#[case::it_begins(None, &[(0, Some(Major), "begins")])]
#[case::it_lasts(Some(Major), &[(0, Some(Major), ""), (60, Some(Major), "")])]
#[case::it_becomes_worse(Some(Major), &[(0, Some(Critical), "begins")])]
#[case::it_ends(Some(Major), &[(0, None, "ends")])]
#[case::a_short_fall_changes_nothing(Some(Critical), &[(0, Some(Major), ""), (9, Some(Major), ""), (10, Some(Critical), "")])]
#[case::an_interrupted_fall_restarts(Some(Critical), &[(0, Some(Major), ""), (5, Some(Critical), ""), (6, Some(Major), ""), (15, Some(Major), "")])]
#[case::after_a_long_fall_a_rise_is_sent_again(
    Some(Critical),
    &[(0, Some(Major), ""), (10, Some(Major), "falls"), (11, Some(Major), ""), (12, Some(Critical), "begins")]
)]
fn a_notice_starts_falls_and_ends_with_its_condition(
    #[case] mut notified: Option<Severity>,
    #[case] samples: &[(u64, Option<Severity>, &str)],
) {
    let (falls, begin) = (SeverityFalls::default(), Instant::now());
    for (minute, severity, expected) in samples {
        let wrong: Vec<NoticeCondition> = severity.map(condition).into_iter().collect();
        let lasting: Vec<Notice> = notified.map(notice).into_iter().collect();
        let now = begin + Duration::from_secs(minute * 60);
        let NoticeChanges { begun, fallen, ended } = changes(&wrong, &lasting, &falls, now);
        let changes = [(begun.len(), "begins"), (fallen.len(), "falls"), (ended.len(), "ends")];
        let changes: Vec<&str> =
            changes.into_iter().filter(|(count, _)| *count > 0).map(|(_, word)| word).collect();
        assert_eq!(changes.join(" "), *expected, "minute {minute}");
        if !expected.is_empty() {
            notified = *severity;
        }
    }
}
