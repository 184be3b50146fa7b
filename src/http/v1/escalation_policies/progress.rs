//! `GET /v1/incidents/{id}/escalation`: the escalation policy that an incident follows, and its progress.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::openapi::shape::{ApiSchema, id, integer, string, timestamp_or_null};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::escalation::{EscalationPolicy, EscalationProgress};
use crate::store::{escalations, incidents};

/// The progress of an incident in the escalation policy that it follows.
#[derive(Serialize, ToSchema)]
pub(super) struct EscalationView<'a> {
    #[schema(schema_with = id)]
    policy_id: Id,
    #[schema(schema_with = policy_name)]
    policy_name: &'a str,
    #[schema(schema_with = round)]
    round: u32,
    #[schema(schema_with = steps_taken)]
    steps_taken: usize,
    #[schema(schema_with = next_at, required)]
    next_at: Option<Timestamp>,
}

impl<'a> EscalationView<'a> {
    fn of(policy: &'a EscalationPolicy, progress: EscalationProgress) -> Self {
        Self {
            policy_id: policy.id,
            policy_name: &policy.name,
            round: progress.round,
            steps_taken: progress.next_step,
            next_at: progress.due_at,
        }
    }
}

pub(in crate::http::v1) async fn show_incident_escalation(
    call: ApiCall<AppState>,
) -> Result<ApiReply, ApiError> {
    let incident = resource_lookup::find_or_404(&call, incidents::find).await?;
    let found = escalations::find(call.state.databases.main.reader(), incident.key).await?;
    let shown = found.map(|(policy, progress)| to_json(&EscalationView::of(&policy, progress)));
    Ok(ApiReply::data(shown.unwrap_or(Value::Null)))
}

fn policy_name() -> ApiSchema {
    string().says("Its name.")
}

fn round() -> ApiSchema {
    integer().at_least(1).says("The round; it increases when the first step is repeated.")
}

fn steps_taken() -> ApiSchema {
    integer().at_least(0).says("Steps of this round that have been taken.")
}

fn next_at() -> ApiSchema {
    timestamp_or_null().says("Time of the next step; null: there is none.")
}
