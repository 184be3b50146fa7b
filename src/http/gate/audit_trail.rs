//! The entry of the audit log that every write leaves, in the transaction of its effect.
//!
//! The route says what is done to which kind of object, the handler names the state before
//! ([`WriteTransaction::replaces`](crate::http::gate::write::WriteTransaction::replaces)), and the response shows the state
//! after. A request that changes nothing by its nature leaves no entry, and a refused one has no transaction.

use std::net::IpAddr;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::http_verb::HttpVerb;
use crate::http::gate::request_body::RequestBody;
use crate::http::kit::path::PathValues;
use crate::http::kit::reply::{ApiReply, ReplyBody};
use crate::id::Id;
use crate::model::audit::{AuditActor, AuditEntry, AuditObject, ObjectViews, name_in};

/// Collections of the API, and the kind of object that each holds. A segment of a path that is not listed is an action.
const COLLECTIONS: [(&str, &str); 29] = [
    ("absences", "oncall_absence"),
    ("access-scopes", "access_scope"),
    ("assets", "asset"),
    ("backups", "backup"),
    ("calendar", "contact_calendar"),
    ("components", "component"),
    ("contacts", "contact"),
    ("cover-requests", "cover_request"),
    ("custom-domains", "custom_domain"),
    ("escalation-policies", "escalation_policy"),
    ("incident-policies", "incident_policy"),
    ("incidents", "incident"),
    ("maintenance-series", "maintenance_series"),
    ("maintenances", "maintenance"),
    ("notices", "notice"),
    ("notification-channels", "notification_channel"),
    ("notifications", "notification"),
    ("overrides", "oncall_override"),
    ("passkeys", "passkey"),
    ("schedules", "oncall_schedule"),
    ("services", "service"),
    ("sessions", "session"),
    ("sla-targets", "sla_target"),
    ("statuspages", "statuspage"),
    ("subscribers", "subscriber"),
    ("tags", "tag"),
    ("tokens", "token"),
    ("users", "user"),
    ("wall-keys", "wall_key"),
];

/// What a route does to which kind of object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAction {
    /// Such as `create`, `update`, `delete` or `pause`.
    pub name: String,
    /// Kind of the object, such as `service`.
    pub kind: &'static str,
}

impl AuditAction {
    /// Returns the action of a route that writes.
    #[must_use]
    pub fn of(verb: HttpVerb, pattern: &str) -> Self {
        let is_parameter = |segment: &&str| segment.starts_with('{');
        let segments: Vec<&str> =
            pattern.split('/').skip(2).filter(|segment| !is_parameter(segment)).collect();
        let kind_of = |segment: &&str| {
            let known = COLLECTIONS.iter().find(|(collection, _)| collection == segment);
            known.map(|(_, kind)| *kind)
        };
        let place = segments.iter().rposition(|segment| kind_of(segment).is_some());
        let kind = place.and_then(|place| kind_of(&segments[place])).unwrap_or("installation");
        let action: Vec<&str> =
            segments.get(place.map_or(0, |place| place + 1)..).unwrap_or_default().to_vec();
        let action = action.join("_").replace('-', "_");
        let name = match (verb, action.as_str()) {
            (HttpVerb::Post, "") => "create".to_owned(),
            (HttpVerb::Delete, "") => "delete".to_owned(),
            (_, "") => "update".to_owned(),
            (HttpVerb::Delete, action) => format!("remove_{action}"),
            (_, action) => action.to_owned(),
        };
        Self { name, kind }
    }
}

/// Who makes a request, from where and when, and what it does.
pub struct AuditTrail {
    /// The holder of the token.
    pub actor: AuditActor,
    /// Address of the client.
    pub client: IpAddr,
    /// Time of the request.
    pub at: Timestamp,
    /// Id of the request in the log.
    pub request_id: String,
    /// What the request does.
    pub action: AuditAction,
    /// The values in the path; the last one is the id of the object, unless it is created.
    pub path: PathValues,
    /// The body of the request.
    pub body: RequestBody,
}

