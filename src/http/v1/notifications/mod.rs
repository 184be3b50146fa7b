//! `/v1/notifications`: every message to a channel, with its attempts and their results.

mod cursor;
pub(in crate::http) mod openapi;
mod view;

use serde_json::json;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::page::{DEFAULT_PER_PAGE, read_per_page};
use crate::http::kit::query::QueryString;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::notifications::cursor::NotificationCursorCodec;
use crate::http::v1::notifications::view::{
    NotificationLinksView, NotificationMetaView, NotificationPageView, NotificationTarget, NotificationView,
};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::notification::NotificationEvent;
use crate::model::notification::delivery::{Delivery, DeliveryStatus};
use crate::store::notifications::list::{self, OutboxFilter, RedeliverySelection};
use crate::store::{contacts, notification_channels};

pub(super) async fn list_notifications(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let walk =
        NotificationCursorCodec { sealer: &state.compiler.sealer, organisation: caller.organisation.id };
    let NotificationFilter { mut wanted, channel } = NotificationFilter::read(&query, walk)?;
    let per_page = read_per_page(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    if let Some(id) = channel {
        let found = notification_channels::find(main, caller.visibility(), id).await?;
        // No channel has key 0, so an unknown channel selects no messages.
        wanted.channel = Some(found.map_or(0, |channel| channel.key));
    }
    let mut rows = list::page(main, caller.visibility(), &wanted, per_page + 1).await?;
    let has_older = rows.len() as u64 > per_page;
    rows.truncate(usize::try_from(per_page).unwrap_or(usize::MAX));
    let cursor = rows.last().filter(|_| has_older).map(|last| walk.write(last.key));
    let path = format!("{}{canonical_path}", state.base_url);
    let next =
        cursor.as_ref().map(|cursor| format!("{path}?{}cursor={cursor}", query.encoded_without("cursor")));
    Ok(ApiReply::view(&NotificationPageView {
        data: shown(&state, rows).await?,
        links: NotificationLinksView { first: None, last: None, prev: None, next },
        meta: NotificationMetaView { per_page, next_cursor: cursor },
    }))
}

pub(super) async fn show_notification(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let delivery = resource_lookup::find_or_404(&call, list::find).await?;
    let shown = shown(&call.state, vec![delivery]).await?;
    Ok(ApiReply::data(shown.first().map(to_json).unwrap_or_default()))
}

pub(super) async fn redeliver_notification(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, list::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let delivery = resource_lookup::lock_or_404(&write, &caller, id, list::find).await?;
    if delivery.status != DeliveryStatus::Dead {
        let mut errors = FieldErrors::default();
        errors.add("status", FieldRule::NotDead);
        return Err(ApiError::Fields(errors));
    }
    let chosen = RedeliverySelection::One(delivery.key);
    let redelivered = list::redeliver(&*write, caller.visibility(), chosen, state.now()).await?;
    if redelivered == 0 {
        return Err(StateConflict::MessageOvertaken.into());
    }
    write.commit(ApiReply::data(json!({"redelivered": redelivered}))).await
}

pub(super) async fn redeliver_notifications(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object_if_sent(&headers).await?;
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(&body, "", &errors);
    let channel = fields.skippable("channel_id").and_then(|field| read_id(&field));
    let write = effect.begin(&state.databases.main).await?;
    let chosen = match channel {
        None => RedeliverySelection::All,
        Some(id) => match notification_channels::find(&*write, caller.visibility(), id).await? {
            Some(channel) => RedeliverySelection::OfChannel(channel.key),
            None => {
                fields.refuse(
                    "channel_id",
                    FieldRule::UnknownId { kind: "notification channel", id: id.to_string() },
                );
                RedeliverySelection::All
            }
        },
    };
    errors.into_inner().into_result(()).map_err(ApiError::Fields)?;
    let redelivered = list::redeliver(&*write, caller.visibility(), chosen, state.now()).await?;
    write.commit(ApiReply::data(json!({"redelivered": redelivered}))).await
}

/// Returns the views of these messages, with their attempts, channels and contacts.
async fn shown(state: &AppState, rows: Vec<Delivery>) -> Result<Vec<NotificationView>, ApiError> {
    let main = state.databases.main.reader();
    let mut keys: Vec<i64> = rows.iter().map(|row| row.channel).collect();
    keys.sort_unstable();
    keys.dedup();
    let channels = notification_channels::with_keys(main, &keys).await?;
    let contacts = contacts::by_key(main, rows.iter().filter_map(|row| row.contact)).await?;
    let mut tries = list::attempts(main, &rows).await?;
    let view = |row: &Delivery| {
        let channel = channels.iter().find(|channel| channel.key == row.channel)?;
        let ends = NotificationTarget { channel, contact: row.contact.and_then(|key| contacts.get(&key)) };
        Some(NotificationView::of(row, ends, &tries.remove(&row.key).unwrap_or_default()))
    };
    Ok(rows.iter().filter_map(view).collect())
}

struct NotificationFilter {
    wanted: OutboxFilter,
    channel: Option<Id>,
}

impl NotificationFilter {
    fn read(query: &QueryString, walk: NotificationCursorCodec<'_>) -> Result<Self, ApiError> {
        let mut errors = FieldErrors::default();
        let statuses = query.words("status", DeliveryStatus::WORDS, &mut errors);
        let events = query.words("event", NotificationEvent::WORDS, &mut errors);
        let mut id = |name: &str| {
            let text = query.narrowing_value(name, &mut errors)?;
            let id = text.parse::<Id>().ok();
            if id.is_none() {
                errors.add(name, FieldRule::IdForm);
            }
            id
        };
        let (channel, subject) = (id("channel_id"), id("incident_id"));
        let before = query.narrowing_value("cursor", &mut errors).and_then(|text| {
            let key = walk.read(text);
            if key.is_none() {
                errors.add("cursor", FieldRule::Cursor);
            }
            key
        });
        let wanted = OutboxFilter { statuses, events, channel: None, subject, before };
        errors.into_result(Self { wanted, channel }).map_err(ApiError::Fields)
    }
}
