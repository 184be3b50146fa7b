//! `POST /v1/notification-channels/{id}/test`: sends a test message, and returns the result.

use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::openapi::shape::{ApiSchema, enum_of, integer};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::notification::delivery::DeliveryOutcome;
use crate::model::notification::message::{NotificationMessage, SenderIdentity};
use crate::notify::kinds::{MessageEnvelope, definition};
use crate::notify::sealed::ChannelVault;
use crate::store::notification_channels;

/// The outcome of a test message.
#[derive(Serialize, ToSchema)]
pub(super) struct ChannelTestView {
    #[schema(schema_with = outcome)]
    outcome: &'static str,
    #[schema(schema_with = status_code, required)]
    status_code: Option<u16>,
    /// The response or the error, truncated and without secrets.
    detail: String,
    #[schema(schema_with = took_ms)]
    took_ms: u64,
}

fn outcome() -> ApiSchema {
    enum_of(DeliveryOutcome::WORDS).says(
        "`delivered`: the receiver accepted it; `failed`: temporary failure; `refused`: permanent failure with these settings; \
        `unconfirmed`: it was sent, but no response arrived.",
    )
}

fn status_code() -> ApiSchema {
    integer().nullable().says("HTTP status of the response; null without one.")
}

fn took_ms() -> ApiSchema {
    integer().at_least(0).says("Duration in milliseconds.")
}

pub(in crate::http::v1) async fn test_notification_channel(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let channel = resource_lookup::find_or_404(&call, notification_channels::find).await?;
    let ApiCall { state, caller, effect, .. } = call;
    effect.check()?;
    let organisation = &caller.organisation;
    let vault =
        ChannelVault { sealer: &state.compiler.sealer, organisation: organisation.id, channel: channel.id };
    let definition = definition(channel.kind);
    let settings = vault
        .open_all(definition, &channel)
        .map_err(|broken| ApiError::Internal(anyhow::Error::new(broken)))?;
    let now = state.now();
    let language = &organisation.default_locale;
    let sender = SenderIdentity { name: &organisation.name, language, default_language: language };
    let message = NotificationMessage::test(sender, now.ms());
    let envelope = MessageEnvelope {
        id: &Id::random(),
        at_seconds: now.ms() / 1_000,
        message: &message,
        settings: &settings,
        recipient: None,
    };
    let began = Instant::now();
    let carried = state.carrier.carry_now(definition, &envelope).await;
    let came_back = ChannelTestView {
        outcome: carried.outcome.as_str(),
        status_code: carried.status_code,
        detail: carried.detail,
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    effect.commit_outcome(&state.databases.main, ApiReply::data(to_json(&came_back))).await
}
