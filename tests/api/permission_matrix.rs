//! Every route × every permission × every plan (contract 2, 3.1, 6): tested on the running server.
//!
//! The routes are those of the server's own description, so that a new one cannot be forgotten; what each of them
//! needs is listed here as in contract 6. All requests have unknown ids: a permitted caller is recognised by
//! 404, 400 or 422.

use std::collections::{BTreeMap, BTreeSet};

use rstest::rstest;

use crate::support::UNKNOWN_ID;
use crate::support::client::{Answer, Client};
use crate::support::server::Server;

/// Contract 6, column "permission", by method and path; `PUT` includes `PATCH`.
const NEEDED: &str = "
    GET /v1/me -
    GET /v1/probes services.view
    GET /v1/meta/check-types services.view
    GET /v1/services services.view
    GET /v1/services/{id} services.view
    POST /v1/services services.create
    PUT /v1/services/{id} services.edit
    DELETE /v1/services/{id} services.delete
    DELETE /v1/services/{id}?delete_orphaned_incidents=true services.delete incidents.delete
    DELETE /v1/services/{id}?delete_orphaned_maintenances=1 services.delete maintenances.delete
    POST /v1/services/{id}/pause services.edit
    POST /v1/services/{id}/check-now services.edit
    POST /v1/trials services.create|services.edit
    POST /v1/services/{id}/resume services.edit
    GET /v1/tags services.view
    GET /v1/tags/{id} services.view
    POST /v1/tags services.edit
    POST /v1/tags/ensure services.edit
    PUT /v1/tags/{id} services.edit
    DELETE /v1/tags/{id} services.edit
    GET /v1/access-scopes access_scopes.view
    GET /v1/access-scopes/{id} access_scopes.view
    POST /v1/access-scopes access_scopes.create
    PUT /v1/access-scopes/{id} access_scopes.edit
    DELETE /v1/access-scopes/{id} access_scopes.delete
    GET /v1/services/{id}/metrics services.view
    GET /v1/services/{id}/response-times services.view
    GET /v1/services/{id}/uptime services.view
    GET /v1/services/{id}/incidents services.view incidents.view
    GET /v1/services/{id}/maintenances services.view maintenances.view
    GET /v1/services/{id}/checks services.view
    GET /v1/services/{id}/status-changes services.view
    GET /v1/incidents incidents.view
    GET /v1/incidents/{id} incidents.view
    POST /v1/incidents incidents.create
    PUT /v1/incidents/{id} incidents.edit
    DELETE /v1/incidents/{id} incidents.delete
    POST /v1/incidents/{id}/updates incidents.edit
    POST /v1/incidents/{id}/resolve incidents.resolve
    POST /v1/incidents/{id}/acknowledge incidents.acknowledge
    GET /v1/events?types=status_change&service_id=x services.view
    GET /v1/events?types=result&service_id=x services.view
    GET /v1/events?types=status_change,incident&service_id=x services.view incidents.view
    GET /v1/events?types=status_change,maintenance&service_id=x services.view maintenances.view
    GET /v1/events?types=result&statuspage_id=x services.view statuspages.view
    GET /v1/meta/channel-types notification_channels.view
    GET /v1/notification-channels notification_channels.view
    GET /v1/notification-channels/{id} notification_channels.view
    POST /v1/notification-channels notification_channels.create
    PUT /v1/notification-channels/{id} notification_channels.edit
    DELETE /v1/notification-channels/{id} notification_channels.delete
    POST /v1/notification-channels/{id}/test notification_channels.edit
    GET /v1/notices notifications.view
    GET /v1/notifications notifications.view
    GET /v1/notifications/{id} notifications.view
    POST /v1/notifications/redeliver notifications.redeliver
    POST /v1/notifications/{id}/redeliver notifications.redeliver
    GET /v1/incident-policies incident_policies.view
    GET /v1/incident-policies/{id} incident_policies.view
    POST /v1/incident-policies incident_policies.create
    PUT /v1/incident-policies/{id} incident_policies.edit
    DELETE /v1/incident-policies/{id} incident_policies.delete
    GET /v1/escalation-policies escalation_policies.view
    GET /v1/escalation-policies/{id} escalation_policies.view
    POST /v1/escalation-policies escalation_policies.create
    PUT /v1/escalation-policies/{id} escalation_policies.edit
    DELETE /v1/escalation-policies/{id} escalation_policies.delete
    GET /v1/incidents/{id}/escalation incidents.view
    GET /v1/contacts contacts.view
    GET /v1/contacts/{id} contacts.view
    POST /v1/contacts contacts.create
    PUT /v1/contacts/{id} contacts.edit
    DELETE /v1/contacts/{id} contacts.delete
    POST /v1/contacts/{id}/calendar contacts.edit
    DELETE /v1/contacts/{id}/calendar contacts.edit
    GET /v1/oncall/schedules oncall.view
    GET /v1/oncall/schedules/{id} oncall.view
    GET /v1/oncall/schedules/{id}/shifts oncall.view
    POST /v1/oncall/schedules oncall.edit
    POST /v1/oncall/schedules/preview oncall.view
    POST /v1/oncall/schedules/{id}/preview oncall.view
    PUT /v1/oncall/schedules/{id} oncall.edit
    DELETE /v1/oncall/schedules/{id} oncall.edit
    GET /v1/oncall/current oncall.view
    GET /v1/oncall/overrides oncall.view
    GET /v1/oncall/overrides/{id} oncall.view
    POST /v1/oncall/overrides oncall.cover
    PUT /v1/oncall/overrides/{id} oncall.cover
    DELETE /v1/oncall/overrides/{id} oncall.cover
    GET /v1/oncall/absences oncall.view
    GET /v1/oncall/absences/{id} oncall.view
    POST /v1/oncall/absences oncall.cover
    PUT /v1/oncall/absences/{id} oncall.cover
    DELETE /v1/oncall/absences/{id} oncall.cover
    GET /v1/oncall/cover-requests oncall.view
    GET /v1/oncall/cover-requests/{id} oncall.view
    POST /v1/oncall/cover-requests oncall.cover
    POST /v1/oncall/cover-requests/{id}/accept oncall.cover
    POST /v1/oncall/cover-requests/{id}/decline oncall.cover
    POST /v1/oncall/cover-requests/{id}/cancel oncall.cover
    GET /v1/sla-targets sla_targets.view
    GET /v1/sla-targets/{id} sla_targets.view
    GET /v1/sla-targets/{id}/report sla_targets.view
    POST /v1/sla-targets sla_targets.create
    PUT /v1/sla-targets/{id} sla_targets.edit
    DELETE /v1/sla-targets/{id} sla_targets.delete
    GET /v1/maintenances maintenances.view
    GET /v1/maintenances/{id} maintenances.view
    POST /v1/maintenances maintenances.create
    PUT /v1/maintenances/{id} maintenances.edit
    DELETE /v1/maintenances/{id} maintenances.delete
    POST /v1/maintenances/{id}/start maintenances.edit
    POST /v1/maintenances/{id}/complete maintenances.edit
    POST /v1/maintenances/{id}/extend maintenances.edit
    POST /v1/maintenances/{id}/cancel maintenances.edit
    GET /v1/maintenance-series maintenances.view
    GET /v1/maintenance-series/{id} maintenances.view
    PUT /v1/maintenance-series/{id} maintenances.edit
    DELETE /v1/maintenance-series/{id} maintenances.delete
    GET /v1/statuspages statuspages.view
    GET /v1/statuspages/{id} statuspages.view
    POST /v1/statuspages statuspages.create
    PUT /v1/statuspages/{id} statuspages.edit
    DELETE /v1/statuspages/{id} statuspages.delete
    POST /v1/statuspages/{id}/publish statuspages.publish
    POST /v1/statuspages/{id}/unpublish statuspages.publish
    GET /v1/statuspages/{id}/components statuspages.view
    GET /v1/statuspages/{id}/components/{component} statuspages.view
    POST /v1/statuspages/{id}/components statuspages.edit
    PUT /v1/statuspages/{id}/components/{component} statuspages.edit
    DELETE /v1/statuspages/{id}/components/{component} statuspages.edit
    GET /v1/statuspages/{id}/custom-domains statuspages.view
    GET /v1/statuspages/{id}/custom-domains/{domain} statuspages.view
    POST /v1/statuspages/{id}/custom-domains statuspages.edit
    DELETE /v1/statuspages/{id}/custom-domains/{domain} statuspages.edit
    POST /v1/statuspages/{id}/custom-domains/{domain}/verify statuspages.edit
    GET /v1/statuspages/{id}/subscribers subscribers.view
    GET /v1/statuspages/{id}/subscribers/export subscribers.view
    GET /v1/statuspages/{id}/subscribers/{subscriber} subscribers.view
    POST /v1/statuspages/{id}/subscribers subscribers.create
    DELETE /v1/statuspages/{id}/subscribers/{subscriber} subscribers.delete
    POST /v1/statuspages/{id}/assets/logo statuspages.edit
    POST /v1/statuspages/{id}/assets/logo-dark statuspages.edit
    POST /v1/statuspages/{id}/assets/favicon statuspages.edit
    DELETE /v1/statuspages/{id}/assets/logo statuspages.edit
    DELETE /v1/statuspages/{id}/assets/logo-dark statuspages.edit
    DELETE /v1/statuspages/{id}/assets/favicon statuspages.edit
    POST /v1/services/{id}/status-override services.edit
    DELETE /v1/services/{id}/status-override services.edit
    POST /v1/services/{id}/heartbeat/rotate services.edit
    POST /v1/services/{id}/simulate services.simulate
    GET /v1/engine engine.view
    GET /v1/engine/backups engine.backup
    POST /v1/engine/backups engine.backup
    GET /v1/audit-log audit_log.view
    GET /v1/tokens tokens.manage
    GET /v1/tokens/{id} tokens.manage
    POST /v1/tokens tokens.manage
    PUT /v1/tokens/{id} tokens.manage
    DELETE /v1/tokens/{id} tokens.manage
    GET /v1/wall-keys tokens.manage
    GET /v1/wall-keys/{id} tokens.manage
    POST /v1/wall-keys tokens.manage services.view
    DELETE /v1/wall-keys/{id} tokens.manage
    GET /v1/users users.manage
    GET /v1/users/{id} users.manage
    POST /v1/users users.manage
    PUT /v1/users/{id} users.manage
    DELETE /v1/users/{id} users.manage
    POST /v1/users/{id}/reset users.manage
    GET /v1/users/{id}/sessions users.manage
    DELETE /v1/users/{id}/sessions/{session} users.manage
    GET /v1/users/{id}/passkeys users.manage
    DELETE /v1/users/{id}/passkeys/{passkey} users.manage";