impl AuditTrail {
    /// Returns the entry. `old` is the object before, null if it did not exist or was not read.
    #[must_use]
    pub fn entry(&self, organisation: i64, old: &Value, reply: &ApiReply) -> AuditEntry {
        let shown = data_of(reply);
        let is_gone = shown["deleted"] == Value::Bool(true);
        let entered = self.body.members();
        let new = if is_gone { Value::Null } else { self.limited(old, &shown, &entered) };
        let views = ObjectViews { kind: self.action.kind, old, new: &new };
        let id = shown["id"].as_str().map(str::to_owned).or_else(|| self.path.last().map(str::to_owned));
        AuditEntry {
            id: Id::random(),
            organisation,
            at: self.at,
            actor: self.actor.clone(),
            address: Some(self.client.to_string()),
            action: self.action.name.clone(),
            object: AuditObject {
                kind: self.action.kind.to_owned(),
                id,
                name: name_in(&shown).or_else(|| name_in(old)),
            },
            changes: views.changes(&entered),
            request_id: Some(self.request_id.clone()),
        }
    }

    /// Returns the part of the response that the request has changed. Of an object whose earlier state is unknown these are
    /// the fields of the request.
    fn limited(&self, old: &Value, shown: &Value, entered: &[String]) -> Value {
        if !old.is_null() || self.action.name == "create" {
            return shown.clone();
        }
        let fields = shown.as_object().into_iter().flatten().filter(|(field, _)| entered.contains(field));
        Value::Object(fields.map(|(field, value)| (field.clone(), value.clone())).collect())
    }
}

fn data_of(reply: &ApiReply) -> Value {
    let body = match &reply.body {
        ReplyBody::Json(body) => body.get("data").cloned(),
        ReplyBody::Text(text) => {
            serde_json::from_str(text).ok().and_then(|body: Value| body.get("data").cloned())
        }
        ReplyBody::Events(_) => None,
    };
    body.unwrap_or_else(|| Value::Object(Map::new()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(HttpVerb::Post, "/v1/services", "create service")]
    #[case(HttpVerb::Patch, "/v1/services/{id}", "update service")]
    #[case(HttpVerb::Delete, "/v1/services/{id}", "delete service")]
    #[case(HttpVerb::Post, "/v1/services/{id}/pause", "pause service")]
    #[case(HttpVerb::Post, "/v1/services/{id}/status-override", "status_override service")]
    #[case(HttpVerb::Delete, "/v1/services/{id}/status-override", "remove_status_override service")]
    #[case(HttpVerb::Post, "/v1/services/{id}/heartbeat/rotate", "heartbeat_rotate service")]
    #[case(HttpVerb::Post, "/v1/tags/ensure", "ensure tag")]
    #[case(HttpVerb::Post, "/v1/incidents/{id}/updates", "updates incident")]
    #[case(HttpVerb::Post, "/v1/statuspages/{id}/components", "create component")]
    #[case(HttpVerb::Put, "/v1/statuspages/{id}/components/{component}", "update component")]
    #[case(HttpVerb::Post, "/v1/statuspages/{id}/assets/logo-dark", "logo_dark asset")]
    #[case(HttpVerb::Delete, "/v1/statuspages/{id}/assets/logo", "remove_logo asset")]
    #[case(HttpVerb::Post, "/v1/oncall/cover-requests/{id}/accept", "accept cover_request")]
    #[case(HttpVerb::Post, "/v1/contacts/{id}/calendar", "create contact_calendar")]
    #[case(HttpVerb::Post, "/v1/engine/backups", "create backup")]
    #[case(HttpVerb::Post, "/v1/notifications/redeliver", "redeliver notification")]
    #[case(HttpVerb::Delete, "/v1/users/{id}/sessions/{session}", "delete session")]
    #[case(HttpVerb::Post, "/v1/wall-keys", "create wall_key")]
    fn a_route_is_an_action_on_an_object(#[case] verb: HttpVerb, #[case] path: &str, #[case] expected: &str) {
        let AuditAction { name, kind } = AuditAction::of(verb, path);
        assert_eq!(format!("{name} {kind}"), expected);
    }
}
