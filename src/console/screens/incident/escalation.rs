//! The progress of an incident in its escalation policy: the step, who is told next, and when.

use serde_json::Value;

use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::http::kit::timestamp;
use crate::model::outage_evidence::{duration, seconds_between};

/// Number of recipients of the next step that are named.
const RECIPIENTS: usize = 10;
/// Recipients of a step: the member of the step, the list of the API, the member with the name, and the screen of one.
const RECIPIENT_KINDS: [RecipientKind; 3] = [
    RecipientKind { member: "channel_ids", list: "/v1/notification-channels", screen: "/channels" },
    RecipientKind { member: "contact_ids", list: "/v1/contacts", screen: "/oncall/contacts" },
    RecipientKind { member: "schedule_ids", list: "/v1/oncall/schedules", screen: "/oncall/schedules" },
];

/// A kind of recipients of an escalation step.
struct RecipientKind {
    member: &'static str,
    list: &'static str,
    screen: &'static str,
}

/// The progress of an incident in an escalation policy.
pub(super) struct EscalationState {
    pub(super) policy: String,
    pub(super) policy_link: String,
    pub(super) round: u64,
    /// Says how many steps were taken.
    pub(super) steps: String,
    /// Time of the next step in UTC; `None` if there is none.
    pub(super) next_at: Option<String>,
    /// Time until the next step; empty if it is due.
    pub(super) wait: String,
    pub(super) recipients: Vec<RecipientLink>,
}

/// Somebody who is told by a step.
pub(super) struct RecipientLink {
    pub(super) link: String,
    pub(super) name: String,
}

/// Reads the progress of an incident; `None` if it follows no policy, or follows it no longer.
///
/// # Errors
/// When the API fails.
pub(super) async fn read(visit: &UserVisit, id: &str) -> Result<Option<EscalationState>, ScreenError> {
    let progress = visit.get(&format!("/v1/incidents/{id}/escalation")).await?["data"].take();
    let Some(policy_id) = progress["policy_id"].as_str() else { return Ok(None) };
    let policy = seen(visit, &format!("/v1/escalation-policies/{policy_id}")).await?;
    let taken = progress["steps_taken"].as_u64().unwrap_or_default();
    let steps = policy["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let next_at = progress["next_at"].as_str().and_then(timestamp::parse);
    // After the last step the first one is next, in a new round.
    let next = usize::try_from(taken).unwrap_or_default();
    let next = steps.get(next).or_else(|| steps.first()).filter(|_| next_at.is_some());
    let now = visit.visit.state().now();
    Ok(Some(EscalationState {
        policy: progress["policy_name"].as_str().unwrap_or_default().to_owned(),
        policy_link: format!("/console/policies/escalations/{policy_id}"),
        round: progress["round"].as_u64().unwrap_or(1),
        steps: steps_taken(visit, taken, steps.len()),
        next_at: next_at.map(|at| at.format("%Y-%m-%d %H:%M:%S")),
        wait: next_at
            .filter(|at| *at > now)
            .map(|at| duration(seconds_between(now.ms(), at.ms())))
            .unwrap_or_default(),
        recipients: match next {
            Some(step) => recipients(visit, step).await?,
            None => Vec::new(),
        },
    }))
}

/// Says how many steps were taken, and of how many if that is known.
fn steps_taken(visit: &UserVisit, taken: u64, steps: usize) -> String {
    let taken = visit.texts.counted("steps-taken", taken);
    if steps == 0 { taken } else { format!("{taken} {}", visit.texts.counted("of-steps", steps as u64)) }
}

async fn recipients(visit: &UserVisit, step: &Value) -> Result<Vec<RecipientLink>, ScreenError> {
    let mut links = Vec::new();
    for kind in &RECIPIENT_KINDS {
        for id in step[kind.member].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if links.len() == RECIPIENTS {
                return Ok(links);
            }
            let recipient = seen(visit, &format!("{}/{id}", kind.list)).await?;
            if let Some(name) = recipient["name"].as_str() {
                let link = format!("/console{}/{id}", kind.screen);
                links.push(RecipientLink { link, name: name.to_owned() });
            }
        }
    }
    Ok(links)
}

/// Returns a resource; null if it is gone, or the user may not see it.
async fn seen(visit: &UserVisit, target: &str) -> Result<Value, ApiError> {
    match visit.get(target).await {
        Ok(mut body) => Ok(body["data"].take()),
        Err(ApiError::Forbidden(_) | ApiError::Confined | ApiError::NotFound) => Ok(Value::Null),
        Err(error) => Err(error),
    }
}