/// A request and the permissions that it needs, in the order in which they are checked; of permissions with `|` between them it
/// needs one.
struct Asked {
    method: &'static str,
    target: String,
    needed: Vec<&'static str>,
}

impl Asked {
    fn of(&self, client: &Client) -> Answer {
        let body: &[u8] = if matches!(self.method, "GET" | "HEAD" | "DELETE") { b"" } else { b"{\"x\": 1}" };
        let answer = client.send(self.method, &self.target, &["Content-Type: application/json"], body);
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-request-id"] {
            assert!(answer.header(name).is_some(), "{} {}: no {name}", self.method, self.target);
        }
        answer
    }

    /// True if the caller is permitted: 403 without `upsell` names the missing permission.
    fn check(&self, client: &Client, held: &BTreeSet<&str>) {
        let answer = self.of(client);
        let missing = self.needed.iter().find(|needed| !needed.split('|').any(|one| held.contains(one)));
        let missing = missing.and_then(|needed| needed.split('|').next());
        let refusal = (answer.status == 403).then(|| answer.body.clone());
        match missing {
            None => assert_eq!(refusal, None, "{} {} with {held:?}", self.method, self.target),
            Some(_) if self.method == "HEAD" => assert_eq!(answer.status, 403),
            Some(missing) => {
                let text = format!("This token is missing the permission '{missing}'.");
                assert_eq!((answer.status, answer.message()), (403, text), "{} {}", self.method, self.target);
                assert!(answer.json().get("upsell").is_none());
            }
        }
    }
}

