//! `GET /v1/statuspages/{id}/subscribers/export`: all subscribers of a page as CSV (RFC 4180).

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::kit::csv_cell::csv_cell;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::model::subscriber::PageSubscriber;
use crate::store::{statuspages, subscribers};

const HEAD: &str =
    "id,channel,address,component_ids,language,status,disabled_reason,created_at,confirmed_at\r\n";
/// Number of subscribers that are read with one statement.
const CHUNK: u64 = 1_000;

pub(in crate::http::v1) async fn export_subscribers(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let page = resource_lookup::find_or_404(&call, statuspages::find).await?;
    let main = call.state.databases.main.reader();
    let (mut text, mut key) = (HEAD.to_owned(), 0);
    loop {
        let some = subscribers::after(main, page.key, key, CHUNK).await?;
        let Some(last) = some.last() else { break };
        key = last.key;
        for subscriber in &some {
            push(&mut text, subscriber);
        }
    }
    Ok(ApiReply::document("text/csv; charset=utf-8", text))
}

fn push(text: &mut String, subscriber: &PageSubscriber) {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    let components: Vec<String> =
        subscriber.components.iter().flatten().map(|component| component.id.to_string()).collect();
    let cells = [
        subscriber.id.to_string(),
        subscriber.channel.to_string(),
        csv_cell(&subscriber.address.shown),
        components.join(" "),
        csv_cell(&subscriber.language),
        subscriber.status.to_string(),
        csv_cell(subscriber.disabled_reason.as_deref().unwrap_or_default()),
        subscriber.created_at.to_string(),
        time(subscriber.confirmed_at),
    ];
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}
