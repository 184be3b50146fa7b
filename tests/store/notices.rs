//! Notices: the changes of their writes, and which of them are sent.

use rstest::rstest;
use watchkeeper::lifecycle;
use watchkeeper::model::incident::Severity;
use watchkeeper::model::notice::{NoticeCondition, NoticeSubject, NoticeText};
use watchkeeper::model::notification::NotificationEvent;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::notices::find_lasting;
use watchkeeper::store::notifications::list::{OutboxFilter, page};

use crate::notifications::stored_channel;
use crate::support::Backend;
use crate::support::rows::{at, stored_organisation};

/// Trouble that becomes less severe changes its notice, and no message is sent; one that is as severe or worse changes nothing, and
/// without a notice none begins.
#[rstest]
#[tokio::test]
async fn lowering_a_notice_sends_no_message(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    stored_channel(&store, &owner).await;
    let subject = NoticeSubject {
        organisation: owner.key,
        event: NotificationEvent::MonitorTrouble,
        name: "history".to_owned(),
    };
    let trouble = |severity, title: &str| {
        let words = NoticeText { title: title.into(), text: "Very.".into() };
        NoticeCondition { subject: subject.clone(), severity, words, service: None }
    };
    let transaction = store.main.begin().await.unwrap();
    lifecycle::notices::lower(&transaction, &trouble(Severity::Minor, "None yet")).await.unwrap();
    assert_eq!(find_lasting(&transaction, &subject).await.unwrap(), None);
    lifecycle::notices::raise(&transaction, &trouble(Severity::Major, "Bad"), at(100)).await.unwrap();
    for (severity, title, expected) in [
        (Severity::Critical, "Worse", (Severity::Major, "Bad")),
        (Severity::Major, "As bad", (Severity::Major, "Bad")),
        (Severity::Minor, "Better", (Severity::Minor, "Better")),
    ] {
        lifecycle::notices::lower(&transaction, &trouble(severity, title)).await.unwrap();
        let lasting = find_lasting(&transaction, &subject).await.unwrap().unwrap();
        assert_eq!(lasting.trouble, trouble(expected.0, expected.1), "{title}");
        assert_eq!((lasting.began_at, lasting.ended_at), (at(100), None), "{title}");
    }
    transaction.commit().await.unwrap();
    let written =
        page(store.main.reader(), Visibility::whole(owner.key), &OutboxFilter::default(), 9).await.unwrap();
    assert_eq!(written.len(), 1, "only the begin is told");
}