/// Every method of every route of the server, with what the table says about it.
fn routes(client: &Client) -> Vec<Asked> {
    let document = client.get("/openapi.json").expect(200).json();
    let mut table = BTreeMap::new();
    let mut flagged = Vec::new();
    for line in NEEDED.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let needed: Vec<&str> = words.filter(|word| *word != "-").collect();
        if target.contains('?') {
            flagged.push(Asked { method, target: target.replace("{id}", UNKNOWN_ID), needed });
        } else {
            table.insert((method, target), needed);
        }
    }
    let mut found = flagged;
    let mut unknown = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        // One of three permissions is enough for a stream, and it has no end: the lines that ask it for what nobody has stand for
        // it, and `events` asks the rest.
        let in_api = path.starts_with("/v1/") && path != "/v1/events";
        for (method, operation) in operations.as_object().unwrap().iter().filter(|_| in_api) {
            let key = if method == "patch" { "PUT".to_owned() } else { method.to_uppercase() };
            let Some((&(known, _), needed)) =
                table.iter().find(|((method, target), _)| *method == key && same_shape(target, path))
            else {
                unknown.push(format!("{method} {path}"));
                continue;
            };
            let described = &operation["security"][0]["token"];
            let first: Vec<&str> = needed.iter().filter_map(|needed| needed.split('|').next()).collect();
            assert_eq!(*described, serde_json::json!(first), "{method} {path} is described otherwise");
            let method = if method == "patch" { "PATCH" } else { known };
            let filled: Vec<&str> = path
                .split('/')
                .map(|segment| if segment.starts_with('{') { UNKNOWN_ID } else { segment })
                .collect();
            for method in [Some(method), (method == "GET").then_some("HEAD")].into_iter().flatten() {
                found.push(Asked { method, target: filled.join("/"), needed: needed.clone() });
            }
        }
    }
    assert!(unknown.is_empty(), "contract 6 does not know {unknown:?}");
    found
}

