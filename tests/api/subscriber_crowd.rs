//! Many subscribers of one page: each gets one mail, soon, and neither another page nor the operators' alerts wait for them.
//!
//! A thousand subscribers in a usual run; ten thousand with `WATCHKEEPER_ENDURE=1`, which prints the figures.

use std::collections::HashSet;

use sea_orm::{ActiveValue::NotSet, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;
use tokio::time::Instant;
use watchkeeper_entities::{statuspage, subscriber};

use crate::notification_channels::{create_channel, webhook};
use crate::subscriber_messages::{News, mailing};
use crate::support::eventually;
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::smtp_sink::{SmtpConduct, SmtpSink};

/// Number of rows per statement.
const CHUNK: usize = 500;
/// Longest wait of another page and of an alert, in seconds. The issue allows two on an idle machine; tests share theirs.
const WAIT_SECONDS: f64 = 10.0;

/// Adds active subscribers to a page, without the API.
async fn add_readers(server: &Server, page: &str, count: usize) {
    let main = server.main_database().await;
    let of_page = statuspage::Entity::find().filter(statuspage::Column::PublicId.eq(page));
    let page = of_page.one(&main).await.unwrap().unwrap().id;
    let reader = |number: usize| {
        let mut hash = vec![0; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        subscriber::ActiveModel {
            id: NotSet,
            public_id: Set(format!("{number:021}")),
            statuspage_id: Set(page),
            channel: Set("email".into()),
            address: Set(format!("reader{number}@example.com")),
            sealed_address: Set(None),
            address_hash: Set(hash),
            is_for_all: Set(true),
            language: Set("en".into()),
            status: Set("active".into()),
            disabled_reason: Set(None),
            refusals: Set(0),
            secret: Set(None),
            origin: Set("client".into()),
            asked_at: Set(None),
            confirmed_at: Set(Some(1)),
            created_at: Set(1),
        }
    };
    let numbers: Vec<usize> = (0..count).collect();
    for some in numbers.chunks(CHUNK) {
        let rows = some.iter().map(|number| reader(*number));
        subscriber::Entity::insert_many(rows).exec_without_returning(&main).await.unwrap();
    }
    main.close().await.unwrap();
}

#[tokio::test]
async fn a_crowd_gets_one_mail_each_and_delays_nobody() {
    let is_long = std::env::var_os("WATCHKEEPER_ENDURE").is_some();
    let count = if is_long { 10_000 } else { 1_000 };
    let sink = SmtpSink::with(SmtpConduct::default());
    let server = mailing(&sink.variables());
    let news = News::on(server.tenant("business"));
    add_readers(&server, &news.page, count).await;
    let (other, alerts) = (News::on(server.tenant("business")), Sink::start());
    other.add_mail("other@example.com", &json!({}));
    create_channel(&other.client, &webhook(&alerts.url(), &json!({})));
    let began = Instant::now();
    news.incident("Payments fail");
    eventually("the crowd is being served", || (sink.count() >= 50).then_some(())).await;
    let asked = Instant::now();
    other.incident("Mail fails");
    eventually("the alert arrived", || (alerts.count() > 0).then_some(())).await;
    let alert = asked.elapsed().as_secs_f64();
    eventually("the other page is served", || (sink.sent_to("other@example.com").len() == 1).then_some(()))
        .await;
    let page = asked.elapsed().as_secs_f64();
    for goal in (0..=count).step_by(CHUNK).chain([count + 1]) {
        eventually("some more are served", || (sink.count() >= goal).then_some(())).await;
    }
    let took = began.elapsed().as_secs_f64();
    let receivers: HashSet<String> = sink.sent().into_iter().flat_map(|mail| mail.recipients).collect();
    assert_eq!((receivers.len(), sink.count()), (count + 1, count + 1), "each one mail");
    let rate = f64::from(u32::try_from(count).unwrap()) / took;
    eprintln!(
        "{count} subscribers: {took:.1} s, {rate:.0} mails/s; another page waited {page:.2} s, an alert {alert:.2} s"
    );
    assert!(page < WAIT_SECONDS && alert < WAIT_SECONDS, "page {page:.1} s, alert {alert:.1} s");
}