fn same_shape(one: &str, other: &str) -> bool {
    let shape = |path: &str| -> Vec<String> {
        path.split('/')
            .map(|part| if part.starts_with('{') { "{}".into() } else { part.to_owned() })
            .collect()
    };
    shape(one) == shape(other)
}

/// Every permission that some route needs.
fn permissions(routes: &[Asked]) -> BTreeSet<&'static str> {
    routes.iter().flat_map(|route| &route.needed).flat_map(|needed| needed.split('|')).collect()
}

/// With one permission, and with all but one: a route opens for exactly those that hold all that it needs.
#[test]
fn every_route_opens_for_its_permissions_and_for_no_others() {
    let server = Server::shared();
    let routes = routes(&server.client());
    let organisation = server.organisation("business");
    let all = permissions(&routes);
    for permission in &all {
        let others: BTreeSet<&str> = all.iter().copied().filter(|other| other != permission).collect();
        for held in [BTreeSet::from([*permission]), others] {
            let client = server.member(&organisation, &held.iter().copied().collect::<Vec<_>>().join(","));
            routes.iter().for_each(|route| route.check(&client, &held));
        }
    }
}

/// Contract 3.1: two plans have no API access; there every route but `/v1/me` is 403, whatever the token may do.
#[rstest]
#[case("free", false)]
#[case("solo", false)]
#[case("team", true)]
#[case("business", true)]
fn a_plan_opens_every_route_or_only_me(#[case] plan: &str, #[case] has_access: bool) {
    let server = Server::shared();
    let routes = routes(&server.client());
    let everything = permissions(&routes).into_iter().collect::<Vec<_>>().join(",");
    let client = server.member(&server.organisation(plan), &everything);
    for route in &routes {
        let answer = route.of(&client);
        let is_free = route.target == "/v1/me";
        if has_access || is_free {
            assert_ne!(answer.status, 403, "{} {} on {plan}", route.method, route.target);
        } else if route.method == "HEAD" {
            assert_eq!(answer.status, 403, "HEAD {} on {plan}", route.target);
        } else {
            let upsell = &answer.expect(403).json()["upsell"];
            assert_eq!(*upsell, serde_json::json!({"reason": "feature", "key": "api_access"}));
        }
    }
}

/// A caller without a token gets the same response everywhere.
#[test]
fn no_route_opens_without_a_token() {
    let client = Server::shared_client().without_token();
    for route in routes(&client) {
        route.of(&client).expect(401);
    }
}
